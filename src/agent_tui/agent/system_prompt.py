"""The system prompt: who the agent is, where it works, and what the project asks of it."""

from __future__ import annotations

import platform
from pathlib import Path

from agent_tui.agent.instructions import Instructions
from agent_tui.core.text import reveal
from agent_tui.resources import prompt

PROJECT_HEADING = "# Project instructions"


def write_system_prompt(workspace: Path, instructions: Instructions) -> str:
    """The whole prompt for a workspace, with the project's instructions, nearest last."""
    parts = [prompt("system").strip(), f"Workspace: {workspace}\nPlatform: {platform.system()}"]
    parts += [
        f"{PROJECT_HEADING} ({reveal(str(file.path))})\n\n{file.text}"
        for file in instructions.files
    ]
    return "\n\n".join(parts)
