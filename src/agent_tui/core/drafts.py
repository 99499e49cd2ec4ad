"""What was typed but not sent, and what waits for the agent."""

from __future__ import annotations

from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Drafts:
    """The unsent prompt, and the prompts that wait for the agent's next step, oldest first."""

    text: str = ""
    queued: tuple[str, ...] = ()
