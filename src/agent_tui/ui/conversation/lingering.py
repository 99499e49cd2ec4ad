"""Screens that are taken apart a moment after they were closed: first what is below is drawn.

Textual takes a closed screen apart at once and lays out the one below twice for it, whose widgets
are not concerned: half of the time from a key to what it did.
"""

from __future__ import annotations

from typing import Any, TypeVar

from textual import events
from textual.app import App
from textual.screen import Screen

Result = TypeVar("Result")
_LINGER_SECONDS = 0.3


class LingeringScreens(App[Result]):
    """Lets a closed screen whose class has ``lingers`` wait before it is removed."""

    async def _replace_screen(self, screen: Screen[Any]) -> Screen[Any]:
        if not getattr(screen, "lingers", False):
            return await super()._replace_screen(screen)
        # These act on the mouse whatever it does by then: later they would end a drag below.
        self.capture_mouse(None)
        screen.post_message(events.ScreenSuspend())
        self.set_timer(_LINGER_SECONDS, screen.remove)
        return screen
