"""What a conversation is made of: messages, their parts, and calls of tools."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text, Markdown where a model wrote it."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkPart:
    """A model's reasoning; ``encrypted`` is an opaque signature that some providers want back."""

    think: str
    encrypted: str | None = None


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, sound or film by URL (``data:`` URLs included)."""

    kind: Literal["image_url", "audio_url", "video_url"]
    url: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A part of a type this program does not know; kept as it came."""

    fields: dict[str, Any]


Part: TypeAlias = TextPart | ThinkPart | MediaPart | UnknownPart
Content: TypeAlias = str | tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asked for; ``arguments`` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class DiffDisplay:
    """A change of one file as a unified diff, for people."""

    path: str
    diff: str


@dataclass(frozen=True, slots=True)
class CommandDisplay:
    """A shell command, whole, for people."""

    command: str
    cwd: str = ""
    exit_code: int | None = None


Display: TypeAlias = DiffDisplay | CommandDisplay


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back: text for the model, and optionally something better for people.

    ``rejected``: a person did not allow the call, so that nothing ran. ``images`` are for models
    that can see; the output names them for the others.
    """

    output: str
    is_error: bool = False
    display: Display | None = None
    rejected: bool = False
    images: tuple[MediaPart, ...] = ()


def text_of(content: Content) -> str:
    """The visible text of a content: thinking and media are left out."""
    if isinstance(content, str):
        return content
    return "".join(part.text for part in content if isinstance(part, TextPart))


def images_of(content: Content) -> tuple[MediaPart, ...]:
    """The pictures in a content."""
    if isinstance(content, str):
        return ()
    return tuple(
        part for part in content if isinstance(part, MediaPart) and part.kind == "image_url"
    )


def thinking_of(content: Content) -> str:
    """The reasoning in a content, or an empty string."""
    if isinstance(content, str):
        return ""
    return "".join(part.think for part in content if isinstance(part, ThinkPart))
