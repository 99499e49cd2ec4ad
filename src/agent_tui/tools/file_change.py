"""A change of one file: worked out, checked, shown as a diff, and made.

This blocks, in one thread from the walk to the rename, and is not cut into awaited steps: the open
folder must stay the same in all of them, and a cancellation in between would leave half a change.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import DiffDisplay
from agent_tui.core.text import reveal
from agent_tui.tools.base import ABSENT, ToolContext
from agent_tui.tools.text_file import TextFile, read_text_file, replace_text_file
from agent_tui.tools.unified_diff import show_diff
from agent_tui.tools.workspace import MissingPath, Place, Workspace

Change = Callable[[TextFile | None], str]
"""Gives the new text of a file from the old one (None: there is no such file)."""


def preview_change(path: str, change: Change, context: ToolContext) -> DiffDisplay:
    """What ``change`` would do, as a diff; what a person is shown is what may be written later.

    Raises:
        ToolError: the change cannot be made as things stand.
    """
    try:
        with Workspace.of(context).locate(path) as place:
            place.check_writable()
            old, new = _work_out(place, change, context)
            context.files.remember(place.path, old.digest if old else ABSENT)
            return show_diff(str(place.path), old.text if old else "", new)
    except MissingPath:
        return show_diff(path, "", change(None))


def make_change(
    path: str, change: Change, context: ToolContext, *, make_folders: bool = False
) -> DiffDisplay:
    """Make a change and return what it did; ``make_folders`` creates those that are missing.

    Raises:
        ToolError: the file changed since it was seen, or cannot be written; it stands as it was.
    """
    with Workspace.of(context).locate(path, make_folders=make_folders) as place:
        place.check_writable()
        old, new = _work_out(place, change, context)
        expected = old.digest if old else ABSENT
        marked = old is not None and old.marked
        digest = replace_text_file(place, new, expected, marked=marked)
        context.files.remember(place.path, digest)
        return show_diff(str(place.path), old.text if old else "", new)


def _work_out(place: Place, change: Change, context: ToolContext) -> tuple[TextFile | None, str]:
    old: TextFile | None = None
    with suppress(MissingPath):
        old = read_text_file(place)
    if context.files.has_changed(place.path, old.digest if old else ABSENT):
        shown = reveal(str(place.path))
        happened = "changed on disk" if old else "disappeared"
        raise ToolError(
            f"{shown} {happened} since you last saw it; nothing was written. "
            "Read it again and repeat the change."
        )
    return old, change(old)
