"""The scanner of a git work tree: an index of our own, seeded from a copy of the user's.

The index holds what every path looked like when it was settled last. Contents come from the files
themselves; only what a path held before its first change is adopted from the user's objects.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import FileState, LeftOut
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folders import (
    is_there,
    make_private_folder,
    open_root,
    signature,
    status_of,
)
from agent_tui.workspace.git import Git, Repository
from agent_tui.workspace.limits import Limits
from agent_tui.workspace.oids import ObjectNames
from agent_tui.workspace.reading import Reading, read_entry
from agent_tui.workspace.scanning import STAGING_PREFIX, UNKNOWN, Sight, is_below
from agent_tui.workspace.seed import (
    LISTING,
    copy_index,
    excludes_file,
    unhide,
    write_settings,
)
from agent_tui.workspace.store import ContentStore

_RACY_SECONDS = 0.1
_GITLINK = "160000"


@dataclass(frozen=True, slots=True)
class _Settled:
    """A path as the index has it: git's name of its content, and its mode."""

    oid: str
    mode: str


class GitScanner:
    """Scans the part of a work tree that lies below a folder."""

    def __init__(
        self, repository: Repository, root: str, folder: str, store: ContentStore, limits: Limits
    ) -> None:
        self._repository = repository
        self._root = root
        self._folder = folder
        self._store = store
        self._limits = limits
        self._git = Git(folder, repository.top, root, limits.git_seconds)
        self._algorithm = repository.object_format()
        self._names = ObjectNames(os.path.join(store.folder, f"names-{self._algorithm}"))
        self._known: dict[str, FileState | None] = {}
        self._seen: dict[str, _Settled] = {}
        self._again: set[str] = set()
        self._skipped: dict[str, FileState] = {}
        self._unknown_folders: set[str] = set()
        self._settings: list[str] = []
        self._gitlinks: set[str] = set()
        self._room = limits.ignored_files
        self._resuming = False

    def open(self) -> Sight:
        """Make the index if there is none yet; returns what it has to take up first.

        Raises:
            NotCovered: git cannot be used here.
        """
        remove_stale_lock(self._folder)
        if excludes := excludes_file():
            self._settings.append(f"core.excludesFile={excludes}")
        fresh = not is_there(os.path.join(self._folder, "index"))
        make_private_folder(self._folder, durable=False)
        write_settings(self._folder, self._repository, self._algorithm)
        if fresh:
            return self._begin()
        self._gitlinks = self._find_gitlinks()
        self._resuming = True
        sight = self.look()
        self._resuming = False
        return sight

    def _begin(self) -> Sight:
        """Start from a copy of the user's index; it is read while the files are looked at."""
        if self._repository.top != self._root:
            self._require_not_ignored()
        copy_index(self._repository, self._folder)
        with ThreadPoolExecutor(1, thread_name_prefix="index") as thread:
            listing = thread.submit(self._git.run, *LISTING)
            sight = self.look()
            truth = unhide(self._git, self._repository, listing.result())
        self._gitlinks = truth.links
        if truth.hidden or truth.links:
            sight = self.look()
        sight.fresh = True
        sight.candidates |= truth.converted
        return sight

    def _find_gitlinks(self) -> set[str]:
        """The submodules: git names them, and never looks into them."""
        printed = self._git.run("ls-files", "-s", "-z", "--", ".")
        found = re.findall(rb"(?:^|\0)160000 [0-9a-f]+ [0-3]\t([^\0]+)", printed)
        return {os.fsdecode(name) for name in found}

    def _require_not_ignored(self) -> None:
        told = self._git.run("check-ignore", "-v", "--", ".", may_be=1, settings=self._settings)
        if told:
            raise NotCovered("the repository around this folder ignores it")

    def look(self) -> Sight:
        diff = self._git.start(
            "diff-files", "-z", "--relative", "--ignore-submodules=all", "--no-renames",
            "--no-ext-diff", "--", ".",
        )  # fmt: skip
        untracked = self._git.start(
            "ls-files", "-o", "-z", "--exclude-standard", settings=self._settings
        )
        ignored = self._git.start(
            "ls-files", "-o", "-i", "-z", "--exclude-standard", "--directory",
            settings=self._settings,
        )  # fmt: skip
        running = (diff, untracked, ignored)
        try:
            sight = Sight()
            self._take_changed(diff.output(), sight)
            unknown = self._take_untracked(_names(untracked.output()), sight)
            unknown |= self._take_ignored(_names(ignored.output()), sight)
        finally:
            for each in running:
                each.stop()
        for path in sight.candidates - self._seen.keys():
            if path not in self._known and is_below(path, self._unknown_folders):
                self._skipped.setdefault(path, UNKNOWN)
        self._unknown_folders = unknown
        sight.candidates |= self._again
        self._mark_ignored(sight)
        sight.files = self._count()
        if sight.files > self._limits.files:
            raise NotCovered(f"the folder has more than {self._limits.files:,} files")
        return sight

    def _take_changed(self, printed: bytes, sight: Sight) -> None:
        fields = _names(printed)
        self._seen.clear()
        for told, path in zip(fields[::2], fields[1::2], strict=True):
            old_mode, _, oid, _, status = told.lstrip(":").split(" ")
            if old_mode == _GITLINK:
                continue
            sight.candidates.add(path)
            if status[0] not in ("A", "U"):
                self._seen[path] = _Settled(oid, old_mode)

    def _take_untracked(self, paths: Iterable[str], sight: Sight) -> set[str]:
        nested = set()
        for path in paths:
            if path.startswith(STAGING_PREFIX):
                continue
            if path.endswith("/"):
                nested.add(path.rstrip("/"))
            else:
                sight.candidates.add(path)
        for path in self._gitlinks:
            if os.path.lexists(os.path.join(self._root, path, ".git")):
                nested.add(path)
        sight.nested |= nested
        return nested

    def _take_ignored(self, paths: Iterable[str], sight: Sight) -> set[str]:
        folders, files = set(), []
        for path in paths:
            if path.startswith(STAGING_PREFIX):
                continue
            if path.endswith("/"):
                folders.add(path.rstrip("/"))
            else:
                files.append(path)
        sight.left_out += [LeftOut(path, "git ignores the folder") for path in sorted(folders)]
        for path in sorted(files):
            if path in self._skipped or self._resuming or self._room <= 0:
                sight.left_out.append(LeftOut(path, "git ignores it"))
                self._skipped.setdefault(path, UNKNOWN)
                continue
            self._room -= 1
            sight.ignored.add(path)
            sight.candidates.add(path)
        return folders

    def _mark_ignored(self, sight: Sight) -> None:
        """Tell which of the candidates git ignores, those that the index holds included."""
        asked = sight.candidates - sight.ignored
        if asked and self._resuming:
            printed = self._git.run(
                "check-ignore", "-z", "--no-index", "--stdin", data=_joined(asked),
                may_be=1, settings=self._settings,
            )  # fmt: skip
            sight.ignored |= set(_names(printed))

    def _count(self) -> int:
        """How many files the index holds: its head says so."""
        try:
            with open(os.path.join(self._folder, "index"), "rb") as index:
                return int.from_bytes(index.read(12)[8:], "big")
        except FileNotFoundError:
            return 0

    def old_states(self, paths: Iterable[str]) -> Mapping[str, FileState | None]:
        states: dict[str, FileState | None] = {}
        adopted: list[str] = []
        for path in paths:
            if path in self._known:
                states[path] = self._known[path]
            elif path in self._skipped:
                states[path] = self._skipped[path]
            elif path in self._seen:
                adopted.append(path)
            else:
                states[path] = None
        missing = {
            self._seen[path].oid
            for path in adopted
            if not self._store.has(*self._names.find(self._seen[path].oid))
        }
        self._adopt(sorted(missing))
        for path in adopted:
            states[path] = self._state_of(path, self._seen[path])
        return states

    def _adopt(self, oids: list[str]) -> None:
        """Copy contents from the user's objects, while they are still there."""
        if not oids:
            return
        asked = "".join(f"{oid}\n" for oid in oids).encode()
        printed = self._git.run("cat-file", "--batch", data=asked)
        place = 0
        for oid in oids:
            end = printed.index(b"\n", place)
            words = printed[place:end].split(b" ")
            place = end + 1
            if len(words) != 3:  # "missing": somebody's gc was faster
                continue
            size = int(words[2])
            content = printed[place : place + size]
            place += size + 1
            if words[1] == b"blob":
                self._names.add(oid, self._store.put(content), size)

    def _state_of(self, path: str, settled: _Settled) -> FileState:
        digest, size = self._names.find(settled.oid)
        if not self._store.has(digest, size):
            return UNKNOWN
        if settled.mode == "120000":
            return FileState("link", 0o777, digest, size)
        with open_root(self._root) as root:
            status = status_of(root, path)
        mode = 0o755 if settled.mode == "100755" else 0o644
        if status is not None and bool(status.st_mode & 0o100) == bool(mode & 0o100):
            mode = status.st_mode & 0o7777  # git keeps one bit of it; the rest did not change
        return FileState("file", mode, digest, size)

    def settle(self, readings: Mapping[str, Reading]) -> None:
        gone, there = [], []
        for path, reading in readings.items():
            state, content = reading.state, reading.content
            self._again.discard(path)
            if state is None or content is None:
                gone.append(path)
                self._known[path] = state
                if state is not None:
                    self._skipped[path] = state
            else:
                there.append(path)
                self._skipped.pop(path, None)
                self._known[path] = state
                self._names.add(self._name(content), state.hash, len(content))
        self._names.flush()
        if gone:
            self._git.run("update-index", "-z", "--force-remove", "--stdin", data=_joined(gone))
        if there:
            self._add(there, readings)

    def _add(self, paths: list[str], readings: Mapping[str, Reading]) -> None:
        """Let the index have paths as they are; what changed since it was read is read again."""
        arguments = ("update-index", "-z", "--add", "--remove", "--replace", "--info-only")
        began = time.time()
        self._git.run(*arguments, "--stdin", data=_joined(paths))
        with open_root(self._root) as root:
            for path in paths:
                mark = readings[path].signature
                status = status_of(root, path)
                if status is None or mark is None or signature(status) != mark:
                    self._again.add(path)
                elif began - mark[4] / 1e9 < _RACY_SECONDS:  # so new that a write may not show
                    again = read_entry(root, path, self._limits.target_bytes)
                    if again.state != readings[path].state:
                        self._again.add(path)

    def _name(self, content: bytes) -> str:
        header = b"blob %d\0" % len(content)
        return hashlib.new(self._algorithm, header + content, usedforsecurity=False).hexdigest()


def remove_stale_lock(folder: str) -> None:
    """Remove the lock of an index of ours: whoever held it is dead, for we are it."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, "index.lock"))


def _names(printed: bytes) -> list[str]:
    return [os.fsdecode(name) for name in printed.split(b"\0") if name]


def _joined(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
