"""Commands that a person runs with ``!``: how the model is told of one, in plain words."""

from __future__ import annotations

from agent_tui.core.origins import Origin

SHELL: Origin = "shell"
"""The origin of a message that tells of such a command."""
SHELL_INTERRUPTED = "[interrupted]"
"""The last line of what one printed that a person stopped."""


def shell_text(command: str, output: str) -> str:
    """What the model is told of a command and what it printed."""
    return f"{_head(command)}{output.rstrip()}"


def shell_output(command: str, text: str) -> str:
    """What the command printed, given what the model was told."""
    return text.removeprefix(_head(command))


def _head(command: str) -> str:
    return f"I ran this command: {command}\n\n"
