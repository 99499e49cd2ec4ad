"""Read a text file or a range of its lines, look at a picture, open what was kept."""

from __future__ import annotations

from pathlib import Path
from threading import Event

from pydantic import Field

from agent_tui.core.messages import ToolResult
from agent_tui.core.text import clean, format_count, reveal
from agent_tui.tools.background import run_off_loop, run_to_its_end
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.blobs import SCHEME
from agent_tui.tools.image_file import image_kind, image_part
from agent_tui.tools.suggestions import missing_file
from agent_tui.tools.text_file import TextFile, decode_text, read_bytes_async
from agent_tui.tools.workspace import MissingPath, Workspace

_LONGEST_LINE = 2_000


class ReadFileArguments(Arguments):
    """Which file, and which of its lines."""

    path: str = Field(description="Path of the file, relative to the workspace.")
    start_line: int = Field(
        default=1, description="The first line to read, from 1; -20 for the last 20 lines."
    )
    line_count: int = Field(default=1000, ge=1, description="How many lines to read at most.")
    start_character: int = Field(
        default=1,
        ge=1,
        description="Where to begin in a very long line, from 1; only with line_count=1.",
    )


class ReadFile(Tool[ReadFileArguments]):
    """Reads a text file and remembers how it looked."""

    name = "read_file"
    description = (
        "Read a UTF-8 text file of the workspace. Lines come numbered ('12<tab>text'); the "
        "numbers are not part of the file. Long files are cut: ask for more with start_line. "
        "PNG, JPEG, GIF and WebP pictures are shown to you. Paths that begin with 'blob:' are long "
        "outputs that were kept whole."
    )
    parameters = ReadFileArguments

    def title(self, arguments: ReadFileArguments) -> str:
        return reveal(arguments.path)

    async def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolResult:
        data, path = await run_to_its_end(_read(arguments.path, context))

        def work(_: Event) -> ToolResult:
            if kind := image_kind(data):
                return _show_image(data, kind, reveal(arguments.path))
            file = decode_text(data, Path(path))
            if path != arguments.path or not path.startswith(SCHEME):
                context.files.remember(Path(path), file.digest)
            return ToolResult(_show(file, arguments, context.output_limit))

        return await run_off_loop(work)


async def _read(path: str, context: ToolContext) -> tuple[bytes, str]:
    """The bytes of a file and its path in the workspace, or of what was kept of an output."""
    blobs = context.blobs
    if path.startswith(SCHEME) and blobs is not None:
        return await read_bytes_async(lambda: blobs.open(path), path), path
    found = ""

    def open_inside() -> int:
        nonlocal found
        with Workspace.of(context).locate(path) as place:
            found = str(place.path)
            context.files.forget(place.path)
            return place.open_file()

    try:
        return await read_bytes_async(open_inside, path), found
    except MissingPath:
        raise await run_off_loop(
            lambda stop: missing_file(Workspace.of(context), path, stop)
        ) from None


def _show_image(data: bytes, kind: str, shown: str) -> ToolResult:
    image = image_part(data, kind, shown)
    return ToolResult(f"[{shown}: {kind}, {len(data):,} bytes]", images=(image,))


def _show(file: TextFile, arguments: ReadFileArguments, limit: int) -> str:
    lines = file.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return "[the file is empty]"
    first = arguments.start_line
    first = max(1, len(lines) + 1 + first) if first < 0 else max(1, first)
    if first > len(lines):
        return f"[the file has only {format_count(len(lines), 'line')}]"
    shown: list[str] = []
    room = limit
    alone = arguments.line_count == 1
    longest = limit if alone else _LONGEST_LINE
    start = arguments.start_character if alone else 1
    for number, line in enumerate(lines[first - 1 : first - 1 + arguments.line_count], first):
        text = f"{number}\t{_show_line(line, number, longest, start)}"
        room -= len(text) + 1
        if room < 0 and shown:
            break
        shown.append(text)
    next_line = first + len(shown)
    if next_line <= len(lines):
        where = f"lines {first}-{next_line - 1} of {len(lines):,}"
        shown.append(f"[{where}; continue with start_line={next_line}]")
    return "\n".join(shown)


def _show_line(line: str, number: int, longest: int, start: int) -> str:
    """A line from its character ``start`` on, as far as there is room, and how to read on."""
    line = line.removesuffix("\r")
    part = line[start - 1 : start - 1 + longest]
    text = clean(part)
    more = len(line) - (start - 1) - len(part)
    if start > 1:
        text = f"[… from character {start:,} of {len(line):,} …]{text}"
    if more <= 0:
        return text
    where = f"start_line={number} with line_count=1 and start_character={start + len(part)}"
    return f"{text}[… {format_count(more, 'more character')}; {where} shows more of this line …]"
