"""Read a text file, or a range of its lines."""

from __future__ import annotations

from threading import Event

from pydantic import Field

from agent_tui.core.messages import ToolResult
from agent_tui.core.text import clean, reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.suggestions import missing_file
from agent_tui.tools.text_file import TextFile, read_text_file
from agent_tui.tools.workspace import MissingPath, Workspace

_LONGEST_LINE = 2_000


class ReadFileArguments(Arguments):
    """Which file, and which of its lines."""

    path: str = Field(description="Path of the file, relative to the workspace.")
    start_line: int = Field(
        default=1, description="The first line to read, from 1; -20 for the last 20 lines."
    )
    line_count: int = Field(default=1000, ge=1, description="How many lines to read at most.")


class ReadFile(Tool[ReadFileArguments]):
    """Reads a text file and remembers how it looked."""

    name = "read_file"
    description = (
        "Read a UTF-8 text file of the workspace. Lines come numbered ('12<tab>text'); the "
        "numbers are not part of the file. Long files are cut: ask for more with start_line."
    )
    parameters = ReadFileArguments

    def title(self, arguments: ReadFileArguments) -> str:
        return reveal(arguments.path)

    async def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolResult:
        def work(_: Event) -> ToolResult:
            file = _read_and_remember(arguments.path, context)
            return ToolResult(_show(file, arguments, context.output_limit))

        return await run_off_loop(work)


def _read_and_remember(path: str, context: ToolContext) -> TextFile:
    workspace = Workspace.of(context)
    try:
        with workspace.locate(path) as place:
            context.files.forget(place.path)
            file = read_text_file(place)
            context.files.remember(place.path, file.digest)
            return file
    except MissingPath:
        raise missing_file(workspace, path) from None


def _show(file: TextFile, arguments: ReadFileArguments, limit: int) -> str:
    lines = file.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return "[the file is empty]"
    first = arguments.start_line
    first = max(1, len(lines) + 1 + first) if first < 0 else max(1, first)
    if first > len(lines):
        return f"[the file has only {len(lines):,} lines]"
    shown: list[str] = []
    room = limit
    for number, line in enumerate(lines[first - 1 : first - 1 + arguments.line_count], first):
        text = f"{number}\t{_show_line(line)}"
        room -= len(text) + 1
        if room < 0:
            break
        shown.append(text)
    next_line = first + len(shown)
    if next_line <= len(lines):
        where = f"lines {first}-{next_line - 1} of {len(lines):,}"
        shown.append(f"[{where}; continue with start_line={next_line}]")
    return "\n".join(shown)


def _show_line(line: str) -> str:
    line = clean(line.removesuffix("\r"))
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}[… {len(line) - _LONGEST_LINE:,} more characters …]"
