"""What a server answered to a call, as bounded text for a model."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from itertools import islice
from typing import Any

from agent_tui.core.messages import MediaPart, ToolResult
from agent_tui.core.text import clean
from agent_tui.tools.blobs import BlobFolder
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES, image_kind, image_part

_MOST_IMAGES = 8


def read_result(answer: Any, limit: int) -> ToolResult:
    """A tool's result: its text, and words in place of what is no text.

    Args:
        answer: the library's CallToolResult.
        limit: how many characters the model is given at most; the middle is left out.
    """
    said = "\n".join(_read_blocks(answer.content))
    if not said.strip() and answer.structured_content is not None:
        said = json.dumps(answer.structured_content, ensure_ascii=False, default=str)
    text = cut_middle(clean(said), limit)
    return ToolResult(
        text or "[the tool returned nothing]",
        is_error=bool(answer.is_error),
        images=tuple(islice(_read_images(answer.content), _MOST_IMAGES)),
    )


def _read_images(blocks: Any) -> Iterator[MediaPart]:
    """Pictures that a model can look at, told by their content; others are only named."""
    for block in blocks:
        if block.type == "image" and len(block.data) <= LARGEST_IMAGE_BYTES * 4 // 3:
            try:
                data = b64decode(block.data, validate=True)
            except ValueError:
                continue
            if kind := image_kind(data):
                yield image_part(data, kind, "the picture")


def _read_blocks(blocks: Any) -> Iterator[str]:
    for block in blocks:
        match block.type:
            case "text":
                yield block.text
            case "image" | "audio":
                size = len(block.data) * 3 // 4
                yield f"[{block.type} {block.mime_type}, {size:,} bytes]"
            case "resource_link":
                yield f"[resource {block.uri}]"
            case "resource":
                text = getattr(block.resource, "text", None)
                yield text if isinstance(text, str) else f"[resource {block.resource.uri}]"
            case other:
                yield f"[a part of type {other!s:.40}]"


def cut_middle(text: str, limit: int, blobs: BlobFolder | None = None) -> str:
    """The text, or its beginning and its end with a note between them: what, and where it is.

    Blocks where the whole text is kept in ``blobs``.
    """
    if len(text) <= limit:
        return text
    left_out = len(text) - limit
    path = blobs.keep(text) if blobs else ""
    where = f"; the whole text: read_file {path}" if path else ""
    note = f"\n[… {left_out:,} characters left out{where} …]\n"
    half = max(0, limit - len(note)) // 2
    return text[:half] + note + text[len(text) - half :]
