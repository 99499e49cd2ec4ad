"""D-Mail: a message that an agent sends back in time, to a checkpoint of its own past."""

from __future__ import annotations

from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DMail:
    """What the agent wants its earlier self to know, and when: the checkpoint to go back to."""

    checkpoint: int
    message: str
