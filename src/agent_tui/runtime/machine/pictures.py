"""Pictures of a conversation, decoded within bounds, as what a terminal can be sent.

Pillow is loaded when the first picture is opened; everything here is slow, for a thread.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.tools.image_file import open_image

if TYPE_CHECKING:
    from PIL.Image import Image

_CHUNK = 4_096
"""What Kitty takes of a picture in one escape sequence."""
KITTY_ID = 7_411
"""The number of the one picture that is on the screen, for the terminal."""
KITTY_REMOVAL = f"\x1b_Ga=d,d=I,i={KITTY_ID},q=2\x1b\\"
"""Takes the picture off the screen, and out of the terminal's memory."""

Colour: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Picture:
    """An opened picture; ``width`` and ``height`` are pixels."""

    kind: str
    width: int
    height: int
    image: Image


def open_picture(url: str) -> Picture | None:
    """The picture in a ``data:`` URL; None for what cannot be shown, whatever is wrong with it."""
    head, _, encoded = url.partition(";base64,")
    if not head.startswith("data:image/"):
        return None
    try:
        image = open_image(b64decode(encoded))
        kind = image.format or ""
        return Picture(kind, image.width, image.height, image.convert("RGBA"))
    except Exception:  # a decoder of foreign bytes raises what it likes
        return None


def fit_pixels(picture: Picture, width: int, height: int) -> tuple[int, int]:
    """The size at which a picture fills that many pixels at most, never larger than it is."""
    scale = min(width / picture.width, height / picture.height, 1.0)
    return max(1, round(picture.width * scale)), max(1, round(picture.height * scale))


def read_pixels(
    picture: Picture, columns: int, rows: int, ground: Colour
) -> list[list[tuple[Colour, Colour]]]:
    """Rows of cells, each with its upper and its lower colour, on a background."""
    width, height = fit_pixels(picture, columns, rows * 2)
    flat = _flattened(picture, width, height, ground)
    data = flat.tobytes()
    pixels: list[Colour] = [
        (data[place], data[place + 1], data[place + 2]) for place in range(0, len(data), 3)
    ]
    blank = [ground] * width
    lines = [pixels[start : start + width] for start in range(0, len(pixels), width)]
    lines += [blank] * (len(lines) % 2)
    return [
        list(zip(upper, lower, strict=True))
        for upper, lower in zip(lines[::2], lines[1::2], strict=True)
    ]


def cells_of(picture: Picture, columns: int, rows: int, cell: tuple[int, int]) -> tuple[int, int]:
    """How many columns and rows a picture takes where a cell has so many pixels."""
    width, height = fit_pixels(picture, columns * cell[0], rows * cell[1])
    return min(columns, -(-width // cell[0])), min(rows, -(-height // cell[1]))


def write_kitty(picture: Picture, columns: int, rows: int, cell: tuple[int, int]) -> str:
    """The sequences that have Kitty's protocol draw a picture at the cursor, which stays."""
    width, height = fit_pixels(picture, columns * cell[0], rows * cell[1])
    across, down = cells_of(picture, columns, rows, cell)
    png = BytesIO()
    picture.image.resize((width, height)).save(png, "PNG")
    encoded = b64encode(png.getvalue()).decode("ascii")
    chunks = [encoded[start : start + _CHUNK] for start in range(0, len(encoded), _CHUNK)]
    first = f"a=T,f=100,i={KITTY_ID},c={across},r={down},C=1,q=2,"
    return "".join(
        f"\x1b_G{'' if number else first}m={int(number < len(chunks) - 1)};{chunk}\x1b\\"
        for number, chunk in enumerate(chunks)
    )


def write_sixel(
    picture: Picture, columns: int, rows: int, cell: tuple[int, int], ground: Colour
) -> str:
    """The sequence that draws a picture as Sixel at the cursor."""
    # Only this module: the package's public ones ask the terminal while they are imported.
    from textual_image._sixel import image_to_sixels

    width, height = fit_pixels(picture, columns * cell[0], rows * cell[1])
    return image_to_sixels(_flattened(picture, width, height, ground))


def _flattened(picture: Picture, width: int, height: int, ground: Colour) -> Image:
    """The picture in a size, its transparent parts on a background."""
    import PIL.Image

    small = picture.image.resize((width, height), PIL.Image.Resampling.BOX)
    flat = PIL.Image.new("RGB", small.size, ground)
    flat.paste(small, mask=small.getchannel("A"))
    return flat
