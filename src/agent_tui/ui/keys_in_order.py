"""Keys that act in the order in which they were typed.

Textual hands a key to the focused widget, which types a letter at once; a Backspace, an arrow or
Enter first travels up to the app, where bindings are looked up. Of keys that arrive together the
letters would act first: ``⌫⌫⌫wo`` after ``hello`` would leave ``hell``. So each key waits until the
one before it has passed everything that may act on it.

Most terminals send a key with Alt as Esc and the key's character. Where Esc leads to commands of
one letter, that may be Esc and a letter, typed faster than they were read.

Textual handles what waits for the app without a pause. A wheel that spins, a mouse that is dragged
faster than it is drawn or a window that is switched to and fro would hold up everything, so others
get their turn in between.

A key that opens a screen is done before the screen is there. What is typed behind it was meant for
that screen, so it waits for a moment; Esc and Ctrl+C do not, which stop what is on its way.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from textual import events
from textual.app import App
from textual.message import Message

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widget import Widget

Result = TypeVar("Result")
_ALT = "alt+"
_MOVES = {"b": "ctrl+left", "f": "ctrl+right"}
"""What Alt+Left and Alt+Right come as from some terminals."""
_LOOK_SECONDS = 0.02
_PATIENCE_LOOKS = 100
_TURN_SECONDS = 0.01
"""For so long the app handles events before it gives others their turn."""
_HELD_LOOKS = 50
_NEVER_HELD = frozenset({"escape", "ctrl+c"})


class KeyPassed(Message, bubble=True):
    """Follows a key through the widgets; when it reaches the app, all of them are done with it."""

    def __init__(self, key: str = "") -> None:
        super().__init__()
        self.key = key


@runtime_checkable
class TakesEsc(Protocol):
    """A widget to which Esc and a letter may mean more than a key with Alt."""

    def takes_esc_before(self, key: str) -> bool:
        """Whether a key with Alt, such as ``alt+x``, is Esc and that key here, now."""
        ...


class KeysInOrder(App[Result]):
    """Passes on one key or paste at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._typed: deque[events.Key | events.Paste | events.AppBlur] = deque()
        self._follower: KeyPassed | None = None
        self._target: Widget | None = None
        self._patience: Timer | None = None
        self._looks = 0
        self._turn_ends = 0.0
        self._held_for: object | None = None
        self._held_looks = 0

    @property
    def on_its_way(self) -> object | None:
        """What is about to show something to which the next key belongs; None where nothing is."""
        return None

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseEvent | events.AppFocus | events.AppBlur):
            await self._take_turns()
        if isinstance(event, events.Key | events.Paste) and not self._screen_stack:
            return  # typed while the program ends: nothing is left to receive it
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._typed.append(event)
            if self._follower is None:
                await self._pass_on()
            else:
                self._keep_looking()
        elif isinstance(event, events.AppBlur) and self._typed:
            self._typed.append(event)  # a key typed before it must not bring the focus back
        else:
            await super().on_event(event)

    async def _take_turns(self) -> None:
        if (now := time.monotonic()) >= self._turn_ends:
            await asyncio.sleep(0)
            self._turn_ends = now + _TURN_SECONDS

    async def on_key_passed(self, message: KeyPassed) -> None:
        message.stop()
        if message is self._follower:
            self._looks = 0
            if self._typed:
                self._continue_soon(message)
                return
            await self._pass_on()
            if self._screen_stack:
                self._show_at_once()

    def watch_app_focus(self, is_focused: bool) -> None:
        """Focus what a screen wants focused, if it opened while the terminal had no focus."""
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

    def _continue_soon(self, passed: KeyPassed) -> None:
        """Pass on the next key behind what the last one has others do, such as move the focus.

        Enter in a line is told to its screen, which may close for it.
        """

        async def pass_on() -> None:
            if passed is self._follower:  # else that was done because the key took too long
                await self._pass_on()

        if passed.key == "enter":
            self.set_timer(_LOOK_SECONDS, pass_on)
        else:
            self.call_later(pass_on)

    async def _pass_on(self) -> None:
        """Pass on keys until one is under way, or none is left."""
        self._follower = self._target = None
        if not self._screen_stack:
            self._typed.clear()
        while self._typed and self._follower is None and self._screen_stack:
            if self._is_held(self._typed[0]):
                self._keep_looking()
                return
            self._take_apart()
            event = self._typed.popleft()
            await super().on_event(event)
            target = self.focused or self.screen
            key = event.key if isinstance(event, events.Key) else ""
            if event.is_forwarded and target.post_message(follower := KeyPassed(key)):
                self._follower, self._target = follower, target
        if not self._typed and self._patience is not None:
            self._patience.stop()
            self._patience = None

    def _keep_looking(self) -> None:
        """Look after the keys that wait until none does."""
        if self._patience is None:
            self._looks = 0
            self._patience = self.set_interval(_LOOK_SECONDS, self._look_after)

    def _is_held(self, event: events.Event) -> bool:
        """Whether a key waits for the screen that is about to open; never for long."""
        is_new = self.screen.stack_updates == 0  # not resumed yet: nothing there has the focus
        opener = self.screen if is_new else self.on_its_way
        if opener is not self._held_for:
            self._held_for, self._held_looks = opener, 0
        if opener is None or (isinstance(event, events.Key) and event.key in _NEVER_HELD):
            return False
        return self._held_looks < _HELD_LOOKS

    def _take_apart(self) -> None:
        """Make of the next key what it means where it goes: a key with Alt, or Esc and a key."""
        event = self._typed[0]
        if not isinstance(event, events.Key) or not event.key.startswith(_ALT):
            return
        if (character := event.character) is None:  # the terminal says that it is one key
            return
        name = character if character.isalnum() else event.key.removeprefix(_ALT)
        focused = self.focused
        if isinstance(focused, TakesEsc) and focused.takes_esc_before(event.key):
            keys = [events.Key("escape", "\x1b"), events.Key(name, character)]
        elif character in _MOVES:
            keys = [events.Key(_MOVES[character], None)]
        elif not character.isalnum():  # nothing is bound to it: as if it came alone
            keys = [events.Key(name, character)]
        else:
            return
        self._typed.popleft()
        self._typed.extendleft(reversed(keys))

    async def _look_after(self) -> None:
        """Continue where a key closed its own screen and its follower, or takes forever."""
        self._looks += 1
        self._held_looks += 1
        target = self._target
        if target is None or not target.is_attached or self._looks > _PATIENCE_LOOKS:
            self._looks = 0
            await self._pass_on()
