"""What git says of a work tree: the paths that differ from the index, and those that it has not.

The whole answer is that of one ``git status``. Where no folder has a name that it had not, the
index alone is compared: the untracked and ignored paths are then those of the time before.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import FolderIdentity
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folder_names import FolderNames
from agent_tui.workspace.git import Git, Running
from agent_tui.workspace.git_doubt import DoubtfulEntries
from agent_tui.workspace.git_index import Entry
from agent_tui.workspace.scanning import STAGING_PREFIX

_GITLINK = "160000"
_STATUS = (
    "status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching",
    "--no-renames", "--ignore-submodules=all", "--", ".",
)  # fmt: skip
_CHANGED = (
    "diff-files", "-z", "--relative", "--ignore-submodules=all", "--no-renames", "--no-ext-diff",
    "--", ".",
)  # fmt: skip
_UNTRACKED = ("ls-files", "-o", "-z", "--exclude-standard")
_IGNORED = ("ls-files", "-o", "-i", "-z", "--exclude-standard", "--directory")


@dataclass(frozen=True, slots=True)
class Settled:
    """A path as the index has it: git's name of its content, and its mode."""

    oid: str
    mode: str


class GitListing:
    """Lists a work tree again and again.

    Attributes:
        changed: paths that differ from the index, as that has them; None where it has nothing.
        untracked, ignored: paths that the index has not; of whole folders with a slash.
        links: the submodules, into which git does not look.
    """

    def __init__(
        self,
        git: Git,
        names: FolderNames,
        settings: Sequence[str],
        algorithm: str,
        *,
        has_head: bool,
    ) -> None:
        self._git = git
        self._names = names
        self._settings = settings
        self._doubtful = DoubtfulEntries(git.top, algorithm)
        self._has_head = has_head
        self._outside: set[str] = set()
        self._is_begun = self._is_sure = False
        below = os.path.relpath(git.start_folder, git.top)
        self._prefix = "" if below == "." else f"{below}/"
        self.changed: dict[str, Settled | None] = {}
        self.untracked: set[str] = set()
        self.ignored: set[str] = set()
        self.links: set[str] = set()

    def look(self, on_begin: Callable[[], int | None] | None = None, reading: str = "") -> None:
        """List what is there now.

        ``on_begin`` is called once git is at work, the first time, and may tell the second in
        which an entry of the index changed last. ``reading`` is the index that ours is made a
        copy of meanwhile.

        Raises:
            NotCovered: git did not give a whole answer.
        """
        _require_rules(self._git.top, self._git.start_folder)
        began = time.time_ns()
        outside = self._outside | self.links
        fresh = self._names.refresh(outside) if self._is_begun else None
        is_quick, self._is_sure = fresh is not None and self._is_sure, False
        doubtful: list[Entry] = []

        def compare() -> None:
            """While git is at work; what is written after it is compared in the next look."""
            newest = on_begin() if on_begin is not None else None
            doubtful.extend(self._doubtful.find(self._git.index, began, newest))

        if fresh is not None and is_quick:
            self._list_changed(fresh)
            compare()
        else:
            self._list_all(compare, reading)
        self._take_doubtful(doubtful)
        self._is_begun = self._is_sure = True

    def _take_doubtful(self, entries: Iterable[Entry]) -> None:
        """What git may have taken for unchanged wrongly counts as changed, and is read."""
        prefix = os.fsencode(self._prefix)
        for entry in entries:
            if entry.path.startswith(prefix):
                path = os.fsdecode(entry.path[len(prefix) :])
                self.changed.setdefault(path, Settled(entry.oid, entry.mode))

    @property
    def new_folders(self) -> Mapping[str, FolderIdentity]:
        """Folders that were not there the last time, as far as that is known."""
        return self._names.new

    @property
    def lost_folders(self) -> set[str]:
        """Folders that are gone and had been empty."""
        return self._names.lost

    def settle(self, paths: Iterable[str]) -> None:
        """These are known from now on."""
        self.untracked.difference_update(paths)
        self.ignored.difference_update(paths)

    def _list_all(self, on_begin: Callable[[], None] | None = None, reading: str = "") -> None:
        self.untracked, self.ignored = set(), set()
        running = None
        if self._has_head:
            running = self._git.start(*_STATUS, settings=self._settings, reading=reading)
        try:
            if on_begin is not None:
                on_begin()
            if running is not None:
                self._take_status_of(running)
        finally:
            if running is not None:
                running.stop()
        if not self._has_head:
            self._run_three([])
        outside = {path[:-1] for path in (*self.untracked, *self.ignored) if path.endswith("/")}
        self._names.forget(outside - self._outside, again=bool(self._outside - outside))
        self._outside = outside

    def _take_status_of(self, running: Running) -> None:
        try:
            self._take_status(running.output())
        except NotCovered:  # its commit may be gone: that is no reason to cover nothing
            self._has_head = False

    def _list_changed(self, fresh: list[str]) -> None:
        if not fresh:
            self._take_changed(self._git.run(*_CHANGED))
            return
        self._run_three(fresh)
        if not self.untracked.union(self.ignored).issuperset(fresh):
            self._list_all()  # git tracks them, or does not come by there: let it say all it knows

    def _run_three(self, paths: Collection[str]) -> None:
        """Ask for each kind by itself; the untracked and ignored of ``paths``, or all of them."""
        chosen = ("--", *sorted(paths)) if paths else ()
        running = (
            self._git.start(*_CHANGED),
            self._git.start(*_UNTRACKED, *chosen, settings=self._settings),
            self._git.start(*_IGNORED, *chosen, settings=self._settings),
        )
        try:
            self._take_changed(running[0].output())
            self.untracked.update(_own(names_in(running[1].output())))
            self.ignored.update(_own(names_in(running[2].output())))
        finally:
            for each in running:
                each.stop()

    def _take_changed(self, printed: bytes) -> None:
        fields = names_in(printed)
        changed: dict[str, Settled | None] = {}
        for told, path in zip(fields[::2], fields[1::2], strict=True):
            old_mode, _, oid, _, status = told.lstrip(":").split(" ")
            if old_mode == _GITLINK:
                continue
            if status[0] in ("A", "U"):
                changed.setdefault(path, None)
            else:
                changed[path] = Settled(oid, old_mode)
        self.changed = changed

    def _take_status(self, printed: bytes) -> None:
        changed: dict[str, Settled | None] = {}
        untracked, ignored = [], []
        for line in names_in(printed):
            match line[:2]:
                case "1 ":
                    _, states, _, _, mode, _, _, oid, path = line.split(" ", 8)
                    if states[1] != "." and mode != _GITLINK:
                        is_new = states[1] == "A"
                        changed[self._inside(path)] = None if is_new else Settled(oid, mode)
                case "u ":
                    changed[self._inside(line.split(" ", 10)[10])] = None
                case "? ":
                    untracked.append(self._inside(line[2:]))
                case "! ":
                    ignored.append(self._inside(line[2:]))
                case _:
                    raise NotCovered(f"git status printed an unknown line: {line[:80]}")
        self.changed = changed
        self.untracked.update(_own(untracked))
        self.ignored.update(_own(ignored))

    def _inside(self, path: str) -> str:
        return path.removeprefix(self._prefix)


def _require_rules(*folders: str) -> None:
    """A pipe in the place of rules would hold up each command of git until its time is over."""
    for folder in folders:
        with suppress(OSError):
            mode = os.lstat(os.path.join(folder, ".gitignore")).st_mode
            if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
                raise NotCovered(".gitignore is a pipe or a device: rename or remove it")


def _own(paths: Iterable[str]) -> Iterable[str]:
    return (path for path in paths if not path.startswith(STAGING_PREFIX))


def names_in(printed: bytes) -> list[str]:
    """The paths of an answer, whatever their bytes are."""
    return [os.fsdecode(name) for name in printed.split(b"\0") if name]


def joined(paths: Iterable[str]) -> bytes:
    """Paths as git reads them."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
