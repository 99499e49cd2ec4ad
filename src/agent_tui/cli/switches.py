"""Reads a line of nothing but switches: argparse costs 10 ms, for which the screen would wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agent_tui.cli.options import CHAT_OPTIONS, ENGINE_OPTIONS, Argument


def read_switches(words: list[str]) -> SimpleNamespace | None:
    """What ``chat_parser`` makes of these words; None where one of them is more than a switch."""
    declared = (*CHAT_OPTIONS, *ENGINE_OPTIONS)
    switches = {name: each for each in declared if _is_switch(each) for name in each.names}
    if not switches.keys() >= set(words):
        return None
    values = {_place_of(each): _default_of(each) for each in declared}
    return SimpleNamespace(**values | {_place_of(switches[word]): True for word in words})


def _is_switch(argument: Argument) -> bool:
    return argument.options.get("action") == "store_true"


def _place_of(argument: Argument) -> str:
    """The name under which a parser keeps it: that of the first long one, unless it is given."""
    long = next((name for name in argument.names if name.startswith("--")), argument.names[0])
    place: str = argument.options.get("dest", long.removeprefix("--").replace("-", "_"))
    return place


def _default_of(argument: Argument) -> Any:
    return argument.options.get("default", False if _is_switch(argument) else None)
