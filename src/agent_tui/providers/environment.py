"""Taking keys out of the environment: read once, then gone from where others could look."""

from __future__ import annotations

import os
import sys
from threading import Lock

_taken: dict[str, str] = {}
_one_at_a_time = Lock()


def take_variable(name: str) -> str:
    """The value of a variable; it is wiped from this process's environment and kept here.

    Children do not inherit it, and /proc/PID/environ no longer shows it. What the parent of
    this program holds in its own environment is beyond reach.
    """
    with _one_at_a_time:
        value = os.environ.get(name, "")
        if value:
            _taken[name] = value
            _wipe(name)
        return _taken.get(name, "")


def _wipe(name: str) -> None:
    if sys.platform != "win32":
        import ctypes

        try:
            getenv = ctypes.CDLL(None).getenv
            getenv.restype = ctypes.c_void_p
            place = getenv(os.fsencode(name))
            if place:
                ctypes.memset(place, 0, len(os.fsencode(os.environ[name])))
        except (OSError, AttributeError):
            pass
    os.environ.pop(name, None)
