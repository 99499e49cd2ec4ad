"""The scanner of a git work tree: an index of our own, seeded from a copy of the user's.

The index holds what every path looked like when it was settled last. Contents come from the files
themselves; only what a path held before its first change is adopted from the user's objects.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property

from agent_tui.core.file_changes import FileState, LeftOut
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folder_names import FolderNames, Mark, mark_of
from agent_tui.workspace.folders import (
    is_there,
    make_private_folder,
    open_root,
    status_of,
)
from agent_tui.workspace.git import Git, Repository
from agent_tui.workspace.git_listing import GitListing, Settled, joined, names_in
from agent_tui.workspace.limits import Limits
from agent_tui.workspace.oids import ObjectNames, name_of
from agent_tui.workspace.reading import Reading, digest_of
from agent_tui.workspace.recent import RecentStates
from agent_tui.workspace.scanning import LOST, UNKNOWN, Sight, is_below
from agent_tui.workspace.seed import (
    LISTING,
    Truth,
    UserSettings,
    copy_index,
    mark_to_read,
    read_newest,
    unhide,
    write_settings,
)
from agent_tui.workspace.store import ContentStore

_MOST_RECENT = 256
"""So many paths are settled beside the index before it is written again."""


UNSETTLED = "index.first"
"""How the index is called until the first capture is in the log: what was there is no change."""


class GitScanner:
    """Scans the part of a work tree that lies below a folder."""

    def __init__(
        self,
        repository: Repository,
        root: str,
        folder: str,
        store: ContentStore,
        limits: Limits,
        algorithm: str = "",
    ) -> None:
        self._repository = repository
        self._root = root
        self._folder = folder
        self._store = store
        self._limits = limits
        self._algorithm = algorithm or repository.object_format()
        shared = os.path.join(store.folder, "git", _name_of(repository, self._algorithm))
        self._index = os.path.join(folder, "index")
        self._git = Git(shared, repository.top, root, limits.git_seconds, self._index)
        self._names = ObjectNames(os.path.join(store.folder, f"names-{self._algorithm}"))
        self._recent = RecentStates(os.path.join(folder, "recent.json"))
        self._known: dict[str, FileState | None] = {}
        self._skipped: dict[str, FileState] = {}
        self._unknown_folders: set[str] = set()
        self._settings: list[str] = []
        self._rules: list[str] = []
        self._exclude: Mark | None = None
        self._room = limits.ignored_files
        self._resuming = False

    @cached_property
    def _listing(self) -> GitListing:
        names = FolderNames(self._git.start_folder, self._rules)
        has_head = bool(self._repository.commit())
        return GitListing(self._git, names, self._settings, self._algorithm, has_head=has_head)

    def open(self) -> Sight:
        """Make the index if there is none yet; returns what it has to take up first.

        Raises:
            NotCovered: git cannot be used here.
        """
        user = UserSettings(self._repository)
        try:
            fresh = not has_settled(self._folder)
            make_private_folder(self._folder, durable=False)
            self._write_settings()
            if fresh:
                return self._begin(user)
            remove_stale_lock(self._index)
            self._heed_excludes(user.excludes)
        finally:
            user.stop()
        self._listing.links = self._find_gitlinks()
        for path, state in self._recent.load().items():
            self._known[path] = state
            if state is not None and not state.hash:
                self._skipped[path] = state
        self._resuming = True
        sight = self.look()
        self._resuming = False
        return sight

    def _begin(self, user: UserSettings) -> Sight:
        """Start from a copy of the user's index; it is made while git looks at the files."""
        guessed = user.guess_excludes() if self._repository.top == self._root else user.excludes
        self._heed_excludes(guessed)
        if self._repository.top != self._root:
            self._require_not_ignored()
        self._git.use_index(os.path.join(self._folder, UNSETTLED))
        remove_stale_lock(self._git.index)
        read_as = mark_to_read(self._repository)
        if read_as is None:
            copy_index(self._repository, self._git)
        listed: list[Future[bytes]] = []
        with ThreadPoolExecutor(1, thread_name_prefix="index") as thread:

            def read_beside() -> int | None:
                if read_as is not None:
                    copy_index(self._repository, self._git)
                newest = read_newest(self._git, self._repository, user, self._algorithm)
                if newest is None:
                    listed.append(thread.submit(self._git.run, *LISTING))
                return newest

            sight = self.look(read_beside, self._repository.index if read_as else "")
        truth = Truth(set(), set(), hidden=False)
        if listed:
            truth = unhide(self._git, self._repository, user, listed[0].result())
        is_guess_wrong = user.excludes != guessed
        is_another = read_as is not None and mark_of(self._repository.index) != read_as
        if truth.hidden or truth.links or is_guess_wrong or is_another:
            self._heed_excludes(user.excludes)
            self._forget_first_look()
            self._listing.links = truth.links
            sight = self.look()
        sight.fresh = True
        sight.candidates |= truth.converted
        return sight

    def _heed_excludes(self, excludes: str) -> None:
        """Ignore what a file of the user's says, beside the rules of the work tree."""
        self._settings[:] = [f"core.excludesFile={excludes}"] if excludes else []
        self._rules[:] = [path for path in (excludes, self._repository.exclude) if path]
        self._rules += _rules_above(self._root, self._repository.top)

    def _write_settings(self) -> None:
        self._exclude = mark_of(self._repository.exclude)
        write_settings(self._git.folder, self._repository, self._algorithm)

    def _forget_first_look(self) -> None:
        vars(self).pop("_listing", None)
        self._room = self._limits.ignored_files
        self._skipped.clear()
        self._unknown_folders.clear()

    def _find_gitlinks(self) -> set[str]:
        """The submodules: git names them, and never looks into them."""
        printed = self._git.run("ls-files", "-s", "-z", "--", ".")
        found = re.findall(rb"(?:^|\0)160000 [0-9a-f]+ [0-3]\t([^\0]+)", printed)
        return {os.fsdecode(name) for name in found}

    def _require_not_ignored(self) -> None:
        told = self._git.run("check-ignore", "-v", "--", ".", may_be=1, settings=self._settings)
        if told:
            raise NotCovered("the repository around this folder ignores it")

    def look(self, on_begin: Callable[[], int | None] | None = None, reading: str = "") -> Sight:
        if self._exclude != mark_of(self._repository.exclude):
            self._write_settings()
        listing = self._listing
        listing.look(on_begin, reading)
        sight = Sight(set(listing.changed), new_folders=listing.new_folders)
        sight.left_out += [LeftOut(path, LOST) for path in sorted(listing.lost_folders)]
        unknown = self._take_untracked(sight) | self._take_ignored(sight)
        for path in sight.candidates - listing.changed.keys():
            if path not in self._known and is_below(path, self._unknown_folders):
                self._skipped.setdefault(path, UNKNOWN)
        self._unknown_folders = unknown
        self._compare_recent(sight)
        self._mark_ignored(sight)
        sight.files = self._count()
        if sight.files > self._limits.files:
            raise NotCovered(f"the folder has more than {self._limits.files:,} files")
        return sight

    def _compare_recent(self, sight: Sight) -> None:
        """What was settled beside the index is compared with that, whatever git says of it."""
        if not self._recent:
            return
        with open_root(self._root) as root:
            for path in self._recent.paths():
                if self._recent.is_as_settled(path, status_of(root, path)):
                    sight.candidates.discard(path)
                else:
                    sight.candidates.add(path)

    def _take_untracked(self, sight: Sight) -> set[str]:
        nested = set()
        for path in self._listing.untracked:
            if path.endswith("/"):
                nested.add(path.rstrip("/"))
            else:
                sight.candidates.add(path)
        for path in self._listing.links:
            if os.path.lexists(os.path.join(self._root, path, ".git")):
                nested.add(path)
        sight.nested |= nested
        return nested

    def _take_ignored(self, sight: Sight) -> set[str]:
        """What git ignores: small files that lie at the top come first, where not all can."""
        folders = {path.rstrip("/") for path in self._listing.ignored if path.endswith("/")}
        files = [path for path in self._listing.ignored if not path.endswith("/")]
        sight.left_out += [LeftOut(path, "git ignores the folder") for path in sorted(folders)]
        for path in sorted(files, key=lambda path: (path.count("/"), path)):
            is_kept = path in self._known and path not in self._skipped
            if not is_kept and (path in self._skipped or self._resuming or self._room <= 0):
                sight.left_out.append(LeftOut(path, "git ignores it"))
                self._skipped.setdefault(path, UNKNOWN)
                continue
            self._room -= not is_kept
            sight.ignored.add(path)
            sight.candidates.add(path)
        return folders

    def _mark_ignored(self, sight: Sight) -> None:
        """Tell which of the candidates git ignores, those that the index holds included."""
        asked = sight.candidates - sight.ignored
        if asked and self._resuming:
            printed = self._git.run(
                "check-ignore", "-z", "--no-index", "--stdin", data=joined(asked),
                may_be=1, settings=self._settings,
            )  # fmt: skip
            sight.ignored |= set(names_in(printed))

    def _count(self) -> int:
        """How many files the index holds, as its head says, and how many lie beside it."""
        beside = sum(
            path not in self._listing.changed and self._recent.state(path) is not None
            for path in self._recent.paths()
        )
        try:
            with open(self._git.index, "rb") as index:
                return int.from_bytes(index.read(12)[8:], "big") + beside
        except FileNotFoundError:
            return beside

    def old_states(self, paths: Iterable[str]) -> Mapping[str, FileState | None]:
        states: dict[str, FileState | None] = {}
        adopted: list[tuple[str, Settled]] = []
        for path in paths:
            if path in self._known:
                states[path] = self._known[path]
            elif path in self._skipped:
                states[path] = self._skipped[path]
            elif (settled := self._listing.changed.get(path)) is not None:
                adopted.append((path, settled))
            else:
                states[path] = None
        missing = {
            settled.oid
            for _, settled in adopted
            if not self._store.has(*self._names.find(settled.oid))
        }
        self._adopt(sorted(missing))
        for path, settled in adopted:
            states[path] = self._state_of(path, settled)
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

    def _state_of(self, path: str, settled: Settled) -> FileState:
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
        for path, reading in readings.items():
            state, content = reading.state, reading.content
            self._known[path] = state
            self._skipped.pop(path, None)
            if content is not None and state is not None:
                name = name_of(content, self._algorithm)
                self._names.add(name, state.hash, len(content))
            elif state is not None:
                self._skipped[path] = state
        self._listing.settle(
            path
            for path, each in readings.items()
            if each.state is None or each.content is not None
        )
        self._recent.put(readings)
        self._names.flush()
        if readings:
            self._recent.write()
        self._settle_index()
        if len(self._recent) > _MOST_RECENT:
            self._move_to_index()
            self._recent.write()

    def _settle_index(self) -> None:
        """From here on, a later run continues from this index."""
        if self._git.index != self._index:
            with suppress(FileNotFoundError):  # the user's git has none yet
                os.rename(self._git.index, self._index)
            self._git.use_index(self._index)

    def _move_to_index(self) -> None:
        """Let the index have what is as it was settled; the rest stays beside it."""
        remove_stale_lock(self._index)
        with open_root(self._root) as root:

            def still(path: str) -> bool:
                return self._recent.is_as_settled(path, status_of(root, path))

            same = [path for path in self._recent.paths() if still(path)]
            unkept = self._recent.unkept()
            # What is there is forgotten first: git would keep the name of an older content for what
            # looks unchanged to it.
            gone = [*unkept, *same]
            there = [path for path in same if self._recent.state(path) is not None]
            if gone:
                self._git.run("update-index", "-z", "--force-remove", "--stdin", data=joined(gone))
            if there:
                arguments = ("update-index", "-z", "--add", "--remove", "--replace", "--info-only")
                self._git.run(*arguments, "--stdin", data=joined(there))
            self._recent.forget([*unkept, *(path for path in same if still(path))])


def _name_of(repository: Repository, algorithm: str) -> str:
    """What the sessions in one work tree share is called: a store may serve several of them.

    Two folders may have one project, as ``/a/b-c`` and ``/a-b/c``.
    """
    told = "\0".join((repository.common, repository.top, algorithm))
    return digest_of(os.fsencode(told))[:16]


def _rules_above(root: str, top: str) -> Iterator[str]:
    """The files in the folders around a workspace that say what git ignores in it."""
    while root != top and root != os.path.dirname(root):
        root = os.path.dirname(root)
        yield os.path.join(root, ".gitignore")


def has_settled(folder: str) -> bool:
    """Whether something was settled in a folder of ours: nothing of it is new then."""
    if is_there(os.path.join(folder, "index")):
        return True
    is_begun = is_there(os.path.join(folder, UNSETTLED))
    return not is_begun and is_there(os.path.join(folder, "recent.json"))


def remove_stale_lock(index: str) -> None:
    """Remove the lock of an index of ours: whoever held it is dead, for we are it."""
    with suppress(FileNotFoundError):
        os.unlink(f"{index}.lock")
