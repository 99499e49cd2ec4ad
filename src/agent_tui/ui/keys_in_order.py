"""Keys that act in the order in which they were typed.

Textual hands a key to the focused widget, which types a letter at once; a Backspace, an arrow or
Enter first travels up to the app, where bindings are looked up. Of keys that arrive together the
letters would act first: ``⌫⌫⌫wo`` after ``hello`` would leave ``hell``. So each key waits until the
one before it has passed everything that may act on it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.app import App
from textual.message import Message

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widget import Widget

Result = TypeVar("Result")
_LOOK_SECONDS = 0.02
_PATIENCE_LOOKS = 100


class KeyPassed(Message, bubble=True):
    """Follows a key through the widgets; when it reaches the app, all of them are done with it."""


class KeysInOrder(App[Result]):
    """Passes on one key or paste at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._typed: deque[events.Key | events.Paste] = deque()
        self._follower: KeyPassed | None = None
        self._target: Widget | None = None
        self._patience: Timer | None = None
        self._looks = 0

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._typed.append(event)
            if self._follower is None:
                await self._pass_on()
            elif self._patience is None:
                self._looks = 0
                self._patience = self.set_interval(_LOOK_SECONDS, self._look_after)
        else:
            await super().on_event(event)

    async def on_key_passed(self, message: KeyPassed) -> None:
        message.stop()
        if message is self._follower:
            self._looks = 0
            await self._pass_on()
            self._show_at_once()

    def watch_app_focus(self, is_focused: bool) -> None:
        """Give the keys to what a screen wants them for, where it came while nobody looked."""
        if is_focused and self.screen.focused is None:
            for widget in self.screen.query(self.screen.AUTO_FOCUS or self.AUTO_FOCUS or "*"):
                if widget.focusable:
                    self.screen.set_focus(widget, scroll_visible=False)
                    break

    def _show_at_once(self) -> None:
        """Paint what a key changed without waiting for the end of the frame.

        Beside an answer that streams there is always a frame that was painted just before.
        """
        screen = self.screen
        if self._follower is None and screen._dirty_widgets:
            with screen._context():
                screen._on_timer_update()

    async def _pass_on(self) -> None:
        """Pass on keys until one is under way, or none is left."""
        self._follower = self._target = None
        while self._typed and self._follower is None:
            event = self._typed.popleft()
            await super().on_event(event)
            target = self.focused or self.screen
            if event.is_forwarded and target.post_message(follower := KeyPassed()):
                self._follower, self._target = follower, target
        if not self._typed and self._patience is not None:
            self._patience.stop()
            self._patience = None

    async def _look_after(self) -> None:
        """Continue where a key closed its own screen and its follower, or takes forever."""
        self._looks += 1
        target = self._target
        if target is None or not target.is_attached or self._looks > _PATIENCE_LOOKS:
            self._looks = 0
            await self._pass_on()
