"""Find files by name."""

from __future__ import annotations

import os
from threading import Event

from pydantic import Field

from agent_tui.core.messages import ToolResult
from agent_tui.core.text import reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.file_tree import walk_files
from agent_tui.tools.glob import matches
from agent_tui.tools.workspace import Workspace

_MOST_FOUND = 500
_MOST_WALKED = 200_000


class FindFilesArguments(Arguments):
    """Which names, below which folder."""

    pattern: str = Field(
        min_length=1,
        description="A glob such as '*.py', 'src/**/test_*.py' or '*.{ts,tsx}'. Without a slash "
        "it is matched against file names at any depth.",
    )
    path: str = Field(default=".", description="The folder to look in, relative to the workspace.")


class FindFiles(Tool[FindFilesArguments]):
    """Lists the files whose path fits a pattern."""

    name = "find_files"
    description = (
        "List files whose path fits a glob pattern. Folders such as .git, node_modules and .venv "
        "are passed over unless 'path' names them."
    )
    parameters = FindFilesArguments

    def title(self, arguments: FindFilesArguments) -> str:
        where = "" if arguments.path == "." else f" in {reveal(arguments.path)}"
        return f"{reveal(arguments.pattern)}{where}"

    async def run(self, arguments: FindFilesArguments, context: ToolContext) -> ToolResult:
        return ToolResult(await run_off_loop(lambda stop: _find(arguments, context, stop)))


def _find(arguments: FindFilesArguments, context: ToolContext, stop: Event) -> str:
    found: list[str] = []
    note = ""
    count = 0
    with Workspace.of(context).locate(arguments.path) as place:
        prefix = "" if place.path.name == "" else f"{place.path}/"
        descriptor = place.open_folder()
        try:
            for walked, path in enumerate(walk_files(descriptor)):
                if stop.is_set() or walked == _MOST_WALKED:
                    note = f"[stopped after {_MOST_WALKED:,} files; look in a smaller folder]"
                    break
                if matches(path, arguments.pattern):
                    count += 1
                    if count <= _MOST_FOUND:
                        found.append(_show(prefix + path))
        finally:
            os.close(descriptor)
    if missing := count - len(found):
        more = f"{missing:,} more {'fits' if missing == 1 else 'fit'}"
        found.append(f"[{more}; only the first {_MOST_FOUND} are shown: use a narrower pattern]")
    lines = [*found, note] if note else found
    return "\n".join(lines) or f"No file fits {reveal(arguments.pattern)}."


def _show(path: str) -> str:
    return reveal(path).replace("\n", "␊").replace("\t", "␉")
