"""Small text files of a user or a trusted project: read whole, and never through a link."""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui.core.errors import ToolError
from agent_tui.core.text import clean
from agent_tui.tools.workspace import Workspace

LIMIT_BYTES = 65_536


def read_plain_file(root: Path, path: Path) -> str:
    """The text of a regular file, by its path from a root.

    Raises:
        ToolError, OSError: it is not there, a link, or longer than 64 kB.
        UnicodeDecodeError: it is not UTF-8 text.
    """
    with Workspace(root).locate(str(path)) as place:
        if place.path != path:
            raise ToolError("it is a symbolic link")
        with os.fdopen(place.open_file(), "rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise ToolError(f"it is longer than {LIMIT_BYTES:,} bytes")
    return clean(data.decode("utf-8"))
