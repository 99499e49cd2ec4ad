"""The wire carries events from a turn to everyone who listens, in order, on the event loop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from agent_tui.core.events import Event

Listener: TypeAlias = Callable[[Event], None]
Dropped: TypeAlias = Callable[[Exception], None]
"""Called once with why a listener was dropped."""

_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())  # without it logging would write to the terminal


class Wire:
    """One sender, many listeners.

    A listener that raises is logged and dropped: the turn and the other listeners continue.
    """

    def __init__(self) -> None:
        self._listeners: dict[Listener, Dropped | None] = {}

    def subscribe(self, listener: Listener, dropped: Dropped | None = None) -> Callable[[], None]:
        """Hear every event from now on; call the result to stop listening."""
        self._listeners[listener] = dropped
        return partial(self._forget, listener)

    def _forget(self, listener: Listener) -> None:
        self._listeners.pop(listener, None)

    def emit(self, event: Event) -> None:
        """Tell everyone."""
        for listener, dropped in tuple(self._listeners.items()):
            try:
                listener(event)
            except Exception as error:
                _log.exception("A listener failed at %s and was dropped", type(event).__name__)
                self._forget(listener)
                if dropped is not None:
                    dropped(error)
