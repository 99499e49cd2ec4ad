"""Pictures that a model can look at: told by their content, never by their name."""

from __future__ import annotations

from base64 import b64encode

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import MediaPart

LARGEST_IMAGE_BYTES = 3_500_000
"""What providers take of one picture, before it is encoded."""
UNSEEN = "[The model in use cannot see pictures; the user can choose another with /model.]"
"""What a model is told in place of a picture that it cannot see."""


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
    """The picture as a part of a message.

    Raises:
        ToolError: it is larger than providers take.
    """
    if len(data) > LARGEST_IMAGE_BYTES:
        raise ToolError(
            f"{shown} is a picture of {len(data) / 1e6:.1f} MB, more than "
            f"{LARGEST_IMAGE_BYTES / 1e6:.1f} MB. Make it smaller with run_command, then read that."
        )
    return MediaPart("image_url", f"data:{kind};base64,{b64encode(data).decode('ascii')}")
