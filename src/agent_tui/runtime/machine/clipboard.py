"""The desktop's own tools for the clipboard: terminals paste no pictures, and some copy nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agent_tui.core.errors import UsageError
from agent_tui.sessions.disk import translate_os_errors
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES, image_kind

_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
)
_COPYING_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
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
    tools = _usable(_TOOLS)
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


def copy_text(text: str) -> None:
    """Have the first tool that this desktop has copy a text; blocks, and fails silently."""
    for tool in _usable(_COPYING_TOOLS)[:1]:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                tool,
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )


def _usable(tools: Sequence[tuple[str, tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """Those that are installed and whose desktop is here, named by its variable."""
    return [
        tool
        for variable, tool in tools
        if shutil.which(tool[0]) and (not variable or os.environ.get(variable))
    ]


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
