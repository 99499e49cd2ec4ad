"""Which files a conversation is about, most important first, and what they hold now."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_tui.context.cache import FILE_LIMIT, FILE_SECONDS, BoundedCache
from agent_tui.core.arguments import read_arguments
from agent_tui.core.errors import ToolError
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message, ToolMessage

MAX_FILES = 5
MAX_LINES = 1_000
_SCANNED_CHARS = 8_000
_PATH_FIELDS = ("path", "file_path", "filename", "file", "notebook_path")
_CHANGING = re.compile(r"write|edit|patch|replace|create|insert|update", re.IGNORECASE)
PATH = re.compile(
    r"(?<![\w@/.:~-])(?:~/|\.{0,2}/)?(?:[\w@.-]+/)*[\w@-][\w@.-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/(])"
)
_KNOWN_ENDINGS = (
    "py pyi ts tsx js jsx mjs cjs json jsonl md rst txt toml yaml yml ini cfg conf sh bash zsh c h"
    " cc cpp hpp cs go rs java kt swift rb php pl lua sql html htm css scss less vue svelte xml svg"
    " csv tsv lock env tcss proto gradle mk cmake tf ipynb log diff patch png jpg jpeg gif pdf zig"
    " ex exs erl hs scala dart r jl nix dockerfile"
)
_ENDINGS = frozenset(_KNOWN_ENDINGS.split())

_reads: BoundedCache[tuple[str, tuple[int, ...]], tuple[str, str]] = BoundedCache(
    "file reads", FILE_LIMIT, seconds=FILE_SECONDS
)


@dataclass(frozen=True, slots=True)
class FileMention:
    """A file that a conversation speaks of; ``last`` is the index of the last such message."""

    path: str
    changed: bool
    mentions: int
    last: int


@dataclass(frozen=True, slots=True)
class FileExcerpt:
    """What a file holds now, cut to so many lines."""

    path: str
    text: str
    lines: int
    cut: bool

    def written(self) -> str:
        """The file as it stands in a summary message."""
        note = f' lines="1-{self.lines}"' if self.cut else ""
        return f'<file path="{self.path}"{note}>\n{self.text}\n</file>'


def paths_in(text: str) -> list[str]:
    """File names and paths in a text, in order, with repeats."""
    if "." not in text:
        return []
    found = []
    for match in PATH.finditer(text):
        path = match.group()
        if path.rpartition(".")[2].lower() in _ENDINGS:
            found.append(path)
    return found


def path_argument(arguments: str) -> str:
    """The file that a call is about, by its arguments; empty where it names none."""
    fields = read_arguments(arguments)
    for name in _PATH_FIELDS:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def is_change(tool: str) -> bool:
    """Whether a tool of that name changes files."""
    return _CHANGING.search(tool) is not None


def rank_files(messages: Sequence[Message]) -> list[FileMention]:
    """Every file that is mentioned: changed ones first, then by mentions, then the most recent."""
    found: dict[str, FileMention] = {}

    def note(path: str, index: int, *, changed: bool = False) -> None:
        old = found.get(path) or FileMention(path, changed=False, mentions=0, last=index)
        found[path] = FileMention(path, old.changed or changed, old.mentions + 1, index)

    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                path = path_argument(call.arguments)
                if path:
                    note(path, index, changed=is_change(call.name))
        if not isinstance(message, ToolMessage):
            for path in paths_in(text_of(message.content)[:_SCANNED_CHARS]):
                note(path, index)
    return sorted(found.values(), key=lambda f: (not f.changed, -f.mentions, -f.last, f.path))


def read_excerpts(
    files: Sequence[FileMention],
    workspace: Path,
    *,
    max_chars: int = 200_000,
    max_files: int = MAX_FILES,
    max_lines: int = MAX_LINES,
) -> list[FileExcerpt]:
    """The contents of the first few files that can be read inside the workspace.

    Symbolic links are followed inside the workspace only; what cannot be read as text, lies
    outside or no longer exists is passed over. Reads the disk: run it in a thread.
    """
    excerpts: dict[str, FileExcerpt] = {}
    for file in files:
        if len(excerpts) >= max_files or max_chars <= 0:
            break
        excerpt = _read_excerpt(file.path, workspace, max_chars, max_lines)
        if excerpt is not None and excerpt.path not in excerpts:
            excerpts[excerpt.path] = excerpt
            max_chars -= len(excerpt.text)
    return list(excerpts.values())


def _read_excerpt(path: str, workspace: Path, max_chars: int, max_lines: int) -> FileExcerpt | None:
    found = _read(path, workspace)
    if found is None:
        return None
    name, text = found
    lines = text.split("\n")
    shown = "\n".join(lines[:max_lines])
    if len(shown) > max_chars:
        shown = shown[:max_chars].rpartition("\n")[0]
    cut = len(shown) < len(text)
    return FileExcerpt(name, shown, shown.count("\n") + 1, cut) if shown.strip() else None


def _read(path: str, workspace: Path) -> tuple[str, str] | None:
    """The path inside the workspace and the text of a file, remembered while it is the same."""
    from agent_tui.tools.text_file import read_text_file
    from agent_tui.tools.workspace import Workspace

    try:
        with Workspace(workspace).locate(path) as place:
            status = os.lstat(place.name, dir_fd=place.folder)
            version = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
            name = str(place.path)
            return _reads.find((name, version), lambda: (name, read_text_file(place).text))
    except (ToolError, OSError):
        return None
