"""What every key does on the screen below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from textual.actions import parse
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Static

from agent_tui.resources import stylesheet
from agent_tui.ui.commands import NO_KEY, spell_key
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup
from agent_tui.ui.widgets.lists.definitions import Definition, Definitions

_EVERYWHERE = ("Scroll", "Page Left", "Page Right", "Cursor ")
"""How the words of bindings begin that every scrolled area and every text field has."""
_OWN_KEYS = "A key with a name in the last column can be changed in config.toml under [keys]"
_CAPITAL = re.compile(r"shift\+[a-z]")
_FRAME_ROWS, _LOW_FRAME_ROWS = 8, 2
_SHORT = 16
"""Up to this length the words of keys are padded, so that their names stand in a column."""
_NAMED = {
    "up": "\u2191",
    "down": "\u2193",
    "left": "\u2190",
    "right": "\u2192",
    "home": "Home",
    "end": "End",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "enter": "Enter",
    "tab": "Tab",
    "escape": "Esc",
    "space": "Space",
    "backspace": "Backspace",
    "delete": "Delete",
    "underscore": "_",
} | {f"f{number}": f"F{number}" for number in range(1, 13)}


@runtime_checkable
class AnsweredByLetters(Protocol):
    """A question whose answers have keys that are no bindings, because they must be judged."""

    @property
    def answer_keys(self) -> Sequence[tuple[str, str]]:
        """The keys that answer it, and what each answers."""
        ...


class KeysScreen(Popup[None]):
    """The keys of a screen and of what has the focus there."""

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/keys.tcss")]
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        answers = below.answer_keys if isinstance(below, AnsweredByLetters) else ()
        keys = [*(Definition(*answer) for answer in answers), *describe_keys(below)]
        short = (len(key.meaning) for key in keys if len(key.meaning) <= _SHORT)
        widest = max(short, default=0)  # padded to a long one, every row would be two
        self._definitions = [replace(key, meaning=key.meaning.ljust(widest)) for key in keys]

    def compose(self) -> ComposeResult:
        with self.frame("Keys here", (("Esc", "back"),), id="keys"):
            with VerticalScroll():
                yield Definitions(self._definitions)
            yield Static(Content.styled(_OWN_KEYS, "$faint"), id="own-keys")

    def action_show_keys(self) -> None:
        """The same key closes them."""
        self.action_leave()

    def fit(self) -> None:
        around = _LOW_FRAME_ROWS if self.has_class("-low") else _FRAME_ROWS
        self.query_one(VerticalScroll).styles.max_height = max(1, self.room.height - around)


def describe_keys(screen: Screen[Any], *places: DOMNode) -> Iterator[Definition]:
    """All keys that work in some places of a screen, with what each action of theirs does.

    Without places one for each action of the whole screen, and of what has the focus there.
    """
    actions: dict[str, list[Binding]] = {}
    for place in places or (screen, screen.focused):
        if place is None:
            continue
        bindings_of_place = place._bindings.copy()
        bindings_of_place.apply_keymap(screen.app._keymap)
        of_place: dict[str, list[Binding]] = {}
        for bindings in bindings_of_place.key_to_bindings.values():
            for binding in bindings:
                if _is_told(binding) and _is_answered(place, binding):
                    of_place.setdefault(binding.action, []).append(binding)
        for action, keys in of_place.items():
            actions.setdefault(action, keys)
    for keys in actions.values():
        name = (keys[0].id or "").removeprefix("command.")
        known_as = f"  {name}" if name else ""
        words = keys[0].description
        meaning = f"{words[0].upper()}{words[1:]}"
        yield Definition(_spell(screen, keys if places else keys[:1]), meaning, aside=known_as)


def _is_told(binding: Binding) -> bool:
    words = binding.description
    is_ours = "." not in binding.action and words and not words.startswith(_EVERYWHERE)
    return binding.key != NO_KEY and bool(is_ours)


def _spell(screen: Screen[Any], bindings: Sequence[Binding]) -> str:
    """All keys of one action; a capital is named once, however a terminal reports it."""
    named = [each for each in bindings if not _CAPITAL.fullmatch(each.key)] or bindings
    return ", ".join(dict.fromkeys(_key(screen, each) for each in named))


def _is_answered(place: DOMNode, binding: Binding) -> bool:
    _, action, parameters = parse(binding.action)
    return bool(place.check_action(action, parameters))


def _key(screen: Screen[Any], binding: Binding) -> str:
    if binding.id in screen.app._keymap:
        return spell_key(binding.key)
    if binding.key_display is None and "+" in binding.key:
        return "+".join(_NAMED.get(part, part.capitalize()) for part in binding.key.split("+"))
    return binding.key_display or _NAMED.get(binding.key, screen.app.get_key_display(binding))
