"""What a prompt names with ``@``: files, some of their lines, folders and pictures, sent along."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from agent_tui.config.reading import open_regular_file
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.core.messages import MediaPart, TextPart, ToolResult
from agent_tui.core.records import UserMessage
from agent_tui.core.text import reveal
from agent_tui.tools.background import run_to_its_end, threads
from agent_tui.tools.base import ToolContext
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES, UNSEEN, image_kind, image_part
from agent_tui.tools.list_folder import ListFolder, ListFolderArguments
from agent_tui.tools.read_file import ReadFile, ReadFileArguments
from agent_tui.tools.workspace import MissingPath, Workspace

_MENTION = re.compile(r"(?:^|(?<=[\s(\"'`]))@(?:\"([^\"\n]+)\"|([^\s\"@]+))", re.MULTILINE)
_LINES = re.compile(r"(.+):(\d+)(?:-(\d+))?")
_TRAILING = ".,;:!?)'`]"
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_MOST = 20


@dataclass(frozen=True, slots=True)
class Attached:
    """What was attached to a prompt.

    Attributes:
        names: what was attached, for people.
        refused: a sentence for each thing that is there and could not be attached.
        messages: how the model is told; none where nothing was attached.
    """

    names: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    messages: tuple[UserMessage, ...] = ()


async def attach(prompt: str, context: ToolContext, turn: int, *, sees_images: bool) -> Attached:
    """Read what a prompt names; a name that matches nothing is only a word.

    Files and folders are those of the workspace; a picture may lie anywhere, but one that is
    named as lying in the workspace is read as all of its files are, never through a link out of it.
    """
    found: list[tuple[str, ToolResult]] = []
    refused: list[str] = []
    for asked in dict.fromkeys(_mentions(prompt)):
        if len(found) == _MOST:
            refused.append(f"Only {_MOST} files can be attached to one prompt.")
            break
        try:
            if (result := await _read(asked, context)) is not None:
                found.append(result)
        except ToolError as error:
            refused.append(f"@{reveal(asked)} was not attached: {error}")
    if not found:
        return Attached(refused=tuple(refused))
    return _tell(found, tuple(refused), turn, sees_images=sees_images)


def _mentions(prompt: str) -> Iterator[str]:
    if "@" in prompt:
        for match in _MENTION.finditer(prompt):
            yield match[1] or match[2]


async def _read(asked: str, context: ToolContext) -> tuple[str, ToolResult] | None:
    """What a mention names, as it is or without the punctuation behind it; None for a word."""
    for name in dict.fromkeys((asked, asked.rstrip(_TRAILING))):
        lines = _LINES.fullmatch(name)
        for path, first, last in [(name, None, None), *([lines.groups()] if lines else [])]:
            if path and (result := await _read_path(path, first, last, context)) is not None:
                return name, result
    return None


async def _read_path(
    path: str, first: str | None, last: str | None, context: ToolContext
) -> ToolResult | None:
    try:
        if _is_picture_elsewhere(path, context):
            return await run_to_its_end(_read_picture(path))
        kind = await asyncio.to_thread(_kind_of, path, context)
        if not kind:
            return None
        if stat.S_ISDIR(kind):
            return await ListFolder().run(ListFolderArguments(path=path), context)
        arguments = ReadFileArguments(path=path)
        if first is not None:
            start = max(1, int(first))
            count = max(1, int(last or first) - start + 1)
            arguments = ReadFileArguments(path=path, start_line=start, line_count=count)
        return await ReadFile().run(arguments, context)
    except MissingPath:
        return None


def _is_picture_elsewhere(path: str, context: ToolContext) -> bool:
    """Whether a path names a picture, and not one in the workspace."""
    if not (path.startswith(("/", "~")) and path.lower().endswith(_PICTURES)):
        return False
    place = PurePosixPath(os.path.normpath(path))
    roots = context.workspace, os.path.realpath(context.workspace)
    return not any(place.is_relative_to(root) for root in roots)


def _kind_of(path: str, context: ToolContext) -> int:
    """The mode of an entry of the workspace; 0 where there is none."""
    with Workspace.of(context).locate(path) as place:
        try:
            return os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode
        except OSError:
            return 0


async def _read_picture(path: str) -> ToolResult | None:
    import aiofiles

    try:
        async with aiofiles.open(path, "rb", opener=_open_regular, executor=threads()) as file:
            data = await file.read(LARGEST_IMAGE_BYTES + 1)
    except (FileNotFoundError, RuntimeError, ValueError):
        return None  # there can be no file of that name
    except OSError as error:
        raise ToolError(f"it cannot be read: {error.strerror or error}.") from None
    return await asyncio.to_thread(_show_picture, data, path)


def _open_regular(path: str, _flags: int) -> int:
    return open_regular_file(Path(path).expanduser())


def _show_picture(data: bytes, path: str) -> ToolResult:
    if not (kind := image_kind(data)):
        raise ToolError("it is not a PNG, JPEG, GIF or WebP picture.")
    image = image_part(data, kind, reveal(path))
    return ToolResult(f"[{reveal(path)}: {kind}, {len(data):,} bytes]", images=(image,))


def _tell(
    found: list[tuple[str, ToolResult]], refused: tuple[str, ...], turn: int, *, sees_images: bool
) -> Attached:
    names = tuple(reveal(name) for name, _ in found)
    blocks = [f"<system>Attached to the prompt: {', '.join(names)}</system>"]
    images: list[MediaPart] = []
    for name, result in found:
        unseen = f"\n{UNSEEN}" if result.images and not sees_images else ""
        blocks.append(f"<attached name={reveal(name)!r}>\n{result.output}{unseen}\n</attached>")
        images += result.images if sees_images else ()
    text = TextPart("\n\n".join(blocks))
    message = UserMessage((text, *images), origin="reminder", turn=turn)
    return Attached(names, refused, (message,))
