"""Who really said a message that has the role ``user``."""

from __future__ import annotations

from typing import Literal, TypeAlias

Origin: TypeAlias = Literal[
    "human",  # a prompt
    "steer",  # a prompt that joined a running turn
    "import",  # a prompt of the session that this one continues
    "shell",  # a command that a person ran, and what it printed
    "compaction",  # the summary of what was compacted
    "branch",  # the summary of another branch
    "agent",  # what another agent said to this one
    "dmail",
    "reminder",
    "checkpoint",
    "unknown",  # the log names an origin that this program does not know
]
_KNOWN: dict[str, Origin] = {
    "human": "human",
    "steer": "steer",
    "import": "import",
    "shell": "shell",
    "compaction": "compaction",
    "branch": "branch",
    "agent": "agent",
    "dmail": "dmail",
    "reminder": "reminder",
    "checkpoint": "checkpoint",
}
ASKED: frozenset[Origin | None] = frozenset({None, "human", "steer", "import"})
"""The origins of prompts: what a person asked, in this program or in another one."""


def read_origin(name: str | None) -> Origin | None:
    """An origin as a log names it; None where it names none."""
    return None if name is None else _KNOWN.get(name, "unknown")
