"""What a project asks of the agent: its instruction files, read like any foreign file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from agent_tui.config.trust import project_root
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.core.text import clean, reveal
from agent_tui.tools.workspace import MissingPath, Workspace

PROJECT_FILE = "AGENTS.md"
LIMIT_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """One file that was taken: where it is, its text, and whether only its beginning was."""

    path: Path
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Instructions:
    """The files taken, farthest first, and a sentence for each that was not.

    ``untrusted``: what is there for agents, none of it taken because nobody trusts the project yet.
    """

    files: tuple[InstructionFile, ...] = ()
    refused: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()

    def describe(self, workspace: Path) -> str:
        """Which files were taken, or could not be without trust, in one line; empty for none."""
        if self.untrusted:
            return f"not used without trust: {', '.join(self.untrusted)}"
        shown = [
            f"{reveal(os.path.relpath(file.path, workspace))}{' (cut)' if file.is_cut else ''}"
            for file in self.files
        ]
        return ", ".join(shown)


def project_instructions(workspace: Path) -> Instructions:
    """The instruction files from the repository's root down to the workspace, nearest last.

    Only regular files inside the repository are read, never through a link: a clone can hold a link
    to anything that its owner can read. Outside a repository only the workspace's own counts.
    """
    here = Path(os.path.realpath(workspace))
    root = project_root(here)
    files: list[InstructionFile] = []
    refused: list[str] = []
    for folder in _folders(root, here):
        try:
            files.append(_read(root, folder / PROJECT_FILE))
        except MissingPath:
            continue
        except (ToolError, OSError, UnicodeDecodeError) as error:
            refused.append(_refusal(folder / PROJECT_FILE, error))
    return Instructions(tuple(files), tuple(refused))


def _folders(root: Path, workspace: Path) -> Sequence[Path]:
    parts = workspace.relative_to(root).parts
    return [root.joinpath(*parts[:count]) for count in range(len(parts) + 1)]


def _read(root: Path, path: Path) -> InstructionFile:
    inside = path.relative_to(root)
    with Workspace(root).locate(str(inside)) as place:
        if place.path != inside:
            raise ToolError("it is a symbolic link")
        with os.fdopen(place.open_file(), "rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    is_cut = len(data) > LIMIT_BYTES
    text = _decode(data[:LIMIT_BYTES], is_cut=is_cut)
    return InstructionFile(path, clean(text).strip(), is_cut)


def _decode(data: bytes, *, is_cut: bool) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if is_cut and error.reason == "unexpected end of data":
            return data[: error.start].decode("utf-8")
        raise


def _refusal(path: Path, error: Exception) -> str:
    why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
    return f"{reveal(str(path))} was not used: {why.rstrip('.')}."
