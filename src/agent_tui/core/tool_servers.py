"""MCP servers as a front-end shows them: what each is doing and what it offers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_tui.core.dataclass import dataclass

ServerState: TypeAlias = Literal["disabled", "starting", "ready", "failed"]

SERVER_STATE_WORDS: dict[ServerState, str] = {
    "disabled": "disabled",
    "starting": "starting …",
    "ready": "ready",
    "failed": "failed",
}
"""How a state is said on screen."""


@dataclass(frozen=True, slots=True)
class ToolServerStatus:
    """One server of tools.

    Attributes:
        detail: why it failed, or what it waits for, in a sentence; empty when all is well.
        tools: the names under which a model may call its tools.
        changed: tools whose description is not the one that was accepted: they wait for a person.
        place: the command or the address.
    """

    name: str
    state: ServerState
    place: str
    detail: str = ""
    tools: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
