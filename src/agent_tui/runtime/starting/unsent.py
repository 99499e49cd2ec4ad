"""What was typed or sent in a program that ended before it had a session."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agent_tui.core.drafts import Drafts
from agent_tui.core.errors import AgentTuiError
from agent_tui.sessions.drafts import DraftFile
from agent_tui.sessions.folders import project_name, projects_folder

if TYPE_CHECKING:
    from agent_tui.runtime.starting.launch import Launch


def keep_unsent(launch: Launch, text: str) -> None:
    """Keep a text for the next new session of the folder, unless nothing may be written. Blocks.

    A disk that refuses it is no reason to stay.
    """
    if not text or launch.ephemeral or launch.demo or launch.path is not None:
        return
    project = projects_folder(launch.home) / project_name(str(launch.cwd))
    with suppress(AgentTuiError):
        DraftFile(project / "not-opened").write(Drafts(text), is_new=True)
