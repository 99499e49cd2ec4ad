"""How what a sentence of any layer asks for is done without the screen."""

from __future__ import annotations

from agent_tui.core.words import ADD_KEY, ANOTHER_AGENT, ANOTHER_MODEL, COMPACT, CONNECT

WAYS = {
    ANOTHER_MODEL: "--model",
    ANOTHER_AGENT: "--agent",
    CONNECT: "start agent-tui and use /connect",
    ADD_KEY: "start agent-tui and use /connect",
    COMPACT: "agent-tui compact ID",
}
PLAIN_WAYS = {**WAYS, ANOTHER_MODEL: "/model", COMPACT: "/compact"}
"""The same where commands can be typed, as in a plain conversation."""
