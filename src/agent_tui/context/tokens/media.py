"""What pictures, sounds and films cost in tokens, and how to name one in words.

The rule for pictures is the one OpenAI states for high detail: fitted into 2048 x 2048, then the
shorter side to 768, then 170 tokens for each tile of 512 and 85 for the whole. A picture whose size
cannot be read counts as one of 1024 x 1024. Sound and film have no rule that holds: a constant.
"""

from __future__ import annotations

import struct
from binascii import Error, a2b_base64
from math import ceil

from agent_tui.core.messages import MediaPart

UNKNOWN_IMAGE_TOKENS = 765
OTHER_MEDIA_TOKENS = 1_000
_HEADER_CHARS = 64 * 1024
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def count_media(part: MediaPart) -> int:
    """The tokens that a picture, sound or film is counted as."""
    if part.kind != "image_url":
        return OTHER_MEDIA_TOKENS
    size = image_size(part.url)
    return count_image(*size) if size else UNKNOWN_IMAGE_TOKENS


def count_image(width: int, height: int) -> int:
    """The tokens of a picture of so many pixels, by the rule of the module."""
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    tiles = ceil(width * scale / 512) * ceil(height * scale / 512)
    return 85 + 170 * tiles


def describe_media(part: MediaPart) -> str:
    """A placeholder for people and briefs: ``[image 800x600, image/png, 12 kB]``."""
    kind = part.kind.removesuffix("_url")
    if not part.url.startswith("data:"):
        return f"[{kind} {part.url[:200]}]"
    header, _, _ = part.url[:_HEADER_CHARS].partition(",")
    size = image_size(part.url) if kind == "image" else None
    pixels = f" {size[0]}x{size[1]}" if size else ""
    media_type = header.removeprefix("data:").partition(";")[0]
    kilobytes = (len(part.url) - len(header)) * 3 // 4 / 1000
    return f"[{kind}{pixels}, {media_type or 'unknown type'}, {kilobytes:,.0f} kB]"


def image_size(url: str) -> tuple[int, int] | None:
    """Width and height of a picture in a ``data:`` URL (PNG, GIF, JPEG, WebP), from its header."""
    header, comma, data = url[:_HEADER_CHARS].partition(",")
    if not comma or not header.endswith(";base64"):
        return None
    try:
        raw = a2b_base64(data[: len(data) // 4 * 4])
        size = _size_in(raw)
    except (Error, ValueError, struct.error):
        return None
    return size if size and min(size) > 0 else None


def _size_in(raw: bytes) -> tuple[int, int] | None:
    if raw.startswith(b"\x89PNG"):
        return struct.unpack(">II", raw[16:24])
    if raw.startswith(b"GIF8"):
        return struct.unpack("<HH", raw[6:10])
    if raw.startswith(b"\xff\xd8"):
        return _jpeg_size(raw)
    if raw[8:16] == b"WEBPVP8X":
        padded = struct.unpack("<II", raw[24:27] + b"\0" + raw[27:30] + b"\0")
        return padded[0] + 1, padded[1] + 1
    if raw[8:16] == b"WEBPVP8 ":
        width, height = struct.unpack("<HH", raw[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 < len(raw) and raw[place] == 0xFF:
        marker, length = raw[place + 1], int.from_bytes(raw[place + 2 : place + 4], "big")
        if marker in _JPEG_SIZES:
            height, width = struct.unpack(">HH", raw[place + 5 : place + 9])
            return width, height
        place += 2 + length
    return None
