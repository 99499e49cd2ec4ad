"""The wire carries events from a turn to everyone who listens, in order, on the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agent_tui.core.events import Event

Listener: TypeAlias = Callable[[Event], None]


class Wire:
    """One sender, many listeners; a listener that fails does not silence the others."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event from now on; call the result to stop listening."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def emit(self, event: Event) -> None:
        """Tell everyone; the first failure of a listener is raised after all have heard."""
        failure: Exception | None = None
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure
