"""Where the words of a command lead, as the folders are now: what no rule can see by itself."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import field
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
_LONGEST_PATH = 4_000  # bytes; of a longer one the system tells nothing, but below a folder it fits
_DEEPEST_GLOB = 2
_ONE_CHARACTER = re.compile(r"\?|\[[^]]*\]")
_WILD = re.compile(r"[*?[]")


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
        compared = _Compared.of(words) if program == "diff" else None
        for word in words:
            for folder in folders:
                names = _expand(word, folder, written) if word in each.globs else (word,)
                if names is None or not all(
                    _is_inside(Path(folder, name), root, compared) for name in names
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
    """The files for which a glob stands; None where they are too many, or one is no plain name.

    And more than those: what one character is depends on the shell's language, and a glob that
    fits nothing stands for itself.
    """
    if sum(bool(_WILD.search(part)) for part in glob.split("/")) > _DEEPEST_GLOB:
        return None
    found = iglob(_ONE_CHARACTER.sub("*", glob), root_dir=folder)  # noqa: PTH207  # no hidden ones, as in the shell
    names = list(islice(found, _MOST_FILES + 1))
    odd = any(map(written.looks_outside, names))
    return None if odd or len(names) > _MOST_FILES else names


@dataclass(slots=True)
class _Compared:
    """What ``diff`` reads of the folders that it is given: their files, or all that is below.

    Attributes:
        is_deep: whether it reads the folders in them too.
        left: so many more names are looked at.
        seen: the folders that were looked at, for links may lead in a circle.
    """

    is_deep: bool
    left: int = _MOST_FILES
    seen: set[Path] = field(default_factory=set)

    @classmethod
    def of(cls, words: Sequence[str]) -> _Compared:
        """By the flags of a command; one that has a letter of theirs counts as them."""
        short = (word for word in words if word.startswith("-") and word[1:2] != "-")
        return cls("--recursive" in words or any("r" in word for word in short))

    def names_in(self, folder: Path) -> list[str] | None:
        """What a folder holds, once; None where not all of it can be looked at."""
        if folder in self.seen:
            return []
        self.seen.add(folder)
        try:
            with scandir(folder) as found:
                names = [each.name for each in islice(found, self.left + 1)]
        except OSError:
            return None
        self.left -= len(names)
        return names if self.left >= 0 else None


def _is_inside(path: Path, root: str, compared: _Compared | None) -> bool:
    """Whether a path is in the workspace, and no device; what is compared, with what it holds."""
    waiting = [(path, compared)]
    while waiting:
        path, reads = waiting.pop()
        place = Path(realpath(path))
        if not place.is_relative_to(root) or len(bytes(place)) > _LONGEST_PATH:
            return False
        try:
            kind = place.stat().st_mode
        except (OSError, ValueError):
            continue  # there is nothing yet
        if stat.S_ISDIR(kind):
            if reads is None:
                continue
            names = reads.names_in(place)
            if names is None:
                return False
            inner = reads if reads.is_deep else None
            waiting += [(place / name, inner) for name in names]
        elif not stat.S_ISREG(kind):
            return False
    return True
