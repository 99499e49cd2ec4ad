"""What a server answered to a call, as bounded text for a model."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import MediaPart, ToolResult
from agent_tui.core.text import clean
from agent_tui.tools.blobs import BlobFolder
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES, image_kind, image_part

_MOST_IMAGES = 8


def read_result(answer: Any, limit: int) -> ToolResult:
    """A tool's result: its text, and words in place of what is no text; slow, for a thread.

    Args:
        answer: the library's CallToolResult.
        limit: how many characters the model is given at most; the middle is left out.
    """
    blocks, images = _read_blocks(answer.content)
    said = "\n".join(blocks)
    if not said.strip() and answer.structured_content is not None:
        said = json.dumps(answer.structured_content, ensure_ascii=False, default=str)
    text = cut_middle(clean(said), limit)
    return ToolResult(
        text or "[the tool returned nothing]", is_error=bool(answer.is_error), images=tuple(images)
    )


def _read_blocks(blocks: Any) -> tuple[list[str], list[MediaPart]]:
    """What stands for each part in words, and the pictures that a model can look at."""
    said: list[str] = []
    images: list[MediaPart] = []
    for block in blocks:
        match block.type:
            case "text":
                said.append(block.text)
            case "image" | "audio":
                size = len(block.data) * 3 // 4
                name = f"{block.type} {block.mime_type}, {size:,} bytes"
                why = ""
                if block.type == "image":
                    try:
                        images.append(_read_image(block.data, len(images)))
                    except ToolError as error:
                        why = f"; not shown: {error}"
                said.append(f"[{name}{why}]")
            case "resource_link":
                said.append(f"[resource {block.uri}]")
            case "resource":
                text = getattr(block.resource, "text", None)
                said.append(text if isinstance(text, str) else f"[resource {block.resource.uri}]")
            case other:
                said.append(f"[a part of type {other!s:.40}]")
    return said, images


def _read_image(encoded: str, before: int) -> MediaPart:
    """A picture, told by its content; raises ToolError for one that cannot be looked at."""
    if before == _MOST_IMAGES:
        raise ToolError(f"a result can show {_MOST_IMAGES} pictures.")
    if len(encoded) > LARGEST_IMAGE_BYTES * 4 // 3:
        raise ToolError(f"it is larger than {LARGEST_IMAGE_BYTES / 1e6:.1f} MB.")
    try:
        data = b64decode(encoded, validate=True)
    except ValueError:
        raise ToolError("it is not valid base64.") from None
    if not (kind := image_kind(data)):
        raise ToolError("it is not a PNG, JPEG, GIF or WebP picture.")
    return image_part(data, kind, "it")


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
