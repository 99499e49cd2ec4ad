"""Pictures are told by their content and capped; text that looks like one is still text."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

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


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (png(), "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF89a\x01\x00\x01\x00", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 rest", "image/webp"),
    ],
)
async def test_a_picture_is_told_by_its_content(
    context: ToolContext, workspace: Path, data: bytes, kind: str
) -> None:
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


async def test_text_with_the_name_of_a_picture_is_text(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a.png").write_text("no picture")
    result = await read(context, "a.png")
    assert (result.output, result.images) == ("1\tno picture", ())
