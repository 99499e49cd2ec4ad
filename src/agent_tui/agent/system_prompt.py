"""The system prompt: who the agent is, where it works, and what the project asks of it."""

from __future__ import annotations

from pathlib import Path

from agent_tui.agent.instructions import Instructions
from agent_tui.agent.prompt_variables import fill_in, prompt_variables
from agent_tui.agent.spec import AgentSpec
from agent_tui.core.text import reveal
from agent_tui.resources import prompt

PROJECT_HEADING = "# Project instructions"


def write_system_prompt(
    workspace: Path, instructions: Instructions, spec: AgentSpec | None = None
) -> str:
    """The whole prompt for a workspace, with the project's instructions, nearest last."""
    text = spec.system_prompt if spec else prompt("system")
    variables = prompt_variables(workspace) | dict(spec.variables if spec else {})
    parts = [fill_in(text, variables).strip()]
    parts += [
        f"{PROJECT_HEADING} ({reveal(str(file.path))})\n\n{file.text}"
        for file in instructions.files
    ]
    return "\n\n".join(parts)
