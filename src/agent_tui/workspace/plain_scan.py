"""The scanner of a folder without git: names and times of every file, kept from scan to scan."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from agent_tui.core.file_changes import FileState, FolderIdentity, LeftOut
from agent_tui.workspace.births import identity_of, is_made_since
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folders import (
    Signature,
    is_there,
    make_private_folder,
    read_whole,
    replace_private_file,
    signature,
)
from agent_tui.workspace.limits import Limits
from agent_tui.workspace.reading import Reading
from agent_tui.workspace.scanning import LOST, STAGING_PREFIX, UNKNOWN, Sight, is_below

GENERATED = frozenset(
    {
        "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache",
        ".pytest_cache", ".ruff_cache", ".gradle", ".terraform", ".cache", ".hg", ".svn",
    }
)  # fmt: skip
"""Folders that programs fill, left out where no .gitignore says so."""


class PlainScanner:
    """Walks a folder; what has another signature than it had may have changed."""

    def __init__(self, root: str, folder: str, limits: Limits) -> None:
        self._root = root
        self._folder = folder
        self._limits = limits
        self._settled: dict[str, tuple[Signature | None, FileState]] = {}
        self._found: dict[str, Signature] = {}
        self._unknown_folders: set[str] = set()
        self._unknown: set[str] = set()
        self._folders: dict[str, bool] = {}
        self._looked_at = 0

    @property
    def _list(self) -> str:
        return os.path.join(self._folder, "files.json")

    def open(self) -> Sight:
        """Take up what an earlier run settled."""
        make_private_folder(self._folder)
        with suppress(FileNotFoundError, ValueError, TypeError, KeyError):
            for path, mark, kind, mode, digest, size in json.loads(read_whole(self._list)):
                state = FileState(kind, mode, digest, size)
                self._settled[path] = (tuple(mark) if mark else None, state)
        fresh = not is_there(self._list)
        sight = self.look()
        sight.fresh = fresh
        return sight

    def look(self) -> Sight:
        sight = Sight()
        self._found = {}
        before, self._folders = self._folders, {}
        now = time.time_ns()
        unknown: set[str] = set()
        pending = [""]
        bytes_ = 0
        while pending:
            folder = pending.pop()
            bytes_ += self._look_into(folder, pending, sight, unknown)
            if len(self._found) > self._limits.plain_files or bytes_ > self._limits.plain_bytes:
                raise NotCovered(
                    f"the folder is not a git repository and has more than"
                    f" {self._limits.plain_files:,} files or {self._limits.plain_bytes >> 20} MB"
                )
        for path, mark in self._found.items():
            settled = self._settled.get(path)
            if settled is None and is_below(path, self._unknown_folders):
                self._unknown.add(path)
            if settled is None or settled[0] != mark:
                sight.candidates.add(path)
        sight.candidates |= self._settled.keys() - self._found.keys()
        if before:
            sight.new_folders = dict(self._new_folders(before))
            lost = (path for path in before.keys() - self._folders.keys() if before[path])
            sight.left_out += [LeftOut(path, LOST) for path in sorted(lost)]
        self._looked_at = now
        self._unknown_folders = unknown
        sight.files = len(self._found)
        return sight

    def _new_folders(self, before: Mapping[str, bool]) -> Iterator[tuple[str, FolderIdentity]]:
        """The folders that came since the look before, one of the same name gone or not."""
        for folder in self._folders:
            place = os.path.join(self._root, folder)
            if folder not in before or is_made_since(place, self._looked_at):
                with suppress(FileNotFoundError, NotADirectoryError):
                    yield folder, identity_of(place)

    def _look_into(self, folder: str, pending: list[str], sight: Sight, unknown: set[str]) -> int:
        total = 0
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            why = f"it cannot be listed: {error.strerror or error}"
            if not folder:
                raise NotCovered(f"the folder {why[3:]}") from error
            sight.left_out.append(LeftOut(folder, why))
            unknown.add(folder)
            self._keep_below(folder)
            return 0
        self._folders[folder] = not found
        for entry in found:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.casefold() == ".git" or path.startswith(STAGING_PREFIX):
                continue
            with suppress(FileNotFoundError):
                if entry.is_dir(follow_symlinks=False):
                    self._enter(entry, path, pending, sight, unknown)
                else:
                    status = entry.stat(follow_symlinks=False)
                    self._found[path] = signature(status)
                    total += min(status.st_size, self._limits.file_bytes)
        return total

    def _enter(
        self,
        entry: os.DirEntry[str],
        path: str,
        pending: list[str],
        sight: Sight,
        unknown: set[str],
    ) -> None:
        if os.path.lexists(os.path.join(entry.path, ".git")):
            sight.nested.add(path)
            unknown.add(path)
        elif entry.name in GENERATED:
            sight.left_out.append(LeftOut(path, "programs generate this folder"))
            unknown.add(path)
        else:
            pending.append(path)

    def _keep_below(self, folder: str) -> None:
        """What cannot be looked at now is not gone."""
        for path, (mark, _) in self._settled.items():
            if mark is not None and is_below(path, [folder]):
                self._found[path] = mark

    def old_states(self, paths: Iterable[str]) -> Mapping[str, FileState | None]:
        states: dict[str, FileState | None] = {}
        for path in paths:
            if path in self._settled:
                states[path] = self._settled[path][1]
            else:
                states[path] = UNKNOWN if path in self._unknown else None
        return states

    def settle(self, readings: Mapping[str, Reading]) -> None:
        for path, reading in readings.items():
            self._unknown.discard(path)
            if reading.state is None:
                self._settled.pop(path, None)
            else:
                mark = reading.signature
                self._settled[path] = (mark, reading.state)
        if readings:
            self._write()

    def _write(self) -> None:
        rows = [
            [path, mark, state.kind, state.mode, state.hash, state.size]
            for path, (mark, state) in self._settled.items()
        ]
        replace_private_file(self._list, json.dumps(rows, separators=(",", ":")).encode())
