"""A small grep for machines without ripgrep; runs as a child process, prints ``path:line:text``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

from agent_tui.tools.file_tree import walk_files
from agent_tui.tools.glob import matches

_LARGEST_BYTES = 20_000_000
_LONGEST_LINE = 400
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def main(case: str, pattern: str, glob: str, target: str) -> int:
    """Search ``target`` (a file of the current folder, or ``.``); the exit code is grep's."""
    try:
        sought = re.compile(pattern.encode(), re.IGNORECASE if case == "ignore" else 0)
    except re.error as error:
        sys.stderr.write(f"the pattern is not a regular expression: {error}\n")
        return 2
    found = False
    for path in _files(target):
        if glob and not matches(path, glob):
            continue
        shown = os.fsencode(path if target != "." else f"./{path}")
        for number, line in _matching_lines(path, sought):
            found = True
            sys.stdout.buffer.write(b"%b:%d:%b\n" % (shown, number, line))
    return 0 if found else 1


def _files(target: str) -> Iterator[str]:
    if target != ".":
        yield target
        return
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield from walk_files(folder)
    finally:
        os.close(folder)


def _matching_lines(path: str, sought: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    try:
        with os.fdopen(os.open(path, _FILE), "rb") as file:
            data = file.read(_LARGEST_BYTES + 1)
    except OSError:
        return
    if len(data) > _LARGEST_BYTES or b"\0" in data[:8_192]:
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if sought.search(line):
            yield number, line[:_LONGEST_LINE]


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:5]))
