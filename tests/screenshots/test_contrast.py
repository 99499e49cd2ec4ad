"""The colours of every kept picture, measured where they stand: each word can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from textual.color import Color

from agent_tui.ui.themes.contrast import MARK, TEXT
from tests.ui.test_theme import contrast

PICTURES = sorted((Path(__file__).parents[2] / "screenshots").glob("*.svg"))
BEHIND_POPUPS = (
    *("aside", "block_menu", "command_palette", "confirm", "connect", "keys_of_a_list", "label"),
    *("mcp", "model", "theme_choice", "trust", "wide_folder"),
)
"""Pictures of screens that are dimmed, so that a popup stands out."""
PIXELS = ("picture",)
SHOWN = [each for each in PICTURES if not each.stem.endswith((*BEHIND_POPUPS, *PIXELS))]

_STYLE = re.compile(r"\.([\w-]*r\d+) \{ fill: (#\w{6})")
_RECT = re.compile(
    r'<rect fill="(#\w{6})" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" shape'
)
_TEXT = re.compile(r'<text class="([\w-]*r\d+)" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')
_CELL, _ABOVE_BASELINE = 12.2, 8
_MARKS = frozenset("●◐◇◆✗⊘≡↶✉\u276f▸○✻⌕")


def coloured_text(picture: str) -> Iterator[tuple[str, str, str]]:
    """Each piece of text in a picture, its colour, and that of the ground below its start."""
    styles = dict(_STYLE.findall(picture))
    grounds = [(fill, *map(float, place)) for fill, *place in _RECT.findall(picture)]
    for style, left, baseline, text in _TEXT.findall(picture):
        words = unescape(text).replace("\xa0", " ")
        x = float(left) + _CELL * (len(words) - len(words.lstrip()) + 0.5)
        y = float(baseline) - _ABOVE_BASELINE
        below = [g[0] for g in grounds if 0 <= x - g[1] < g[3] and 0 <= y - g[2] < g[4]]
        if below and style in styles and words.strip():
            yield words.strip(), styles[style], below[-1]


@pytest.mark.parametrize("picture", SHOWN, ids=lambda picture: picture.stem)
def test_every_word_and_mark_stands_out_from_its_ground(picture: Path) -> None:
    found = set(coloured_text(picture.read_text()))
    assert found
    for text, colour, ground in found:
        least = TEXT if any(map(str.isalnum, text)) else MARK if _MARKS & set(text) else 1.0
        assert contrast(Color.parse(colour), Color.parse(ground)) >= least, (text, colour, ground)
