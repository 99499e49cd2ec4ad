"""Replace a piece of a text file."""

from __future__ import annotations

from threading import Event

from pydantic import BaseModel, ConfigDict, Field

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import DiffDisplay, Display, ToolResult
from agent_tui.core.text import format_count, reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Subject, Tool, ToolContext
from agent_tui.tools.file_change import make_change, preview_change
from agent_tui.tools.suggestions import missing_file, text_not_found
from agent_tui.tools.text_file import TextFile
from agent_tui.tools.unified_diff import count_changes
from agent_tui.tools.workspace import Workspace


class Replacement(BaseModel):
    """One text that becomes another."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    old_text: str = Field(
        min_length=1,
        description="The text to replace, exactly as in the file. It must occur once: "
        "include enough of the lines around it, or set replace_all.",
    )
    new_text: str = Field(description="What to put in its place.")
    replace_all: bool = Field(default=False, description="Replace every occurrence.")


class EditFileArguments(Arguments):
    """Which text of which file becomes what."""

    path: str = Field(description="Path of the file, relative to the workspace.")
    old_text: str = Field(
        default="",
        description="The text to replace, exactly as in the file. It must occur once: "
        "include enough of the lines around it, or set replace_all.",
    )
    new_text: str = Field(default="", description="What to put in its place.")
    replace_all: bool = Field(default=False, description="Replace every occurrence.")
    edits: list[Replacement] = Field(
        default=[],
        max_length=100,
        description="Several replacements in place of one, made in this order, all or none.",
    )

    @property
    def replacements(self) -> list[Replacement]:
        """Every replacement, the single one first."""
        if not self.old_text:
            return self.edits
        single = Replacement(
            old_text=self.old_text, new_text=self.new_text, replace_all=self.replace_all
        )
        return [single, *self.edits]


class EditFile(Tool[EditFileArguments]):
    """Replaces text that occurs in a file, exactly once unless told otherwise."""

    name = "edit_file"
    description = (
        "Replace old_text by new_text in a text file. old_text must match exactly, white space "
        "included, without the line numbers of read_file."
    )
    parameters = EditFileArguments
    acts = True

    def title(self, arguments: EditFileArguments) -> str:
        return reveal(arguments.path)

    def subject(self, arguments: EditFileArguments) -> Subject:
        return Subject("edit", arguments.path)

    async def preview(self, arguments: EditFileArguments, context: ToolContext) -> Display:
        def work(stop: Event) -> Display:
            return preview_change(
                arguments.path, lambda old: _edit(old, arguments, context, stop)[0], context
            )

        return await run_off_loop(work)

    async def run(self, arguments: EditFileArguments, context: ToolContext) -> ToolResult:
        count = 0

        def work(stop: Event) -> DiffDisplay:
            def change(old: TextFile | None) -> str:
                nonlocal count
                text, count = _edit(old, arguments, context, stop)
                return text

            return make_change(arguments.path, change, context)

        diff = await run_off_loop(work)
        places = format_count(count, "place")
        done = f"Edited {diff.path} in {places} ({count_changes(diff)} lines)."
        return ToolResult(done, display=diff)


def _edit(
    file: TextFile | None, arguments: EditFileArguments, context: ToolContext, stop: Event
) -> tuple[str, int]:
    """The new text, and how many occurrences were replaced."""
    if file is None:
        raise missing_file(Workspace.of(context), arguments.path, stop)
    if not arguments.replacements:
        raise ToolError("Nothing to change: send old_text and new_text, or a list of edits.")
    text, total = file.text, 0
    for replacement in arguments.replacements:
        text, count = _replace(text, replacement, arguments.path, stop, crlf=file.uses_crlf)
        total += count
    return text, total


def _replace(
    text: str, wanted: Replacement, path: str, stop: Event, *, crlf: bool
) -> tuple[str, int]:
    old, new = wanted.old_text, wanted.new_text
    if crlf and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    if old == new:
        raise ToolError("old_text and new_text are the same: there is nothing to change.")
    count = text.count(old)
    if count == 0:
        raise text_not_found(path, text, wanted.old_text, stop)
    if count > 1 and not wanted.replace_all:
        raise ToolError(
            f"old_text occurs {count} times in {reveal(path)} "
            f"(lines {_line_numbers(text, old)}). Include more of the lines around the "
            "right one, or set replace_all."
        )
    return text.replace(old, new), count


def _line_numbers(text: str, sought: str) -> str:
    numbers: list[str] = []
    position = text.find(sought)
    while position >= 0 and len(numbers) < 10:
        numbers.append(str(text.count("\n", 0, position) + 1))
        position = text.find(sought, position + len(sought))
    return ", ".join(numbers) + (", …" if position >= 0 else "")
