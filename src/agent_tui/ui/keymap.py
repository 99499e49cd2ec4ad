"""The keys of commands and screens in the settings: how they are shown, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from textual.keys import Keys
from textual.widgets import TextArea

from agent_tui.core.dataclass import dataclass
from agent_tui.core.text import format_count
from agent_tui.ui.commands import NO_KEY
from agent_tui.ui.commands.table import BY_NAME, COMMANDS

_KEY = re.compile(r"(?:(?:ctrl|alt|shift|super|meta|hyper)\+)*([a-z0-9_]+|\S)")
_KNOWN = {key.value.split("+")[-1] for key in Keys}
_OURS = frozenset(
    {"enter", "shift+enter", "alt+enter", "ctrl+enter", "ctrl+j", "tab", "space", "backspace"}
    | {"escape", "up", "down", "pageup", "pagedown", "ctrl+c", "ctrl+d", "ctrl+q"}
    | {"ctrl+r", "ctrl+v"}
)
"""Keys of the prompt and the app beside those that edit text."""
_MOST_TROUBLES = 8
"""So many are told one by one."""


ScreenKeys: TypeAlias = Mapping[str, Sequence[Mapping[str, Sequence[str]]]]
"""Each name of a screen's key, with all keys of each screen that has it."""
NO_SCREENS: ScreenKeys = {}


@dataclass(frozen=True, slots=True)
class Keymap:
    """What is used of the settings, and a sentence for each part that is not.

    Attributes:
        keys: the keys of commands by the ids of their bindings, as Textual takes them.
    """

    keys: Mapping[str, str]
    troubles: tuple[str, ...] = ()


def read_keymap(
    chosen: Mapping[str, str], places: Mapping[str, str], on_screens: ScreenKeys = NO_SCREENS
) -> Keymap:
    """Check keys by the names of their commands or screens.

    Args:
        chosen: the settings: a key by its name.
        places: where each of them stands.
        on_screens: the keys of screens by their names; needed where ``names_screens``.
    """
    keys: dict[str, str] = {}
    troubles: list[str] = []
    wanted = {name: _split(value) for name, value in chosen.items() if name in BY_NAME}
    for place, (name, value) in enumerate(chosen.items()):
        if len(troubles) == _MOST_TROUBLES:
            left = format_count(len(chosen) - place, "more key")
            troubles.append(f"settings: {left} not read. Fix those that are named first.")
            break
        if name not in BY_NAME and name in on_screens:
            trouble = _refuse_on_screen(name, chosen, on_screens)
            if not trouble:
                keys[name] = ",".join(_split(value))
        else:
            trouble = _refuse(name, value, on_screens) or _find_conflict(name, wanted)
        if trouble:
            troubles.append(f"{places.get(name, 'settings')}: {trouble}")
        elif name in BY_NAME:
            keys[BY_NAME[name].binding_id] = ",".join(_split(value))
    return Keymap(keys, tuple(troubles))


def names_screens(chosen: Mapping[str, str]) -> bool:
    """Whether more than keys of commands are named, so that all screens must be loaded."""
    return any(name not in BY_NAME for name in chosen)


def _split(value: str) -> list[str]:
    keys = (key.strip() for key in value.split(","))
    return [key if len(key) == 1 else key.lower() for key in keys if key]


def _refuse_on_screen(name: str, chosen: Mapping[str, str], on_screens: ScreenKeys) -> str:
    """Why a screen's key cannot be this one; empty if it can."""
    wanted = _split(chosen[name])
    if trouble := _refuse_spelling(name, wanted):
        return trouble
    for place in on_screens[name]:
        for other, known in place.items():
            keys = _split(chosen[other]) if other in chosen else known
            for key in wanted:
                if other != name and key in keys and key != NO_KEY:
                    return f"keys.{name} is {key}, which is the key of {other}. Choose another key."
    return ""


def _refuse_spelling(name: str, keys: Sequence[str]) -> str:
    for key in keys or [""]:
        found = _KEY.fullmatch(key)
        last = found[1] if found else ""
        if key != NO_KEY and (not last or (len(last) > 1 and last not in _KNOWN)):
            return f"keys.{name} expects a key such as f12, ctrl+k or alt+k, not {key!r}."
    return ""


def _refuse(name: str, value: str, on_screens: ScreenKeys) -> str:
    """Why a command's key cannot be this one; empty if it can."""
    if name not in BY_NAME:
        from difflib import get_close_matches

        near = get_close_matches(name, [*BY_NAME, *on_screens], n=1)
        guess = f"did you mean keys.{near[0]}?" if near else "see /keys."
        return f"keys.{name} names no command; {guess}"
    if trouble := _refuse_spelling(name, _split(value)):
        return trouble
    for key in _split(value):
        if len(key) == 1:
            return f"keys.{name} cannot be {key!r}, which is typed into the prompt; add alt+."
        if key in _OURS or key in _editing_keys():
            return f"keys.{name} cannot be {key}, which the prompt needs. Choose another key."
    return ""


def _find_conflict(name: str, wanted: Mapping[str, list[str]]) -> str:
    """Which other command has the key too; of two that both ask for it, the first gets it."""
    for other in _rivals(name, wanted):
        keys = wanted.get(other, _split(BY_NAME[other].key))
        for key in wanted[name]:
            if key in keys and key != NO_KEY:
                return f"keys.{name} is {key}, which is the key of {other}. Choose another key."
    return ""


def _rivals(name: str, wanted: Mapping[str, list[str]]) -> Iterator[str]:
    for each in wanted:
        if each == name:
            break
        yield each
    yield from (each.name for each in COMMANDS if each.key and each.name not in wanted)


def _editing_keys() -> set[str]:
    bindings: list[Any] = list(TextArea.BINDINGS)
    keys = {key for binding in bindings for key in binding.key.split(",")}
    return keys - {"ctrl+z"}  # our prompt undoes with Ctrl+_: this key suspends, as everywhere
