"""Writing a text in the user's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from agent_tui.core.errors import UsageError

_EDITORS = ("VISUAL", "EDITOR")
_USUAL = ("nano", "vim", "vi")


def find_editor() -> str:
    """The command of ``$VISUAL`` or ``$EDITOR``, else an editor that is here.

    Raises:
        UsageError: none is set, and none of the usual ones is installed.
    """
    editor = next((os.environ[name] for name in _EDITORS if os.environ.get(name)), "")
    editor = editor or next((name for name in _USUAL if shutil.which(name)), "")
    if not editor:
        raise UsageError("No editor found. Set EDITOR, then try again.")
    return editor


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
