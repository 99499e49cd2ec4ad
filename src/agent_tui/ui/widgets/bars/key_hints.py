"""The keys of a screen in one line at its foot; each can be clicked instead of pressed."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from textual import events
from textual.actions import parse
from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.timer import Timer
from textual.widget import Widget

from agent_tui.core.text import first_line
from agent_tui.ui.commands import label_of
from agent_tui.ui.themes.themed import ThemedApp

_SAY_SECONDS = 6
_LAST = {"other_side": 1, "switch": 2, "show_keys": 3, "leave": 4, "close": 4}
"""Actions that lead elsewhere are shown last, and are the last to go when room is short."""
_FIRST = 2.5
"""What a screen is for is its first action: it goes behind the two that every screen has."""
_LETTERS = {"Space": " "}


@runtime_checkable
class OffersKeys(Protocol):
    """A screen some of whose keys at times only say why they do nothing."""

    def offers(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Whether an action would do something now: only then its key is shown."""
        ...


@runtime_checkable
class WordsKeys(Protocol):
    """A screen some of whose keys do different things at different times."""

    def word_of(self, action: str) -> str:
        """What the key of an action does just now; empty where that is what it always does."""
        ...


class KeyHints(Widget):
    """Reads the screen's own bindings that are meant to be shown; the way out is always there."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[int, int, str]] = []
        self._owners: dict[str, DOMNode] = {}
        self._said: Content | None = None
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        if isinstance(self.app, ThemedApp) and (told := self.app.just_told):
            self.say(told)
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def say(self, sentence: str, *, is_error: bool = False) -> None:
        """Show a sentence in place of the keys for some seconds."""
        self._said = Content.styled(
            first_line(sentence, 400), "$danger" if is_error else "$attention"
        )
        self.refresh()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_SAY_SECONDS, self.show_keys)

    def show_keys(self) -> None:
        """Show the keys again, whatever was said."""
        self._said = None
        self.refresh()

    def render(self) -> Content:
        self._places.clear()
        if self._said is not None:
            return self._said.truncate(self.size.width, ellipsis=True)
        parts: list[Content] = []
        used = 0
        for binding in self._fitting():
            key, word = self._key(binding), self._word(binding)
            width = len(key) + 1 + len(word)
            self._places.append((used, used + width, binding.action))
            parts.append(Content.assemble((key, "$user"), " ", (word, "$muted")))
            used += width + 2
        return Content("  ").join(parts)

    def _fitting(self) -> list[Binding]:
        """The bindings for which there is room, in the order of showing."""
        offered = self._offered()
        room = self.size.width + 2
        chosen: set[str] = set()
        ranks: dict[str, float] = {each.action: _LAST.get(each.action, 0) for each in offered}
        if offered:
            ranks[offered[0].action] = max(_FIRST, ranks[offered[0].action])
        for binding in sorted(offered, key=lambda each: -ranks[each.action]):
            room -= len(self._key(binding)) + len(self._word(binding)) + 3
            if room >= 0:
                chosen.add(binding.action)
        return [binding for binding in offered if binding.action in chosen]

    def _key(self, binding: Binding) -> str:
        own = binding.key_display or self.app.get_key_display(binding)
        return label_of(self.app, binding.id or "", own)

    def _word(self, binding: Binding) -> str:
        screen = self.screen
        now = screen.word_of(binding.action) if isinstance(screen, WordsKeys) else ""
        return now or binding.description

    def _offered(self) -> list[Binding]:
        screen = self.screen
        found: dict[str, Binding] = {}
        nearer = self._bindings_around_focus()
        # Not active_bindings: there a list's own Enter hides what the screen says of the key.
        for bindings in screen._bindings.key_to_bindings.values():
            for binding in bindings:
                _, name, parameters = parse(binding.action)
                if (around := nearer.get(binding.key)) is not None:
                    found.setdefault(around.action, around)
                    continue
                allowed = screen.check_action(name, parameters)
                is_off = binding.id is not None and self.app._keymap.get(binding.id) == "none"
                if not binding.show or not binding.description or self._is_typed(binding):
                    continue
                if isinstance(screen, OffersKeys):
                    allowed = allowed and screen.offers(name, parameters)
                if allowed and not is_off:
                    found.setdefault(binding.action, binding)
        return sorted(found.values(), key=lambda binding: _LAST.get(binding.action, 0))

    def _bindings_around_focus(self) -> dict[str, Binding]:
        """The shown bindings of what the focus is in: their keys do not reach the screen."""
        self._owners.clear()
        nearer: dict[str, Binding] = {}
        focused = self.screen.focused
        for node in focused.ancestors if focused is not None else ():
            if node is self.screen:
                break
            for key, binding in node._bindings:
                if binding.show and binding.description:
                    nearer.setdefault(key, binding)
                    self._owners.setdefault(binding.action, node)
        return nearer

    def _is_typed(self, binding: Binding) -> bool:
        """Whether the key of a hint would only write its letter into a field."""
        shown = self._key(binding)
        letter = _LETTERS.get(shown, shown)
        field = self.screen.focused
        return field is not None and len(letter) == 1 and field.check_consume_key(letter, letter)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for start, end, action in self._places:
            if offset is not None and start <= offset.x < end:
                await self.app.run_action(action, self._owners.get(action, self.screen))
