"""List what a folder holds."""

from __future__ import annotations

import os
from threading import Event

from pydantic import Field

from agent_tui.core.messages import ToolResult
from agent_tui.core.text import reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.workspace import Workspace

_MOST_ENTRIES = 1_000


class ListFolderArguments(Arguments):
    """Which folder."""

    path: str = Field(default=".", description="The folder, relative to the workspace.")


class ListFolder(Tool[ListFolderArguments]):
    """Names the entries of one folder, folders first."""

    name = "list_folder"
    description = (
        "List what one folder of the workspace holds: folders end in '/', links in '@', files come "
        "with their size in bytes. To find files in deeper folders use find_files."
    )
    parameters = ListFolderArguments

    def title(self, arguments: ListFolderArguments) -> str:
        return reveal(arguments.path)

    async def run(self, arguments: ListFolderArguments, context: ToolContext) -> ToolResult:
        return ToolResult(await run_off_loop(lambda _: _list(arguments.path, context, _)))


def _list(path: str, context: ToolContext, stop: Event) -> str:
    rows: list[tuple[bool, str]] = []
    with Workspace.of(context).locate(path) as place:
        descriptor = place.open_folder()
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    if stop.is_set() or len(rows) > _MOST_ENTRIES:
                        break
                    rows.append((not entry.is_dir(follow_symlinks=False), _row(entry)))
        finally:
            os.close(descriptor)
    lines = [row for _, row in sorted(rows)]
    if len(lines) > _MOST_ENTRIES:
        lines = [
            *lines[:_MOST_ENTRIES],
            f"[only {_MOST_ENTRIES:,} entries are shown; find_files finds others by name]",
        ]
    return "\n".join(lines) or "[the folder is empty]"


def _row(entry: os.DirEntry[str]) -> str:
    name = reveal(entry.name).replace("\n", "␊").replace("\t", "␉")
    if entry.is_symlink():
        return f"{name}@"
    if entry.is_dir(follow_symlinks=False):
        return f"{name}/"
    return f"{name}  {entry.stat(follow_symlinks=False).st_size}"
