from __future__ import annotations

import base64
import struct

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.context.tokens.media import (
    UNKNOWN_IMAGE_TOKENS,
    count_image,
    count_media,
    describe_media,
    image_size,
)
from agent_tui.core.messages import MediaPart


def data_url(raw: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(raw).decode()}"


PNG = data_url(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 800, 600) + b"\0" * 20)
GIF = data_url(b"GIF89a" + struct.pack("<HH", 320, 200) + b"\0" * 20)
JPEG = data_url(
    b"\xff\xd8\xff\xe0\0\x10" + b"\0" * 14 + b"\xff\xc0\0\x11\x08" + struct.pack(">HH", 480, 640)
    + b"\0" * 20,
    "image/jpeg",
)  # fmt: skip


def test_the_size_of_a_picture_is_read_from_its_header() -> None:
    assert image_size(PNG) == (800, 600)
    assert image_size(GIF) == (320, 200)
    assert image_size(JPEG) == (640, 480)


def test_a_picture_costs_by_its_tiles() -> None:
    assert count_image(1024, 1024) == UNKNOWN_IMAGE_TOKENS == 765
    assert count_image(512, 512) == 255
    assert count_media(MediaPart("image_url", "https://x.y/z.png")) == UNKNOWN_IMAGE_TOKENS


def test_a_placeholder_names_kind_and_size() -> None:
    assert describe_media(MediaPart("image_url", PNG)) == "[image 800x600, image/png, 0 kB]"
    assert (
        describe_media(MediaPart("audio_url", "https://x.y/z.mp3")) == "[audio https://x.y/z.mp3]"
    )


@given(st.binary(max_size=80))
def test_no_picture_is_too_broken_to_count(raw: bytes) -> None:
    for start in (
        b"",
        b"\x89PNG",
        b"GIF8",
        b"\xff\xd8",
        b"RIFF\0\0\0\0WEBPVP8X",
        b"RIFF\0\0\0\0WEBPVP8 ",
    ):
        assert count_media(MediaPart("image_url", data_url(start + raw))) > 0
