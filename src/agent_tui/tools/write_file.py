"""Write a whole text file."""

from __future__ import annotations

from threading import Event

from pydantic import Field

from agent_tui.core.messages import Display, ToolResult
from agent_tui.core.text import reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Subject, Tool, ToolContext
from agent_tui.tools.file_change import make_change, preview_change
from agent_tui.tools.text_file import TextFile
from agent_tui.tools.unified_diff import count_changes


class WriteFileArguments(Arguments):
    """Which file, and its whole new text."""

    path: str = Field(description="Path of the file, relative to the workspace.")
    content: str = Field(description="The whole text of the file, or what to add to its end.")
    append: bool = Field(
        default=False, description="Add the content to the end instead of replacing the file."
    )


class WriteFile(Tool[WriteFileArguments]):
    """Creates a file or replaces all of it, in one step."""

    name = "write_file"
    description = (
        "Create a text file, with its folders, or replace the whole of one. To change a part of "
        "a file use edit_file; to add to its end set append. A file that changed since you read it "
        "is not written."
    )
    parameters = WriteFileArguments
    acts = True

    def title(self, arguments: WriteFileArguments) -> str:
        return reveal(arguments.path)

    def subject(self, arguments: WriteFileArguments) -> Subject:
        return Subject("edit", arguments.path)

    async def preview(self, arguments: WriteFileArguments, context: ToolContext) -> Display:
        def work(_: Event) -> Display:
            return preview_change(arguments.path, lambda old: _text(old, arguments), context)

        return await run_off_loop(work)

    async def run(self, arguments: WriteFileArguments, context: ToolContext) -> ToolResult:
        was_there = False

        def change(old: TextFile | None) -> str:
            nonlocal was_there
            was_there = old is not None
            return _text(old, arguments)

        diff = await run_off_loop(
            lambda _: make_change(arguments.path, change, context, make_folders=True)
        )
        changed = "Added to" if arguments.append else "Replaced"
        act = changed if was_there else "Created"
        return ToolResult(f"{act} {diff.path} ({count_changes(diff)} lines).", display=diff)


def _text(old: TextFile | None, arguments: WriteFileArguments) -> str:
    if old is None or not arguments.append:
        return arguments.content
    content = arguments.content
    if old.uses_crlf and "\r" not in content:
        content = content.replace("\n", "\r\n")
    return old.text + content
