"""What the frame of the prompt says of its keys: the longest that fits is shown."""

from __future__ import annotations

from typing import Literal, TypeAlias

PromptState: TypeAlias = Literal["read-only", "searching", "commanding", "shell", "running", "idle"]

HINTS: dict[PromptState, tuple[str, ...]] = {
    "read-only": (),
    "searching": ("Enter uses it · Esc back",),
    "commanding": ("NORMAL · i writes · Enter sends", "NORMAL · i writes"),
    "shell": ("Enter runs this shell command", "runs in the shell"),
    "running": ("Enter steers · Ctrl+J new line · Esc interrupts", "Enter steers · Esc stops"),
    "idle": (
        "Enter sends · Ctrl+J new line · / commands · @ files · ! shell · F1 help",
        "Enter sends · / commands · @ files · F1 help",
        "/ commands · F1 help",
    ),
}
"""The hints of each state in which the prompt can be."""
