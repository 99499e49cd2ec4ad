"""Outputs that were too long for the model, put back whole into what a person reads."""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui.core.errors import ToolError
from agent_tui.core.text import late_pattern
from agent_tui.tools.blobs import BLOBS, BlobFolder
from agent_tui.tools.output import readable

_LEFT_OUT = late_pattern(
    r"\n\[… [^\n\]]{1,80} not shown; the whole output: read_file (blob:[0-9a-f]{32}) …\]\n"
)
_MOST_BYTES = 2_000_000
"""More than that nobody reads at once, and laying it out would be felt."""
_SIGN_CHARS = 200


def put_back(text: str, folder: Path) -> str:
    """A text with the whole of an output of which it holds the two ends; blocks.

    It stays as it is where nothing was left out, or that is not kept any longer, or too much.

    Args:
        text: what a call or a command printed, and what stands around that.
        folder: that of the session.
    """
    found = _LEFT_OUT.search(text)
    if found is None:
        return text
    whole = _read(found[1], folder).rstrip("\n")
    begins = text.find(whole[:_SIGN_CHARS], 0, found.start()) if whole else -1
    ends = text.rfind(whole[-_SIGN_CHARS:], found.end()) if whole else -1
    if begins < 0 or ends < 0:
        return text
    return f"{text[:begins]}{whole}{text[ends + len(whole[-_SIGN_CHARS:]) :]}"


def _read(blob: str, folder: Path) -> str:
    """What is kept under a name; empty where it is gone or too much."""
    try:
        with os.fdopen(BlobFolder(folder / BLOBS).open(blob), "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (ToolError, OSError):
        return ""
    return readable(data) if len(data) <= _MOST_BYTES else ""
