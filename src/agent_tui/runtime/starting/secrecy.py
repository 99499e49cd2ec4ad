"""Keeping what this process knows from the commands that the agent runs."""

from __future__ import annotations

import sys

_PR_SET_DUMPABLE = 4


def hide_memory() -> None:
    """Close this process's environment and memory to other processes of the same user.

    A child's own environment holds no key, but on Linux it could read its parent's in /proc; a
    process that is not dumpable is closed to everyone but root. Children are not affected: the
    flag is set again when a program starts. Where the system has no such flag nothing happens.
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (OSError, AttributeError):
        return
