"""Carrying a revert of files out: wholly or not at all, whatever happens in between.

New contents are prepared in a folder of the workspace and flushed; then a journal says that they
will take their places; then they do, each by one rename. A crash before the journal says so leaves
everything as it was; after it, the next start finishes. An error on the way rolls back. Every path
is reached through open folders, and is checked to be as planned just before it is replaced.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_tui.core.errors import AgentTuiError, StorageError
from agent_tui.core.file_changes import FileChange, FileState, FolderIdentity
from agent_tui.workspace.births import identity_of, is_told, wait_for_tick
from agent_tui.workspace.capture import count_lines
from agent_tui.workspace.errors import NotCovered, PathChanged, explain, reason
from agent_tui.workspace.folders import (
    FOLDER,
    NEW_FILE,
    close,
    count_missing_folders,
    is_there,
    open_parent,
    open_root,
    sync_files,
    write_all,
)
from agent_tui.workspace.journal import Journal, read_journal, remove_journal, write_journal
from agent_tui.workspace.limits import DEFAULT_LIMITS
from agent_tui.workspace.placing import Spot, changed, is_as, state_of
from agent_tui.workspace.plan import Action
from agent_tui.workspace.reading import read_entry
from agent_tui.workspace.scanning import STAGING_PREFIX
from agent_tui.workspace.store import ContentStore

_UNFINISHED = "unfinished"
"""The name in the staging folder of what is being written again."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of a revert that was cut off.

    Attributes:
        outcome: whether it was finished, or everything is as it was before it.
        changes: what it changed. ``left``: paths that somebody changed meanwhile, left alone.
        about: what the record in the log is to say besides.
        folders: those that it made, and which these are.
    """

    outcome: Literal["finished", "rolled back"]
    changes: tuple[FileChange, ...]
    left: tuple[str, ...]
    about: Mapping[str, Any]
    folders: Mapping[str, FolderIdentity] = field(default_factory=dict)


class Restore:
    """One revert of files. Blocks; the caller writes its record between ``run`` and ``finish``.

    Attributes:
        folders: those that ``run`` made, and which these are.
    """

    def __init__(self, root: str, store: ContentStore) -> None:
        self.folders: Mapping[str, FolderIdentity] = {}
        self._root = os.path.realpath(root)
        self._store = store
        self._journal_path = store.journal_path

    def run(
        self, actions: Sequence[Action], operation: str, about: Mapping[str, Any]
    ) -> tuple[FileChange, ...]:
        """Make every change, or none; returns what was changed.

        Raises:
            PathChanged, NotCovered, StorageError: nothing was changed.
        """
        try:
            if is_there(self._journal_path):
                raise NotCovered("an earlier revert was interrupted; open the session again")
            with self._store.locked(alone=True), open_root(self._root) as root:
                changes = self._verify(root, actions)
                staging = f"{STAGING_PREFIX}{operation}"
                folders = _folders_that_go(actions)
                journal = Journal("prepare", self._root, staging, changes, about, folders)
                self._prepare(root, journal, [action.content for action in actions])
                self._commit(root, journal.at("commit"))
                self.folders = _folders_made(root, changes)
        except OSError as error:
            raise explain(error, "Cannot revert files") from error
        return changes

    def finish(self) -> None:
        """The record is in the log: forget what would be needed to go back."""
        with suppress(OSError), self._store.locked(alone=True):
            journal = read_journal(self._journal_path)
            if journal is not None:
                with open_root(self._root) as root:
                    self._clear(root, journal)

    def undo(self) -> None:
        """What was to happen together with it did not: put everything back as it was.

        Raises:
            StorageError: it could not be put back now; the next start decides.
        """
        with self._store.locked(alone=True), open_root(self._root) as root:
            journal = read_journal(self._journal_path)
            if journal is not None:
                self._give_up(root, journal)

    def recover(self) -> Recovery | None:
        """Finish or roll back what a crash cut off; None where nothing was.

        After a recovery that finished, call ``finish`` when its record is in the log.

        Raises:
            NotCovered, StorageError: it cannot be done now; the journal stays.
        """
        try:
            if not is_there(self._journal_path):
                return None
            with self._store.locked(alone=True):
                journal = read_journal(self._journal_path)
                if journal is None:
                    return None
                if journal.root != self._root:
                    raise NotCovered(f"a revert of files in {journal.root} was interrupted")
                with open_root(self._root) as root:
                    return self._recover(root, journal)
        except OSError as error:
            raise StorageError(reason(error)) from error

    def _recover(self, root: int, journal: Journal) -> Recovery:
        if journal.phase == "commit":
            done, left = _Replacing(root, journal, self._store).finish()
            made = _folders_made(root, done)
            return Recovery("finished", done, left, journal.about, made)
        if journal.phase == "rollback":
            left = self._roll_back(root, journal)
            return Recovery("rolled back", (), left, journal.about)
        self._clear(root, journal)
        return Recovery("rolled back", (), (), journal.about)

    def _verify(self, root: int, actions: Sequence[Action]) -> tuple[FileChange, ...]:
        """Everything is as it was planned on, and both sides of it are in the store."""
        changes = []
        for action in actions:
            reading = read_entry(root, action.path, DEFAULT_LIMITS.target_bytes)
            if not is_as(reading.state, action.expected):
                raise PathChanged(
                    f"{action.path} changed since the preview; nothing was reverted. Try again."
                )
            now = reading.content or b""
            if reading.state is not None:
                self._store.put(now)
            if action.target is not None:
                self._store.put(action.content)
            lines = count_lines(now, action.content)
            folders = len(action.folders)
            if action.target is not None:  # those that it will make
                folders = 0 if reading.state else count_missing_folders(root, action.path)
            changes.append(FileChange(action.path, reading.state, action.target, *lines, folders))
        self._store.flush()
        return tuple(changes)

    def _prepare(self, root: int, journal: Journal, contents: Sequence[bytes]) -> None:
        self._store.make_durable()
        write_journal(self._journal_path, journal)
        try:
            os.mkdir(journal.staging, 0o700, dir_fd=root)
            folder = os.open(journal.staging, FOLDER, dir_fd=root)
            try:
                for number, change in enumerate(journal.changes):
                    if change.new is not None:
                        _stage(folder, str(number), change.new, contents[number])
                sync_files(_staged_files(journal.changes), folder)
                os.fsync(folder)
            finally:
                close(folder)
            os.fsync(root)
        except (OSError, AgentTuiError):
            self._clear(root, journal)
            raise

    def _commit(self, root: int, journal: Journal) -> None:
        try:
            write_journal(self._journal_path, journal)
        except OSError:
            # Which of the two journals is there now is not known: say that it goes back.
            self._give_up(root, journal)
            raise
        replacing = _Replacing(root, journal, self._store)
        try:
            replacing.replace_all()
        except (OSError, AgentTuiError):
            self._give_up(root, journal)
            raise

    def _give_up(self, root: int, journal: Journal) -> None:
        made = _find_folders(root, journal.changes)
        journal = replace(journal, phase="rollback", folders=made)
        with suppress(OSError):
            write_journal(self._journal_path, journal)
        try:
            self._roll_back(root, journal)
        except OSError as error:
            why = error.strerror or str(error)
            raise StorageError(
                f"The revert of files was interrupted: {why}. It will be finished or undone when "
                "the session is opened again."
            ) from error

    def _roll_back(self, root: int, journal: Journal) -> tuple[str, ...]:
        left = _Replacing(root, journal, self._store).put_back()
        self._clear(root, journal)
        return left

    def _clear(self, root: int, journal: Journal) -> None:
        with suppress(FileNotFoundError):
            folder = os.open(journal.staging, FOLDER, dir_fd=root)
            try:
                for name in os.listdir(folder):
                    os.unlink(name, dir_fd=folder)
            finally:
                close(folder)
            os.rmdir(journal.staging, dir_fd=root)
            os.fsync(root)  # or the power may go while nobody knows of it any longer
        remove_journal(self._journal_path)


@dataclass(slots=True)
class _Replacing:
    """The part of a revert that changes files: deletions first, then what takes their places."""

    root: int
    journal: Journal
    store: ContentStore
    folders: set[str] = field(default_factory=set)

    def replace_all(self) -> None:
        """Make every change; raises PathChanged when a path is not as it was."""
        for number, change in self._ordered():
            self._replace(str(number), change.path, change.old, change.new)
        self._remove_empty(self.journal.changes)
        self._sync()

    def finish(self) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """Make what is not made yet; returns the changes, and the paths that were left alone."""
        done: list[FileChange] = []
        left: list[str] = []
        for number, change in self._ordered():
            now = self._now(change.path)
            if saved := self._return_saved(str(number), change, now):
                left += saved
                continue
            if not is_as(now, change.new):
                if not is_as(now, change.old):
                    left.append(change.path)
                    continue
                self._restage(str(number), change.new)
                try:
                    self._replace(str(number), change.path, change.old, change.new)
                except PathChanged:
                    left.append(change.path)
                    continue
            done.append(change)
        self._remove_empty(done)
        self._sync()
        return tuple(sorted(done, key=lambda change: change.path)), tuple(left)

    def put_back(self) -> tuple[str, ...]:
        """Undo what was made; returns the paths that somebody changed meanwhile."""
        left: list[str] = []
        backwards = _backwards(self.journal.changes)
        for number, change in _deletions_first(backwards):
            now = self._now(change.path)
            forth = self.journal.changes[number]
            if saved := self._return_saved(str(number), forth, now) or self._return_saved(
                f"{number}-back", change, now
            ):
                left += saved
                continue
            if is_as(now, change.new):
                continue
            if not is_as(now, change.old):
                left.append(change.path)
                continue
            self._restage(f"{number}-back", change.new)
            try:
                self._replace(f"{number}-back", change.path, change.old, change.new)
            except PathChanged:
                left.append(change.path)
        self._remove_empty(backwards)
        self._sync()
        return tuple(left)

    def _ordered(self) -> list[tuple[int, FileChange]]:
        return _deletions_first(self.journal.changes)

    def _now(self, path: str) -> FileState | None:
        return state_of(read_entry(self.root, path, DEFAULT_LIMITS.target_bytes), path)

    def _restage(self, name: str, state: FileState | None) -> None:
        if state is None:
            return
        with self._open_staging() as staging:
            for each in (name, _UNFINISHED):
                with suppress(FileNotFoundError):
                    os.unlink(each, dir_fd=staging)
            _stage(staging, _UNFINISHED, state, self.store.get(state.hash))
            sync_files([_UNFINISHED] * (state.kind == "file"), staging)
            os.rename(_UNFINISHED, name, src_dir_fd=staging, dst_dir_fd=staging)

    def _replace(
        self, staged: str, path: str, old: FileState | None, new: FileState | None
    ) -> None:
        make = old is None and new is not None
        try:
            with self._open_spot(staged, path, make=make) as spot:
                if new is not None:
                    spot.clear_folder()
                if not is_as(spot.now(), old):
                    raise changed(path)
                if new is None:
                    spot.empty(old)
                else:
                    spot.fill(old, new)
        except NotADirectoryError as error:
            raise PathChanged(
                f"a link or a file is now where a folder of {path} was; nothing was reverted."
            ) from error
        except (FileExistsError, FileNotFoundError) as error:
            raise changed(path) from error
        self.folders.add(os.path.dirname(path))

    @contextmanager
    def _open_spot(self, staged: str, path: str, *, make: bool = False) -> Iterator[Spot]:
        with (
            open_parent(self.root, path, make=make) as (folder, name),
            self._open_staging() as staging,
        ):
            yield Spot(path, name, folder, staged, staging)

    @contextmanager
    def _open_staging(self) -> Iterator[int]:
        try:
            staging = os.open(self.journal.staging, FOLDER, dir_fd=self.root)
        except FileNotFoundError:
            os.mkdir(self.journal.staging, 0o700, dir_fd=self.root)
            staging = os.open(self.journal.staging, FOLDER, dir_fd=self.root)
        try:
            yield staging
        finally:
            close(staging)

    def _return_saved(
        self, staged: str, change: FileChange, now: FileState | None
    ) -> tuple[str, ...]:
        """Give back what was taken away, where a crash came before it was looked at.

        Returns the paths that are left alone for it. Where something else was saved in exchange,
        nobody knows which of the two is newer: both are kept.
        """
        found = self._now(f"{self.journal.staging}/{staged}")
        if found is None or is_as(found, change.old) or is_as(found, change.new):
            return ()
        if is_as(now, change.new):
            with self._open_spot(staged, change.path) as spot:
                spot.give_back(now)
            return (change.path,)
        if now is None or change.new is None or is_as(now, change.old):
            return ()  # what stands there, or that nothing does, came later
        with self._open_spot(staged, change.path) as spot:
            return change.path, spot.keep_beside()

    def _remove_empty(self, changes: Iterable[FileChange]) -> None:
        """Folders that came with a file go with it; one that holds anything stays."""
        for path in _folders_of(changes):
            with suppress(OSError), open_parent(self.root, path) as (folder, name):
                if identity_of(name, folder) == self.journal.folders.get(path):
                    os.rmdir(name, dir_fd=folder)
                    self.folders.add(os.path.dirname(path))

    def _sync(self) -> None:
        for path in sorted(self.folders):
            with (
                suppress(FileNotFoundError, NotADirectoryError),
                open_parent(self.root, f"{path}/x" if path else "x") as (folder, _),
            ):
                os.fsync(folder)


def _deletions_first(changes: Sequence[FileChange]) -> list[tuple[int, FileChange]]:
    """Deletions from the depth up, then the rest: a file may take the place of a folder."""
    numbered = list(enumerate(changes))
    gone = [each for each in numbered if each[1].new is None]
    rest = [each for each in numbered if each[1].new is not None]
    return sorted(gone, key=lambda each: each[1].path, reverse=True) + rest


def _backwards(changes: Sequence[FileChange]) -> list[FileChange]:
    return [replace(change, old=change.new, new=change.old) for change in changes]


def _folders_of(changes: Iterable[FileChange]) -> list[str]:
    """The folders that go with the files that are deleted, the innermost first."""
    found: list[str] = []
    deletions = [change for change in changes if change.new is None]
    for change in sorted(deletions, key=lambda change: change.path, reverse=True):
        path = change.path
        for _ in range(min(change.folders, path.count("/"))):
            path = path.rpartition("/")[0]
            found.append(path)
    return found


def _folders_that_go(actions: Iterable[Action]) -> dict[str, FolderIdentity]:
    """The folders that go with what is deleted, as they were when that was planned."""
    found: dict[str, FolderIdentity] = {}
    for action in actions:
        path = action.path
        for identity in action.folders if action.target is None else ():
            path = path.rpartition("/")[0]
            found[path] = identity
    return found


def _folders_made(root: int, changes: Sequence[FileChange]) -> dict[str, FolderIdentity]:
    """The folders that changes made, each told from any that a person makes from now on."""
    found = _find_folders(root, changes)
    until = wait_for_tick() if found else 0
    return {path: identity for path, identity in found.items() if is_told(identity, until)}


def _find_folders(root: int, changes: Sequence[FileChange]) -> dict[str, FolderIdentity]:
    """Which folders those are now that came with files; none that cannot be looked at."""
    found: dict[str, FolderIdentity] = {}
    with suppress(OSError):
        for path in _folders_of(_backwards(changes)):
            with suppress(FileNotFoundError, NotADirectoryError), open_parent(root, path) as at:
                found[path] = identity_of(at[1], at[0])
    return found


def _staged_files(changes: Sequence[FileChange]) -> list[str]:
    return [
        str(number)
        for number, change in enumerate(changes)
        if change.new is not None and change.new.kind == "file"
    ]


def _stage(folder: int, name: str, state: FileState, content: bytes) -> None:
    if state.kind == "link":
        os.symlink(os.fsdecode(content), name, dir_fd=folder)
        return
    descriptor = os.open(name, NEW_FILE, 0o600, dir_fd=folder)
    try:
        write_all(descriptor, content)
        os.fchmod(descriptor, state.mode)
    finally:
        os.close(descriptor)
