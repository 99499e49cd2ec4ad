"""Pictures become what a terminal draws, and no foreign bytes do harm."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from io import BytesIO

import PIL.Image
import pytest

from agent_tui.runtime.machine.graphics import find_graphics
from agent_tui.runtime.machine.pictures import (
    cells_of,
    open_picture,
    read_pixels,
    write_kitty,
    write_sixel,
)
from tests.tools.test_tools_images import png

RED, BLUE, GROUND = (255, 0, 0), (0, 0, 255), (9, 9, 9)


def url_of(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{b64encode(data).decode('ascii')}"


def drawn(image: PIL.Image.Image, form: str = "PNG") -> str:
    """A picture as it stands in a message."""
    data = BytesIO()
    image.save(data, form)
    return url_of(data.getvalue(), form.lower())


def red_over_blue(width: int = 4, height: int = 4) -> PIL.Image.Image:
    image = PIL.Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (0, height // 2, width, height))
    return image


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_each_kind_that_a_model_takes_is_opened(form: str) -> None:
    picture = open_picture(drawn(red_over_blue(40, 20), form))
    assert picture is not None
    assert (picture.kind, picture.width, picture.height) == (form, 40, 20)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a.png",
        url_of(b"\x89PNG\r\n\x1a\nrest"),
        url_of(png()[:40]),
        url_of(b"<svg/>", "svg+xml"),
        "data:image/png;base64,%%%",
        drawn(PIL.Image.new("1", (9_000, 9_000))),
    ],
    ids=["elsewhere", "broken", "cut", "vector", "not base64", "enormous"],
)
def test_what_cannot_be_shown_is_no_picture(url: str) -> None:
    assert open_picture(url) is None


def test_a_cell_holds_an_upper_and_a_lower_pixel() -> None:
    picture = open_picture(drawn(red_over_blue()))
    assert picture is not None
    rows = read_pixels(picture, 80, 24, GROUND)
    assert rows == [[(RED, RED)] * 4, [(BLUE, BLUE)] * 4]  # never larger than it is


def test_an_odd_row_is_filled_and_what_is_transparent_shows_the_ground() -> None:
    picture = open_picture(drawn(PIL.Image.new("RGBA", (2, 1), (255, 0, 0, 0))))
    assert picture is not None
    assert read_pixels(picture, 80, 24, GROUND) == [[(GROUND, GROUND)] * 2]


def test_a_large_picture_fills_the_place_and_keeps_its_shape() -> None:
    picture = open_picture(drawn(red_over_blue(1_000, 500)))
    assert picture is not None
    rows = read_pixels(picture, 60, 40, GROUND)
    assert (len(rows[0]), len(rows)) == (60, 15)
    assert cells_of(picture, 60, 40, (10, 20)) == (60, 15)


def test_kitty_is_sent_the_picture_in_chunks() -> None:
    picture = open_picture(drawn(PIL.Image.effect_noise((300, 200), 90).convert("RGB")))
    assert picture is not None
    sent = write_kitty(picture, 30, 30, (10, 20))
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sent)
    assert "".join(f"\x1b_G{keys};{data}\x1b\\" for keys, data in parts) == sent
    assert parts[0][0].startswith("a=T,f=100,")
    assert "c=30,r=10," in parts[0][0]
    assert [keys[-3:] for keys, _ in parts] == ["m=1"] * 0 + [
        f"m={int(n < len(parts) - 1)}" for n in range(len(parts))
    ]
    assert len(parts) > 1
    assert all(len(data) <= 4_096 for _, data in parts)
    whole = PIL.Image.open(BytesIO(b64decode("".join(data for _, data in parts))))
    assert whole.size == (300, 200)


def test_sixel_is_one_sequence_of_the_size_of_the_place() -> None:
    picture = open_picture(drawn(red_over_blue(300, 200)))
    assert picture is not None
    sent = write_sixel(picture, 10, 30, (10, 20), GROUND)
    assert re.fullmatch(r"\x1bP[0-9;]*q[^\x1b]*\x1b\\", sent)
    assert "100;67" in sent


@pytest.mark.parametrize(
    ("variables", "graphics"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "sixel"),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, "blocks"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/s,1,0"}, "blocks"),
        ({"TERM": "xterm-256color"}, "blocks"),
        ({}, "blocks"),
    ],
)
def test_the_terminal_is_known_by_its_variables(variables: dict[str, str], graphics: str) -> None:
    assert find_graphics(variables) == graphics
