"""What the next act on a log does first: bring back a folder in which a process died."""

from __future__ import annotations

from agent_tui.sessions.disk import translate_os_error
from agent_tui.sessions.log import LogFile


def bring_back(file: LogFile) -> None:
    """Bring the folder to its old or its new state, and do nothing else."""
    try:
        with file._locked_log():
            pass
    except OSError as error:
        raise translate_os_error("recover", file.path, error) from error
