"""What the environment says of the terminal: whether it is dark, wants colours, is inside tmux."""

from __future__ import annotations

import os
from collections.abc import Mapping

_LIGHT = {"7", "9", "10", "11", "12", "13", "14", "15"}


def is_dark_terminal(environment: Mapping[str, str] = os.environ) -> bool:
    """Read ``COLORFGBG`` ("text;background"), which several terminals set; dark without it."""
    ground = environment.get("COLORFGBG", "").rpartition(";")[2].strip()
    return ground not in _LIGHT


def can_ask_terminal(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal may be asked for its background: some would print the question."""
    return environment.get("TERM", "dumb") not in ("linux", "dumb")


def wants_no_colour(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether ``NO_COLOR`` is set to anything: set to nothing it does not count (no-color.org)."""
    return bool(environment.get("NO_COLOR"))


def is_in_tmux(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether tmux stands between here and the terminal."""
    return bool(environment.get("TMUX"))
