"""Prompts that are kept in files: skills (``/skill:name``) and commands of one's own (``/name``).

They come from the user's own folder, and from a project only where it is trusted. Nothing is read
through a link.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent_tui.agent.plain_files import read_plain_file
from agent_tui.agent.spec_fields import Node
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError, ToolError
from agent_tui.core.text import first_line, reveal

PROJECT_FOLDER = ".agents"
_MOST_FILES = 200
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}", re.IGNORECASE)
_HEAD = re.compile(r"\A---\r?\n(.*?)^---\s*$\r?\n?", re.DOTALL | re.MULTILINE)
_ARGUMENTS = re.compile(r"\$ARGUMENTS|\$(\d)")
_LONGEST_DESCRIPTION = 200


@dataclass(frozen=True, slots=True)
class PromptFile:
    """One prompt: ``name`` is what follows the slash."""

    name: str
    description: str
    text: str
    path: str

    def fill_in(self, argument: str) -> str:
        """The prompt for what was typed behind the name.

        ``$ARGUMENTS`` stands for all of it and ``$1`` to ``$9`` for its words; a prompt that names
        none of them gets it at the end.
        """
        words = argument.split()
        if not _ARGUMENTS.search(self.text):
            return f"{self.text}\n\n{argument}".strip()

        def value(found: re.Match[str]) -> str:
            if found[1] is None:
                return argument
            place = int(found[1]) - 1
            return words[place] if 0 <= place < len(words) else ""

        return _ARGUMENTS.sub(value, self.text).strip()


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """What was found, by name, and a sentence for each file that was not used."""

    prompts: dict[str, PromptFile]
    refused: tuple[str, ...] = ()


def find_prompt_files(own: Path, project: Sequence[Path] = ()) -> PromptFiles:
    """Every skill and command; of equal names the later folder wins.

    Args:
        own: the user's folder, with ``skills/`` and ``commands/`` in it.
        project: the folders of a trusted project, from its root down to the workspace.
    """
    prompts: dict[str, PromptFile] = {}
    refused: list[str] = []
    places = [(own, Path()), *((each, Path(PROJECT_FOLDER)) for each in project)]
    for root, below in places:
        for name, path in _files(root / below):
            try:
                prompts[name] = _read(root, below / path, name)
            except (ConfigError, ToolError, OSError, UnicodeDecodeError) as error:
                why = str(error).rstrip(".") or type(error).__name__
                refused.append(f"{reveal(str(root / below / path))} was not used: {why}.")
    return PromptFiles(prompts, tuple(refused))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The names and the paths, relative to a folder, of what looks like a prompt."""
    for name in _names(folder / "skills"):
        if os.path.lexists(folder / "skills" / name / "SKILL.md"):
            yield f"skill:{name}", Path("skills", name, "SKILL.md")
    for name in _names(folder / "commands"):
        if name.endswith(".md"):
            yield name.removesuffix(".md"), Path("commands", name)


def _names(folder: Path) -> list[str]:
    try:
        names = sorted(path.name for path in folder.iterdir())[:_MOST_FILES]
    except OSError:
        return []
    return [name for name in names if _NAME.fullmatch(name.removesuffix(".md"))]


def _read_fields(text: str, path: str) -> Mapping[str, Node]:
    from agent_tui.agent.narrow_yaml import read_yaml

    return read_yaml(text, path).mapping(path)


def _read(root: Path, path: Path, name: str) -> PromptFile:
    text = read_plain_file(root, path)
    head = _HEAD.match(text)
    fields = _read_fields(head[1], str(path)) if head else {}
    body = text[head.end() :].strip() if head else text.strip()
    if not body:
        raise ToolError("it is empty")
    described = fields.get("description", Node("", 1)).text(str(path))
    description = first_line(described or body, _LONGEST_DESCRIPTION)
    return PromptFile(name, description, body, reveal(str(root / path)))
