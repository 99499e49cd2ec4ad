"""Pictures that a model can look at: told by their content, never by their name.

One that cannot be decoded is refused here: a server would refuse it too, and with it each later
request of the session.
"""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import MediaPart

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_IMAGE_BYTES = 3_500_000
"""What providers take of one picture, before it is encoded."""
_MOST_PIXELS = 50_000_000
_KINDS = ("PNG", "JPEG", "GIF", "WEBP")
UNSEEN = "[The model in use cannot see pictures; the user can choose another model.]"
"""What a model is told in place of a picture that it cannot see."""


class TooManyPixels(Exception):
    """A picture of so many pixels would take too much memory; the text is its size."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__(f"{width:,} x {height:,}")


def image_kind(data: bytes) -> str:
    """The media type of a PNG, JPEG, GIF or WebP picture; empty for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


def image_part(data: bytes, kind: str, shown: str) -> MediaPart:
    """The picture as a part of a message; slow, for a thread.

    Raises:
        ToolError: it is larger than providers take, or damaged.
    """
    if len(data) > LARGEST_IMAGE_BYTES:
        raise ToolError(
            f"{shown} is a picture of {len(data) / 1e6:.1f} MB, more than "
            f"{LARGEST_IMAGE_BYTES / 1e6:.1f} MB. Make it smaller with run_command, then read that."
        )
    _check_decodes(data, shown)
    return MediaPart("image_url", f"data:{kind};base64,{b64encode(data).decode('ascii')}")


def open_image(data: bytes) -> Image:
    """The first picture of a file, not decoded yet; slow, for a thread.

    Raises:
        TooManyPixels: it would take too much memory.
        Exception: whatever a decoder makes of foreign bytes.
    """
    import warnings

    import PIL.Image

    # The check below is stricter, and a warning would be printed on the screen.
    warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
    image = PIL.Image.open(BytesIO(data), formats=_KINDS)
    if image.width * image.height > _MOST_PIXELS:
        raise TooManyPixels(image.width, image.height)
    return image


def _check_decodes(data: bytes, shown: str) -> None:
    try:
        open_image(data).load()
    except TooManyPixels as error:
        raise ToolError(
            f"{shown} has {error} pixels, more than {_MOST_PIXELS // 1_000_000} million. Make it "
            "smaller with run_command, then read that."
        ) from None
    except Exception:  # a decoder of foreign bytes raises what it likes
        raise ToolError(
            f"{shown} begins like a picture but cannot be decoded: it is damaged or cut off."
        ) from None
