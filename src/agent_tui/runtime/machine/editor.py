"""Writing a text in the user's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import UsageError

_EDITORS = ("VISUAL", "EDITOR")
_USUAL = ("nano", "vim", "vi")


@dataclass(frozen=True, slots=True)
class Editor:
    """The command of an editor, and a sentence about one that is set but not installed."""

    command: str
    note: str = ""


def find_editor() -> Editor:
    """The first of ``$VISUAL``, ``$EDITOR`` and the usual editors that is here.

    Raises:
        UsageError: none of them is.
    """
    chosen = [os.environ[name] for name in _EDITORS if os.environ.get(name)]
    found = next((command for command in (*chosen, *_USUAL) if _is_installed(command)), "")
    missing = next((command for command in chosen if not _is_installed(command)), "")
    if not found and missing:
        raise UsageError(f"The editor {missing!r} was not found. Set EDITOR, then try again.")
    if not found:
        raise UsageError("No editor found. Set EDITOR, then try again.")
    return Editor(found, f"The editor {missing!r} was not found; used {found}." if missing else "")


def _is_installed(command: str) -> bool:
    try:
        return shutil.which(shlex.split(command)[0]) is not None
    except (ValueError, IndexError):  # an open quote, or nothing but blanks
        return False


def edit_text(editor: str, text: str) -> str:
    """Open an editor on a text and return what was saved; blocks until it is closed.

    Raises:
        UsageError: it could not be started or failed; the text is unchanged.
    """
    with tempfile.TemporaryDirectory(prefix="agent-tui-") as folder:
        path = Path(folder) / "prompt.md"
        path.write_text(text, encoding="utf-8")
        try:
            status = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
        except (OSError, ValueError) as error:
            raise UsageError(f"The editor {editor!r} could not be started: {error}.") from None
        if status:
            raise UsageError(f"The editor {editor!r} ended with status {status}; nothing changed.")
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
