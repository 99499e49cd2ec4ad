"""The names in every folder of a work tree: where nobody came or went, no listing is needed.

A folder's times change with every entry that is made, renamed or removed in it. They are read
before git is asked, so that whatever comes later shows in them the next time.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import TypeAlias

from agent_tui.core.file_changes import FolderIdentity
from agent_tui.workspace.births import identity_of, is_made_since
from agent_tui.workspace.scanning import is_below

_KEEP_TIMES = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "zfs", "f2fs", "bcachefs", "overlay"}
)
"""File systems of which it is known that a folder's times tell of every entry."""

_MOUNTS = "/proc/self/mountinfo"
_SURE_NS = 2_000_000_000
"""A folder that changed less than this ago may change again without another time."""

_MOST_NEW = 500
Mark: TypeAlias = tuple[int, int, int]
_Known: TypeAlias = tuple[Mark | None, str]


class FolderNames:
    """What was in each folder when it was looked at last.

    ``rules`` are files that say what to ignore, beside those in the folders themselves. ``new``
    are the folders that came until the last look, also under the name of one that went, and which
    these are; ``lost`` are those that went and had been empty.
    """

    def __init__(self, root: str, rules: Iterable[str] = ()) -> None:
        self._root = root
        self._folders: dict[str, _Known] = {}
        self._rules: dict[str, Mark | None] = {path: mark_of(path) for path in rules if path}
        self.new: dict[str, FolderIdentity] = {}
        self.lost: set[str] = set()
        self._trusted: bool | None = None
        self._looked_at = 0

    def refresh(self, outside: Collection[str]) -> list[str] | None:
        """Look at the folders that changed; returns the entries that are new.

        None means: only a whole listing tells. ``outside`` are folders that are not looked into.
        """
        self.new, self.lost = {}, set()
        if self._trusted is None:
            self._trusted = keeps_folder_times(self._root)
        if not self._trusted:
            return None
        is_first = not self._folders
        is_whole = not self._folders or self._have_rules_changed()
        fresh: list[str] = []
        pending = list(self._folders) or [""]
        now = time.time_ns()
        since, self._looked_at = self._looked_at, now
        while pending:
            folder = pending.pop()
            if folder in outside:
                continue
            before = self._folders.get(folder)
            try:
                changed = self._look_into(folder, now)
            except (FileNotFoundError, NotADirectoryError):
                if (gone := self._folders.pop(folder, None)) is not None and not gone[1]:
                    self.lost.add(folder)
                continue
            except OSError:
                self._folders.pop(folder, None)
                is_whole = True
                continue
            if not is_first and self._is_new(folder, before, since):
                with suppress(FileNotFoundError, NotADirectoryError):
                    self.new[folder] = identity_of(os.path.join(self._root, folder))
            for name in changed:
                path = f"{folder}/{name}" if folder else name
                if name.endswith("/"):
                    pending.append(path[:-1])
                    is_whole = True  # a folder came or went
                elif name in (".git", ".gitignore"):
                    is_whole = True
                else:
                    fresh.append(path)
        return None if is_whole or len(fresh) > _MOST_NEW else fresh

    def forget(self, outside: Collection[str], *, again: bool) -> None:
        """These folders turned out to be none of ours; ``again``: others have become ours."""
        if again:
            self._folders.clear()
        self.new = {path: it for path, it in self.new.items() if not is_below(path, outside)}
        for folder in outside:
            if folder in self._folders:
                below = f"{folder}/"
                for path in [each for each in self._folders if each.startswith(below)]:
                    del self._folders[path]
                del self._folders[folder]

    def _is_new(self, folder: str, before: _Known | None, since: int) -> bool:
        """Whether a folder came since the look before, one of the same name gone or not."""
        if before is None:
            return True
        is_same = self._folders[folder] is before
        return not is_same and is_made_since(os.path.join(self._root, folder), since)

    def _look_into(self, folder: str, now: int) -> set[str]:
        """The names that are new in a folder; of folders, those that are gone too, with a slash."""
        place = os.path.join(self._root, folder) if folder else self._root
        status = os.lstat(place)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(folder)
        mark = _mark(status)
        before = self._folders.get(folder)
        if before is not None and before[0] == mark:
            return set()
        names = _names_in(place)
        is_sure = max(status.st_ctime_ns, status.st_mtime_ns) < now - _SURE_NS
        self._folders[folder] = (mark if is_sure else None, "\0".join(names))
        if ".gitignore" in names:
            rules = os.path.join(place, ".gitignore")
            self._rules.setdefault(rules, mark_of(rules))
        known = set(before[1].split("\0")) if before is not None else set()
        gone = {name for name in known - names if name.endswith("/") or name == ".git"}
        return (names - known) | gone

    def _have_rules_changed(self) -> bool:
        changed = False
        for path, before in self._rules.items():
            if before != (now := mark_of(path)):
                self._rules[path] = now
                changed = True
        return changed


def keeps_folder_times(root: str) -> bool:
    """Whether the file systems at and below a folder are known to keep the times of folders."""
    nearest, kind = "", ""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as mounts:
            for place, each in map(_mount, mounts):
                is_inside = place == root or place.startswith(f"{root}/")
                if is_inside and each not in _KEEP_TIMES:
                    return False
                is_around = place == root or root.startswith(place.rstrip("/") + "/")
                if is_around and len(place) >= len(nearest):
                    nearest, kind = place, each
    except (OSError, ValueError, IndexError):
        return False
    return kind in _KEEP_TIMES


def _mount(line: str) -> tuple[str, str]:
    """The place of a mounted file system and its kind, from a line of mountinfo."""
    before, _, after = line.partition(" - ")
    place = before.split(" ")[4]
    for code, character in (("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")):
        place = place.replace(f"\\{code}", character)
    return place, after.split(" ")[0]


def _names_in(place: str) -> set[str]:
    with os.scandir(place) as entries:
        return {
            f"{entry.name}/"
            if entry.is_dir(follow_symlinks=False) and entry.name != ".git"
            else entry.name
            for entry in entries
        }


def _mark(status: os.stat_result) -> Mark:
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def mark_of(path: str) -> Mark | None:
    """What tells one state of a file of rules from another; None where there is none."""
    with suppress(OSError):
        return _mark(os.stat(path))
    return None
