"""Whether the terminal draws pictures, and by which protocol, as far as its variables say."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Literal, TypeAlias

Graphics: TypeAlias = Literal["kitty", "sixel", "blocks"]
"""Kitty's protocol, Sixel, or half blocks of text, which every terminal with colours has."""

_KITTY_TERMS = ("xterm-kitty", "xterm-ghostty")
_KITTY_PROGRAMS = ("ghostty", "kitty")
_KITTY_VARIABLES = ("KITTY_WINDOW_ID", "KONSOLE_VERSION", "GHOSTTY_RESOURCES_DIR")
_SIXEL_TERMS = ("foot", "mlterm", "contour", "yaft")
_SIXEL_PROGRAMS = ("WezTerm", "iTerm.app", "mintty")
_USUAL_CELL = (8, 16)


def find_graphics(environment: Mapping[str, str] = os.environ) -> Graphics:
    """The protocol of the terminal; inside a multiplexer, which draws the cells itself, blocks."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if is_multiplexed(environment):
        return "blocks"
    if term in _KITTY_TERMS or program in _KITTY_PROGRAMS:
        return "kitty"
    if term.startswith(_SIXEL_TERMS) or program in _SIXEL_PROGRAMS:
        return "sixel"
    if any(name in environment for name in _KITTY_VARIABLES):
        return "kitty"
    return "blocks"


def is_multiplexed(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether tmux or screen stands between, whose answers are not the terminal's."""
    term = environment.get("TERM", "")
    return term.startswith(("tmux", "screen")) or "TMUX" in environment or "STY" in environment


def cell_pixels() -> tuple[int, int]:
    """How many pixels a cell is wide and high, or what is usual where the terminal never says."""
    try:
        import fcntl
        import struct
        import termios

        answer = fcntl.ioctl(sys.__stdout__ or 1, termios.TIOCGWINSZ, bytes(8))
        rows, columns, width, height = struct.unpack("HHHH", answer)
    except (ImportError, OSError, ValueError):
        return _USUAL_CELL
    if not (rows and columns and width >= columns and height >= rows):
        return _USUAL_CELL
    return width // columns, height // rows
