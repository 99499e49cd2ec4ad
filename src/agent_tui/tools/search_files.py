"""Search the contents of files by regular expression: ripgrep where it is, else our own search.

Both run as child processes: a pattern that takes forever can be ended, which a thread cannot.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from threading import Event

from pydantic import Field

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.core.text import format_count, reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.child import Ended, run_child
from agent_tui.tools.output import readable
from agent_tui.tools.workspace import Place, Workspace

_MOST_LINES = 400
_MOST_COUNTED = 100_000
_LONGEST_LINE = 400
_SECONDS = 30
_WITH_LITTLE_MEMORY = ("/bin/sh", "-c", 'ulimit -v 2000000 2>/dev/null; exec "$@"', "sh")
"""What a link in place of a file of rules leads to, ripgrep would read without end."""
# Isolated: nothing is imported from the project, wherever PYTHONPATH leads.
_OWN_SEARCH = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from agent_tui.tools.plain_search import main; sys.exit(main(*sys.argv[1:5]))"
)


class SearchFilesArguments(Arguments):
    """What to search for, where."""

    pattern: str = Field(min_length=1, description="A regular expression, matched line by line.")
    path: str = Field(default=".", description="The file or folder to search.")
    glob: str = Field(default="", description="Only files that fit this glob, such as '*.py'.")
    ignore_case: bool = Field(default=False, description="Ignore upper and lower case.")


class SearchFiles(Tool[SearchFilesArguments]):
    """Lists the lines of files that match a regular expression."""

    name = "search_files"
    description = (
        "Search file contents by regular expression; returns 'path:line:text'. Ignored files, "
        "binary files and .git are passed over."
    )
    parameters = SearchFilesArguments

    def title(self, arguments: SearchFilesArguments) -> str:
        where = "" if arguments.path == "." else f" in {reveal(arguments.path)}"
        return f"{reveal(arguments.pattern)}{where}"

    async def run(self, arguments: SearchFilesArguments, context: ToolContext) -> ToolResult:
        if "\0" in arguments.pattern or "\0" in arguments.glob:
            raise ToolError("A pattern cannot contain a NUL character.")
        return await run_off_loop(lambda stop: _search(arguments, context, stop))


class _FirstLines:
    """Keeps the first lines of output, counts the rest, and wants no more at some point."""

    def __init__(self, byte_limit: int) -> None:
        self._limit = byte_limit
        self._data = bytearray()
        self._count = 0

    def feed(self, data: bytes) -> bool:
        self._count += data.count(b"\n")
        self._data += data[: max(0, self._limit - len(self._data))]
        return self._count < _MOST_COUNTED

    def lines(self) -> tuple[list[str], str]:
        """The lines, and how many more there were, in words; empty for none."""
        whole = bytes(self._data)
        if len(whole) == self._limit:
            whole = whole[: whole.rfind(b"\n") + 1] or whole
        lines = [readable(line) for line in whole.split(b"\n") if line][:_MOST_LINES]
        if self._count >= _MOST_COUNTED:
            return lines, f"at least {format_count(_MOST_COUNTED - len(lines), 'more line')}"
        missing = self._count - len(lines)
        return lines, format_count(missing, "more line") if missing > 0 else ""


def _search(arguments: SearchFilesArguments, context: ToolContext, stop: Event) -> ToolResult:
    sink = _FirstLines(context.output_limit)
    with Workspace.of(context).locate(arguments.path) as place:
        descriptor, target = _open_target(place)
        try:
            ended = run_child(
                [*_WITH_LITTLE_MEMORY, *_command(arguments, target)],
                folder=_path_of(descriptor, context.workspace / place.path),
                sink=sink,
                stop=stop,
                timeout_seconds=_SECONDS,
            )
        finally:
            os.close(descriptor)
        prefix = _prefix(place, target)
    lines, more = sink.lines()
    start = "./" if target == "." else f"{target}:"
    if ended.exit_code < 0 and ended.ending == "exited":
        raise ToolError("The search ran out of memory. Search a smaller folder.")
    if ended.exit_code == 2 and lines and not any(line.startswith(start) for line in lines):
        raise ToolError("The search failed: " + "\n".join(lines[:12]))
    return ToolResult(
        _tell(arguments, [prefix + line.removeprefix("./") for line in lines], more, ended)
    )


def _open_target(place: Place) -> tuple[int, str]:
    """The folder to run in, and what to search there: a file's name, or ``.`` for all of it."""
    try:
        return place.open_folder(), "."
    except ToolError:
        os.close(place.open_file())
        return os.dup(place.folder), place.name


def _path_of(descriptor: int, otherwise: Path) -> str:
    """A path that leads to an open folder whatever happens to its name (where the system can)."""
    by_descriptor = f"/proc/self/fd/{descriptor}"
    return by_descriptor if Path(by_descriptor).exists() else str(otherwise)


def _prefix(place: Place, target: str) -> str:
    folder = place.path if target == "." else place.path.parent
    return "" if folder.name == "" else reveal(f"{folder}/")


def _command(arguments: SearchFilesArguments, target: str) -> list[str]:
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        case = "ignore" if arguments.ignore_case else "match"
        return [
            *(sys.executable, "-I", "-c", _OWN_SEARCH, str(Path(__file__).parents[2])),
            *(case, arguments.pattern, arguments.glob, target),
        ]
    return [
        *(ripgrep, "--no-config", "--color=never", "--no-heading", "--with-filename"),
        *("--line-number", "--no-messages", "--hidden", "--glob=!.git", "--sort=path"),
        *(f"--max-columns={_LONGEST_LINE}", "--max-columns-preview", "--max-filesize=20M"),
        *(["--ignore-case"] if arguments.ignore_case else []),
        *([f"--glob={arguments.glob}"] if arguments.glob else []),
        *("--regexp", arguments.pattern, "--", target),
    ]


def _tell(arguments: SearchFilesArguments, lines: list[str], more: str, ended: Ended) -> str:
    if ended.ending == "timed_out":
        lines.append(f"[stopped after {_SECONDS} s; search a smaller folder or a simpler pattern]")
    elif more:
        lines.append(
            f"[{more}; only the first {format_count(len(lines), 'line')} shown: "
            "use a narrower search]"
        )
    return "\n".join(lines) or f"Nothing matches {reveal(arguments.pattern)}."
