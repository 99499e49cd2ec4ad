"""The keys of screens, each under a name by which the settings can give it another key."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from agent_tui.ui.widgets.prompt.prompt import Prompt

_ACTION = re.compile(r"(\w+)(?:\((.*)\))?")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS = {"-1": "back", "1": "on", "0": "first", "True": "yes", "False": "no"}


class Remappable:
    """A screen whose bindings are named after it: ``tree-branch``, ``statistics-group-on``."""

    def __init_subclass__(cls, **options: Any) -> None:
        own: list[Any] = cls.__dict__.get("BINDINGS", [])
        if own:
            named = [
                replace(each, id=key_name(cls.__name__, each.action))
                if isinstance(each, Binding) and each.id is None
                else each
                for each in own
            ]
            setattr(cls, "BINDINGS", named)  # noqa: B010 - the class is any screen's
        super().__init_subclass__(**options)


def key_name(screen: str, action: str) -> str:
    """What the settings call a key of a screen."""
    shown = _CAPITAL.sub("-", screen.removesuffix("Screen")).lower()
    found = _ACTION.fullmatch(action)
    verb, argument = (found[1], found[2]) if found else (action, None)
    if argument and argument[0] in "'\"":
        verb = argument.strip("'\"")
    elif argument:
        verb = f"{verb}-{_WORDS.get(argument, argument)}"
    return f"{shown}-{verb}".replace("_", "-")


@cache
def remappable_keys(
    conversation: type[DOMNode],
) -> dict[str, tuple[dict[str, tuple[str, ...]], ...]]:
    """Each name of a key that the settings may change, with all keys of each screen that has it.

    Slow the first time: it loads every screen over the conversation.
    """
    from agent_tui.ui import screens
    from agent_tui.ui.widgets.timeline.timeline import Timeline

    load_below(screens)
    found: dict[str, list[dict[str, tuple[str, ...]]]] = {}
    places: list[type[DOMNode]] = [*_below(Screen), conversation, Timeline, Prompt]
    for place in places:
        keys = _keys_of(place)
        for name in keys:
            if "-" in name:
                found.setdefault(name, []).append(keys)
    return {name: tuple(places) for name, places in found.items()}


def load_below(*packages: ModuleType) -> None:
    """Load all modules of some packages: those of the screens take 80 ms, so not on the loop."""
    from importlib import import_module
    from pkgutil import walk_packages

    for package in packages:
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def _below(base: type[Screen[Any]]) -> list[type[Screen[Any]]]:
    """Every screen below one whose keys have names."""
    found = []
    for each in base.__subclasses__():
        found += [each, *_below(each)] if issubclass(each, Remappable) else _below(each)
    return found


def _keys_of(place: type[DOMNode]) -> dict[str, tuple[str, ...]]:
    """The keys of a place by the names of their bindings; those without a name by their action."""
    keys: dict[str, list[str]] = {}
    owner = "editing." if issubclass(place, Prompt) else ""
    for key, bindings in place._merge_bindings().key_to_bindings.items():
        for binding in bindings:
            name = (binding.id or "").removeprefix("command.")
            keys.setdefault(name or f"({owner}{binding.action})", []).append(key)
    return {name: tuple(each) for name, each in keys.items()}
