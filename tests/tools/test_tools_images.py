"""Pictures are told by their content and capped; text that looks like one is still text."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path

import PIL.Image
import pytest

from agent_tui.context.tokens.media import image_size
from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.tools.base import ToolContext
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES
from agent_tui.tools.read_file import ReadFile, ReadFileArguments


def png(width: int = 3, height: int = 2) -> bytes:
    """A black picture."""
    rows = zlib.compress((b"\0" + b"\0\0\0" * width) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


async def read(context: ToolContext, path: str) -> ToolResult:
    return await ReadFile().run(ReadFileArguments(path=path), context)


def drawn(form: str) -> bytes:
    """A small picture in a format of Pillow's."""
    file = BytesIO()
    PIL.Image.new("RGB", (4, 3)).save(file, form)
    return file.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_picture_is_told_by_its_content(
    context: ToolContext, workspace: Path, form: str
) -> None:
    data, kind = drawn(form), f"image/{form.lower()}"
    (workspace / "notes.txt").write_bytes(data)
    result = await read(context, "notes.txt")
    assert result.output == f"[notes.txt: {kind}, {len(data)} bytes]"
    assert [part.url.partition(",")[0] for part in result.images] == [f"data:{kind};base64"]


async def test_the_whole_picture_is_given(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.png").write_bytes(png(640, 480))
    (part,) = (await read(context, "a.png")).images
    assert image_size(part.url) == (640, 480)


async def test_a_picture_that_no_provider_takes_is_refused(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "big.png").write_bytes(png() + b"\0" * LARGEST_IMAGE_BYTES)
    with pytest.raises(ToolError, match=r"more than 3\.5 MB"):
        await read(context, "big.png")


@pytest.mark.parametrize(
    "data",
    [
        png(400, 400)[:-30],
        drawn("JPEG")[:-200],
        b"\xff\xd8\xff\xe0rest",
        b"GIF89a\x01\x00\x01\x00",
        b"RIFF\x10\x00\x00\x00WEBPVP8 rest",
    ],
    ids=["cut PNG", "cut JPEG", "no JPEG", "no GIF", "no WebP"],
)
async def test_a_picture_that_no_server_could_read_is_refused(
    context: ToolContext, workspace: Path, data: bytes
) -> None:
    (workspace / "a.png").write_bytes(data)
    with pytest.raises(ToolError, match=r"a\.png begins like a picture but cannot be decoded"):
        await read(context, "a.png")


async def test_text_with_the_name_of_a_picture_is_text(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a.png").write_text("no picture")
    result = await read(context, "a.png")
    assert (result.output, result.images) == ("1\tno picture", ())
