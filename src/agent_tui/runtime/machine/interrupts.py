"""What Ctrl+C does once the screen is gone, until the process has ended."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

_FORGIVEN_SECONDS = 2.0
_INTERRUPTED = 130


def forgive_interrupts() -> None:
    """One Ctrl+C too many is meant for what has ended: no error, unless the end takes long."""
    since = time.monotonic()

    def heed(*_: object) -> None:
        if time.monotonic() - since > _FORGIVEN_SECONDS:
            os._exit(_INTERRUPTED)

    with suppress(ValueError):  # only the main thread can handle signals
        signal.signal(signal.SIGINT, heed)


def ignore_interrupts() -> None:
    """For the last moments, in which Python calls no handler and would end by the signal."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
