"""Pictures from the clipboard: terminals paste text only, so the desktop's own tool is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from agent_tui.core.errors import UsageError
from agent_tui.sessions.disk import translate_os_errors
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES, image_kind

_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
)
_SECONDS = 5
_temporary: list[str] = []


def save_clipboard_picture(folder: Path | None) -> str:
    """Write the picture in the clipboard into a file of its own, and return its path; blocks.

    Args:
        folder: where the session keeps it; None while it has no folder: then it is temporary,
            until ``remove_temporary_pictures``.

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
            "No program to read the clipboard: install wl-clipboard, xclip or pngpaste, or type @ "
            "and a path."
        )
    for tool in tools:
        data = _ask(tool)
        if kind := image_kind(data):
            if len(data) > LARGEST_IMAGE_BYTES:
                raise UsageError("The picture in the clipboard is too large. Make it smaller.")
            return _save(data, kind.rpartition("/")[2], folder)
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


def remove_temporary_pictures(still_named: str) -> None:
    """Remove the pictures that no session keeps, except those that a text still names."""
    for path in [path for path in _temporary if path not in still_named]:
        Path(path).unlink(missing_ok=True)
        _temporary.remove(path)


def _save(data: bytes, ending: str, folder: Path | None) -> str:
    """Save a picture in a file that only this user can read; sending the prompt attaches it."""
    with translate_os_errors("save the picture in", folder or Path(tempfile.gettempdir())):
        if folder is not None:
            folder.mkdir(mode=0o700, exist_ok=True)
        descriptor, path = tempfile.mkstemp(
            prefix="agent-tui-pasted-", suffix=f".{ending}", dir=folder
        )
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    if folder is None:
        _temporary.append(path)
    return path
