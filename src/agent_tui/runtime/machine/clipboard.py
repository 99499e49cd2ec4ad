"""Pictures from the clipboard: terminals paste text only, so the desktop's own tool is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from agent_tui.core.errors import UsageError
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES, image_kind

_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
)
_SECONDS = 5


def save_clipboard_picture() -> str:
    """Write the picture in the clipboard into a file of its own, and return its path; blocks.

    Raises:
        UsageError: no tool can ask the clipboard, or there is no picture in it.
    """
    tools = [
        tool
        for variable, tool in _TOOLS
        if shutil.which(tool[0]) and (not variable or os.environ.get(variable))
    ]
    if not tools:
        raise UsageError(
            "Nothing here can read pictures from the clipboard. Install wl-paste (wl-clipboard), "
            "xclip or pngpaste, or type @ and the picture's path."
        )
    for tool in tools:
        data = _ask(tool)
        if kind := image_kind(data):
            if len(data) > LARGEST_IMAGE_BYTES:
                raise UsageError("The picture in the clipboard is too large. Make it smaller.")
            return _save(data, kind.rpartition("/")[2])
    raise UsageError("There is no picture in the clipboard.")


def _ask(tool: tuple[str, ...]) -> bytes:
    try:
        done = subprocess.run(
            tool,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout


def _save(data: bytes, ending: str) -> str:
    """A file that only this user can read; the prompt attaches it when it is sent."""
    descriptor, path = tempfile.mkstemp(prefix="agent-tui-pasted-", suffix=f".{ending}")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return path
