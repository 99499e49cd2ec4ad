"""Taking a capture: every path that changed since the one before, its contents kept first.

What is doubtful is not told as if it were known: then the capture has the status ``none`` and says
why, and the next one compares with the last that was sure.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from itertools import islice
from typing import Literal

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.file_changes import FileChange, FileState, FolderIdentity, LeftOut
from agent_tui.workspace.births import is_told, wait_for_tick
from agent_tui.workspace.errors import ContentMissing, NotCovered, reason
from agent_tui.workspace.folders import is_there, open_root
from agent_tui.workspace.git import Repository, find_repository, git_program
from agent_tui.workspace.limits import DEFAULT_LIMITS, Limits
from agent_tui.workspace.origins import (
    REPLACED,
    UNREAD,
    ScannedRepository,
    folder_of,
    numbers_of,
    origin_of,
    read_origin,
    remove_states,
    write_origin,
)
from agent_tui.workspace.places import reason_refused
from agent_tui.workspace.reading import UNSTEADY, Reading, digest_of, read_entry
from agent_tui.workspace.scanning import UNKNOWN, Scanner, Sight
from agent_tui.workspace.store import ContentStore

_MOST_LEFT_OUT = 50
_MOST_FOLDERS = 10_000
_COUNTED_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class WorkspaceDelta:
    """What one capture found.

    Attributes:
        status: ``none`` where nothing sure can be said; ``why`` tells in a sentence.
        delta: what changed since the last sure capture.
        first: nothing was captured before: there is nothing that it could be compared with.
        files, stored_bytes, left_out, cost_ms, head, folders: as in a WorkspaceRecord.
    """

    status: Literal["captured", "none"]
    why: str = ""
    delta: tuple[FileChange, ...] = ()
    first: bool = False
    files: int = 0
    stored_bytes: int = 0
    left_out: tuple[LeftOut, ...] = ()
    cost_ms: int = 0
    head: str = ""
    folders: Mapping[str, FolderIdentity] = field(default_factory=dict)


@dataclass(slots=True)
class _Scope:
    """A part of the workspace with its own scanner; ``prefix`` ends in a slash, or is empty.

    ``is_fresh``: nothing of it was settled ever. ``replaced``: where it was settled with another
    repository; that goes when this is settled.
    """

    prefix: str
    root: str
    scanner: Scanner
    is_fresh: bool
    folder: str
    origin: ScannedRepository
    replaced: str = ""
    readings: dict[str, Reading] = field(default_factory=dict)


class Capture:
    """The captures of one session over one workspace. Blocks; one call at a time."""

    def __init__(
        self, root: str, store: ContentStore, limits: Limits = DEFAULT_LIMITS, home: str = ""
    ) -> None:
        self.root = os.path.realpath(root)
        self.store = store
        self.limits = limits
        self._refused = reason_refused(root, home)
        self._scopes: dict[str, _Scope] = {}
        self._failed: dict[str, str] = {}
        self.repository: Repository | None = None

    def take(
        self,
        targets: frozenset[str] = frozenset(),
        *,
        on_read: Callable[[str], None] | None = None,
    ) -> WorkspaceDelta:
        """Compare every file with the capture before; never raises for what it finds.

        Args:
            targets: paths that an edit tool was asked to change: kept whatever they are.
            on_read: called between the reading of a file and the check that it stayed the same.
        """
        began = time.perf_counter()
        try:
            if self._refused:
                raise NotCovered(self._refused)
            self._require_store()
            with self.store.locked():
                found = self._take(targets, on_read)
        except OSError as error:
            found = WorkspaceDelta("none", reason(error))
        except AgentTuiError as error:
            found = WorkspaceDelta("none", str(error))
        except ImportError as error:  # a scanner is loaded when it is needed first
            found = WorkspaceDelta("none", f"a part of this program could not be loaded: {error}")
        return replace(found, cost_ms=round((time.perf_counter() - began) * 1000))

    def _require_store(self) -> None:
        """What was settled is gone with a deleted store: the next capture starts again."""
        if self._scopes and not is_there(self.store.session_folder):
            self._scopes.clear()
            self.store.forget()
            raise NotCovered("the store of file contents was deleted: captures start again")

    def settle(self) -> None:
        """The last capture is in the log: from now on, changes are changes against it.

        Raises:
            NotCovered, OSError: the next capture will find the same changes again.
        """
        for scope in self._scopes.values():
            readings, scope.readings = scope.readings, {}
            is_fresh, scope.is_fresh = scope.is_fresh, False
            if is_fresh:
                write_origin(scope.folder, scope.origin)
            if readings or is_fresh:
                scope.scanner.settle(readings)
            if scope.replaced:
                remove_states(scope.replaced)
                scope.replaced = ""

    def _take(
        self, targets: frozenset[str], on_read: Callable[[str], None] | None
    ) -> WorkspaceDelta:
        root = self._scopes.get("")
        first = root is None or root.is_fresh
        sights: list[tuple[_Scope, Sight]] = []
        left_out: list[LeftOut] = []
        pending = [""]
        while pending:
            prefix = pending.pop(0)
            if len(sights) >= self.limits.scopes:
                left_out.append(LeftOut(prefix.rstrip("/"), "too many nested repositories"))
                continue
            try:
                looks = self._look(prefix)
            except (AgentTuiError, OSError) as error:
                if not prefix:
                    raise
                left_out.append(LeftOut(prefix.rstrip("/"), str(error)))
                continue
            scope, sight = looks[-1]
            sights += looks
            pending += [f"{prefix}{name}/" for name in sorted(sight.nested)]
            left_out += [
                replace(each, path=(prefix + each.path).rstrip("/") or ".")
                for each in sight.left_out
            ]
            if sight.fresh and not first and not scope.replaced:
                left_out.append(
                    LeftOut(prefix.rstrip("/"), "it is captured from now on: a new repository")
                )
        work = _Work(self, targets, on_read)
        for scope, sight in sights:
            work.compare(scope, sight)
        self.store.flush()
        left_out += work.left_out
        fresh = first and sights[0][1].fresh
        return WorkspaceDelta(
            "captured",
            delta=tuple(sorted(work.changes.values(), key=lambda change: change.path)),
            first=fresh,
            files=sum(sight.files for scope, sight in sights if scope in self._scopes.values()),
            stored_bytes=work.stored,
            left_out=tuple(left_out[:_MOST_LEFT_OUT]),
            head=self.repository.head() if self.repository else "",
            folders=_folders_that_came(sights),
        )

    def _look(self, prefix: str) -> list[tuple[_Scope, Sight]]:
        """Look at a scope, for the first time or again; the last sight is that of its scanner.

        Where its repository was replaced, there is one before it: what changed since it was
        settled, as the scanner from before finds it.
        """
        scope = self._scopes.get(prefix)
        root = os.path.join(self.root, prefix).rstrip("/")
        repository = find_repository(root) if git_program() else None
        if prefix and repository is not None and repository.top != os.path.realpath(root):
            repository = None  # it only looks like a repository of its own
        origin = origin_of(repository)
        if scope is not None and not scope.is_fresh and scope.origin.is_same(origin):
            return [(scope, scope.scanner.look())]
        number, folder = self._find_settled(prefix)
        is_settled = self._is_settled(folder)
        was = read_origin(folder) if is_settled else None
        looks: list[tuple[_Scope, Sight]] = []
        replaced = told = ""
        if was is not None and not was.is_same(origin):
            replaced, folder = folder, folder_of(self.store.session_folder, prefix, number + 1)
            try:
                looks.append(self._look_as_it_was(prefix, root, replaced, was, repository))
                told = REPLACED if was.top else ""
            except (NotCovered, OSError):
                told = UNREAD
        opened = None
        if repository is not None:
            opened = self._open_repository(repository, root, folder, origin.algorithm)
        if opened is None:
            repository, opened = None, self._open_plainly(root, folder)
        scanner, sight = opened
        if is_settled and was is None:  # by a version that did not write it down
            write_origin(folder, origin)
        if told:
            sight.left_out.append(LeftOut("", told))
        if not prefix:
            self.repository = repository
        scope = _Scope(prefix, root, scanner, sight.fresh, folder, origin, replaced)
        self._scopes[prefix] = scope
        return [*looks, (scope, sight)]

    def _look_as_it_was(
        self, prefix: str, root: str, folder: str, was: ScannedRepository, now: Repository | None
    ) -> tuple[_Scope, Sight]:
        """What changed since a scope was settled whose repository is another one by now."""
        live = self._scopes.get(prefix)
        if live is not None and not live.is_fresh:
            return live, live.scanner.look()
        if was.top and git_program():
            from agent_tui.workspace.git_scan import GitScanner  # not where git is not

            repository = was.as_it_was(now)
            git = GitScanner(repository, root, folder, self.store, self.limits, was.algorithm)
            return _Scope(prefix, root, git, is_fresh=False, folder=folder, origin=was), git.open()
        plain, sight = self._open_plainly(root, folder)
        return _Scope(prefix, root, plain, is_fresh=False, folder=folder, origin=was), sight

    def _find_settled(self, prefix: str) -> tuple[int, str]:
        """The newest folder in which a scope was settled, or the first one."""
        above = self.store.session_folder
        folders = ((each, folder_of(above, prefix, each)) for each in numbers_of(above, prefix))
        none = 0, folder_of(above, prefix, 0)
        return next((found for found in folders if self._is_settled(found[1])), none)

    def _is_settled(self, folder: str) -> bool:
        if is_there(os.path.join(folder, "files.json")):
            return True
        from agent_tui.workspace.git_scan import has_settled  # not where git is not

        return has_settled(folder)

    def _open_repository(
        self, repository: Repository, root: str, folder: str, algorithm: str
    ) -> tuple[Scanner, Sight] | None:
        """Look with git; None where git cannot and nothing was settled yet."""
        from agent_tui.workspace.git_scan import GitScanner, has_settled  # not where git is not

        scanner = GitScanner(repository, root, folder, self.store, self.limits, algorithm)
        try:
            return scanner, scanner.open()
        except (NotCovered, FileNotFoundError):  # it may be going just now
            if has_settled(folder):
                raise  # what it knows must not be mistaken for new
            return None

    def _open_plainly(self, root: str, folder: str) -> tuple[Scanner, Sight]:
        from agent_tui.workspace.plain_scan import PlainScanner  # few work where git is not

        scanner = PlainScanner(root, folder, self.limits)
        return scanner, scanner.open()


def _folders_that_came(sights: Iterable[tuple[_Scope, Sight]]) -> dict[str, FolderIdentity]:
    """New folders, each told from any that a person makes in its place from now on."""
    came = {
        scope.prefix + path: identity
        for scope, sight in sights
        for path, identity in sight.new_folders.items()
    }
    until = wait_for_tick() if came else 0
    told = (each for each in sorted(came.items()) if is_told(each[1], until))
    return dict(islice(told, _MOST_FOLDERS))


class _Work:
    """One comparison of what was seen with what was settled."""

    def __init__(
        self,
        capture: Capture,
        targets: frozenset[str],
        on_read: Callable[[str], None] | None,
    ) -> None:
        self._store, self._limits = capture.store, capture.limits
        self._targets, self._on_read = targets, on_read
        self.changes: dict[str, FileChange] = {}
        self.left_out: list[LeftOut] = []
        self.stored = 0
        self._durable = True

    def compare(self, scope: _Scope, sight: Sight) -> None:
        scope.readings = {}
        self._durable = not sight.fresh
        if not sight.candidates:
            return
        olds: Mapping[str, FileState | None]
        olds = {} if sight.fresh else scope.scanner.old_states(sight.candidates)
        with open_root(scope.root) as root:
            for path in sorted(sight.candidates):
                self._compare(scope, sight, root, path, olds)

    def _compare(
        self,
        scope: _Scope,
        sight: Sight,
        root: int,
        path: str,
        olds: Mapping[str, FileState | None],
    ) -> None:
        whole, ignored = scope.prefix + path, path in sight.ignored
        reading = read_entry(root, path, self._cap(whole, ignored), on_read=self._on_read)
        if reading.why == UNSTEADY:
            self.left_out.append(LeftOut(whole, UNSTEADY))
            return
        if reading.why:
            self.left_out.append(LeftOut(whole, reading.why))
        if reading.content is not None and not self._keep(reading.content, whole):
            state = replace(reading.state, hash="") if reading.state else None
            reading = replace(reading, state=state, content=None)
        if ignored and reading.state is not None:
            reading = replace(reading, state=replace(reading.state, secret=True))
        old = olds.get(path)
        if old is not None and old.secret and reading.state is not None:
            reading = replace(reading, state=replace(reading.state, secret=True))
        scope.readings[path] = reading
        if not sight.fresh:
            self._note(whole, old, reading)

    def _cap(self, path: str, ignored: bool) -> int:
        if path in self._targets:
            return self._limits.target_bytes
        return self._limits.ignored_bytes if ignored else self._limits.file_bytes

    def _keep(self, content: bytes, path: str) -> bool:
        if self.stored + len(content) > self._limits.capture_bytes:
            self.left_out.append(LeftOut(path, "too much changed at once to keep all of it"))
            return False
        if not self._store.has(digest_of(content), len(content)):
            self.stored += len(content)
        self._store.put(content, durable=self._durable)
        return True

    def _note(self, path: str, old: FileState | None, reading: Reading) -> None:
        new = reading.state
        if old is None and new is None:
            return
        unchanged = old is not None and new is not None and not (old.hash or new.hash)
        if unchanged or (old is not None and old.same_as(new)):
            return
        if old is not None and old.hash:
            self._store.keep([(old.hash, old.size)])
        added, removed = self._count(old, reading)
        self.changes[path] = FileChange(path, old, new, added, removed)

    def _count(self, old: FileState | None, reading: Reading) -> tuple[int, int]:
        before = b""
        with suppress(ContentMissing):
            before = self._store.get(old.hash) if old and old.kind == "file" else b""
        return count_lines(before, reading.content or b"")


def count_lines(before: bytes, after: bytes) -> tuple[int, int]:
    """How many lines were added and removed; nothing for what is not text."""
    if b"\0" in before or b"\0" in after or len(before) + len(after) > _COUNTED_BYTES:
        return 0, 0
    from agent_tui.workspace.merge import diff_lines  # nobody waits here for an answer

    old, new = before.splitlines(), after.splitlines()
    if not old or not new:
        return len(new), len(old)
    added = removed = 0
    for i1, i2, j1, j2 in diff_lines(old, new):
        removed += i2 - i1
        added += j2 - j1
    return added, removed


__all__ = ["UNKNOWN", "Capture", "WorkspaceDelta", "count_lines"]
