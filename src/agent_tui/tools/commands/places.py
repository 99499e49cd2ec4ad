"""Where the words of a command lead, as the folders are now: what no rule can see by itself."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from glob import iglob
from itertools import islice
from os import scandir
from os.path import realpath
from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.tools.commands.shell_words import read_commands

_OUTSIDE = re.compile(r"(?:^|[=:,@])(?:/|~)|(?:^|/|[=:,@])\.\.(?:/|$)|^[A-Za-z]+://")
_MOST_FILES = 2_000
_MOST_FOLDERS = 8
_DEEPEST_GLOB = 2


@dataclass(frozen=True, slots=True)
class Places:
    """Where words of a command lead.

    Attributes:
        outside: words that lead out of the workspace, whatever they look like.
        roots: how the workspace is called by words that begin with a slash.
    """

    outside: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()

    def is_root(self, word: str) -> bool:
        """Whether a word is the workspace itself."""
        return word.rstrip("/") in self.roots

    def looks_outside(self, word: str) -> bool:
        """Whether a word is written like something outside of the workspace."""
        for root in self.roots:
            if word == root or word.startswith(f"{root}/"):
                return looks_outside(f".{word[len(root) :]}")
        return looks_outside(word)


ANYWHERE = Places()
"""Where nothing is known of the folders: what looks as if it were inside counts as inside."""


def looks_outside(word: str) -> bool:
    """Whether a word, or what stands behind a sign in it, names what is in no folder here."""
    return bool(_OUTSIDE.search(word))


def find_places(command: str, workspace: Path) -> Places:
    """Where the words of a command lead; blocks.

    ``cd`` may fail, or end with its part of a pipe, so a word is looked for in every folder where
    the command could be by then. Nothing where it cannot be read: no rule allows that one.
    """
    root = realpath(workspace)
    written = Places(roots=frozenset({root, str(workspace)} - {"/"}))
    folders, found = {root}, set[str]()
    for each in read_commands(command) or ():
        program, *words = each.words
        for word in words:
            for folder in folders:
                names = _expand(word, folder, written) if word in each.globs else (word,)
                if names is None or not all(
                    _is_inside(Path(folder, name), root, compares=program == "diff")
                    for name in names
                ):
                    found.add(word)
        if program == "cd" and len(words) == 1:
            folders |= {realpath(Path(folder, words[0])) for folder in folders}
            if len(folders) > _MOST_FOLDERS:
                return Places(frozenset(_words_of(command)), written.roots)
    return Places(frozenset(found), written.roots)


def _words_of(command: str) -> Iterator[str]:
    for each in read_commands(command) or ():
        yield from each.words


def _expand(glob: str, folder: str, written: Places) -> list[str] | None:
    """The files for which a glob stands; None where they are too many, or one is no plain name."""
    if sum("*" in part for part in glob.split("/")) > _DEEPEST_GLOB:
        return None
    found = iglob(glob, root_dir=folder)  # noqa: PTH207  # no hidden ones, as in the shell
    names = list(islice(found, _MOST_FILES + 1))
    odd = any(map(written.looks_outside, names))
    return None if odd or len(names) > _MOST_FILES else names


def _is_inside(path: Path, root: str, *, compares: bool) -> bool:
    """Whether a path is in the workspace, and no device; what is compared, with its files."""
    place = Path(realpath(path))
    if not place.is_relative_to(root):
        return False
    try:
        kind = place.stat().st_mode
    except (OSError, ValueError):
        return True  # there is nothing yet
    if stat.S_ISDIR(kind):
        return not compares or _holds_only_its_own(place, root)
    return stat.S_ISREG(kind)


def _holds_only_its_own(folder: Path, root: str) -> bool:
    """Whether no file of a folder is a link that leaves the workspace: ``diff`` would read it."""
    try:
        with scandir(folder) as found:
            names = [each.name for each in islice(found, _MOST_FILES + 1)]
    except OSError:
        return False
    return len(names) <= _MOST_FILES and all(
        _is_inside(folder / name, root, compares=False) for name in names
    )
