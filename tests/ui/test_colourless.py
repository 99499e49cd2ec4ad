"""Without colours, what they said is said by weight, dimness and reverse."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from agent_tui.ui.themes.colourless import Colourless

BLACK = Color.parse("#000000")


def shown(style: str) -> Style:
    (segment,) = Colourless().apply([Segment("word", Style.parse(style))], BLACK)
    assert segment.style is not None
    assert segment.style.color is segment.style.bgcolor is None
    return segment.style


@pytest.mark.parametrize(
    ("given", "attributes"),
    [
        ("bright_red on default", ""),
        ("#3a3a3a on #101010", "reverse"),
        ("white on default", "dim"),
        ("bold default on blue", "bold reverse"),
        ("black on bright_black", ""),
        ("italic default", "not italic underline"),
        ("italic white", "not italic dim"),
        ("strike bright_cyan", "strike"),
    ],
)
def test_a_colour_becomes_an_attribute_or_nothing(given: str, attributes: str) -> None:
    assert shown(given) == Style.parse(attributes)


def test_what_a_click_does_stays() -> None:
    clickable = Style.parse("bright_cyan") + Style.from_meta({"@click": "app.bell"})
    (segment,) = Colourless().apply([Segment("word", clickable)], BLACK)
    assert segment.style is not None
    assert segment.style.meta == {"@click": "app.bell"}


def test_a_control_is_handed_on() -> None:
    bell = Segment("\a", None, [(1,)])  # type: ignore[list-item]
    assert Colourless().apply([bell, Segment("plain")], BLACK) == [bell, Segment("plain")]


def test_the_parts_of_a_bar_and_what_says_what_they_are_have_a_texture_each() -> None:
    colours = ("bright_green", "bright_magenta", "bright_yellow", "bright_cyan")
    for sign in ("██████", "■ "):
        given = [Segment(sign, Style.parse(colour)) for colour in colours]
        drawn = [segment.text for segment in Colourless().apply(given, BLACK)]
        assert drawn[-1] == sign
        assert len(set(drawn)) == len(colours)
        assert {len(each) for each in drawn} == {len(sign)}
    (words,) = Colourless().apply([Segment("a █ b", Style.parse("bright_green"))], BLACK)
    assert words.text == "a █ b"
