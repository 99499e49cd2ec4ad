"""The approval modes: how much the agent may do before a person is asked."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

ApprovalMode: TypeAlias = Literal["ask", "accept-edits", "plan", "auto"]
MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)

SANDBOX_ON = "sandbox on"
"""What is said of commands that are confined as the program promises."""

PRESENT_PLAN = "present_plan"
"""The tool by which an agent in plan mode puts its plan before a person."""

MODE_WORDS: dict[ApprovalMode, str] = {
    "ask": "ask",
    "accept-edits": "accept edits",
    "plan": "plan",
    "auto": "auto: never asks",
}
"""What each mode is called on screen."""

MODE_HELP: dict[ApprovalMode, str] = {
    "ask": "Ask mode: every edit and command needs your approval.",
    "accept-edits": "Accept-edits mode: edits in this folder run; commands need approval.",
    "plan": "Plan mode: nothing is changed until you approve a plan.",
    "auto": "Auto mode: every action runs without asking.",
}


def next_mode(mode: ApprovalMode) -> ApprovalMode:
    """The mode that comes after one, in the order in which a key cycles them."""
    return MODES[(MODES.index(mode) + 1) % len(MODES)]
