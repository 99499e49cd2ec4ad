"""What was probably meant: near misses of file names and of text to replace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice, takewhile
from pathlib import PurePosixPath
from threading import Event
from typing import TypeVar

from agent_tui.core.errors import ToolError
from agent_tui.core.text import clean, reveal
from agent_tui.tools.file_tree import walk_files
from agent_tui.tools.workspace import Workspace

Item = TypeVar("Item")

_MOST_FILES = 20_000
_LONGEST_TEXT = 1_000_000
_LONGEST_WANTED = 20_000
_LONGEST_LINE = 400


def missing_file(workspace: Workspace, path: str, stop: Event | None = None) -> ToolError:
    """The error for a file that is not there, naming what is like it; ``stop`` ends the search."""
    with workspace.locate(".") as root:
        descriptor = root.open_folder()
        try:
            files = list(islice(_until(stop, walk_files(descriptor)), _MOST_FILES))
        finally:
            os.close(descriptor)
    near = _near_paths(path, files)
    hint = f" Did you mean {' or '.join(reveal(name) for name in near)}?" if near else ""
    return ToolError(f"{reveal(path)} does not exist.{hint}")


def _near_paths(path: str, files: Sequence[str]) -> list[str]:
    pure = PurePosixPath(path)
    name = pure.name.casefold()
    same_name = [file for file in files if PurePosixPath(file).name.casefold() == name]
    folder = "" if str(pure.parent) == "." else f"{pure.parent}/"
    beside = {
        file.removeprefix(folder).casefold(): file
        for file in files
        if file.startswith(folder) and "/" not in file[len(folder) :]
    }
    close = [beside[match] for match in get_close_matches(name, beside, 3, 0.6)]
    return list(dict.fromkeys([*same_name[:3], *close]))[:3]


def text_not_found(path: str, text: str, wanted: str, stop: Event | None = None) -> ToolError:
    """The error for text that does not occur in a file, showing the lines that are like it.

    Beyond some size nothing is looked for: the search must not take longer than the edit. It
    ends early once ``stop`` is set.
    """
    problem = f"old_text does not occur in {reveal(path)}."
    if len(text) > _LONGEST_TEXT or len(wanted) > _LONGEST_WANTED:
        return ToolError(f"{problem} Read the part to change and send a shorter old_text.")
    lines = text.splitlines()
    start = _find_ignoring_space(lines, wanted.splitlines())
    if start is not None:
        count = len(wanted.strip("\n").splitlines())
        return ToolError(
            f"{problem} Lines {start + 1}-{start + count} differ from it only in white space:\n"
            + "\n".join(clean(line) for line in lines[start : start + count][:40])
        )
    first = next((line for line in wanted.splitlines() if line.strip()), "")
    compared = _until(stop, islice(_short(lines), 5_000))
    near = get_close_matches(first[:_LONGEST_LINE], compared, 1, 0.7)
    if not near:
        return ToolError(f"{problem} Read the file and copy the text exactly, without numbers.")
    number = lines.index(near[0]) + 1
    return ToolError(f"{problem} The nearest line is {number}: {clean(near[0])}")


def _until(stop: Event | None, items: Iterable[Item]) -> Iterable[Item]:
    return takewhile(lambda _: stop is None or not stop.is_set(), items)


def _short(lines: Iterable[str]) -> Iterable[str]:
    return (line for line in lines if 0 < len(line) < _LONGEST_LINE)


def _find_ignoring_space(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    plain = ["".join(line.split()) for line in lines]
    sought = ["".join(line.split()) for line in wanted]
    while sought and not sought[0]:
        sought.pop(0)
    while sought and not sought[-1]:
        sought.pop()
    if not sought:
        return None
    for start in range(len(plain) - len(sought) + 1):
        if plain[start] == sought[0] and plain[start : start + len(sought)] == sought:
            return start
    return None
