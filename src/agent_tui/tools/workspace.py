"""Staying inside the workspace: paths are walked folder by folder on open descriptors.

A path is never checked as a string and then opened: between the two, a folder can become a link.
Each component is opened from the descriptor of the one before it with O_NOFOLLOW; a link is read
and its target walked the same way, so links that stay inside work and links that leave do not.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path, PurePosixPath

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.core.text import reveal
from agent_tui.tools.base import ToolContext

READ_ONLY_NAMES = frozenset({".git", ".agent-tui"})
"""Folders that tools read but never write, wherever they are."""


_MOST_FOLDERS = 2_000
_DEEPEST = 3


def read_only_folders(workspace: Path) -> frozenset[str]:
    """Which of these the workspace has, as paths in it: in the nearest folders, not in all.

    Looked at are at most 2,000 folders, no more than three deep: it is asked around each command.
    """
    found: set[str] = set()
    level = [""]
    looked = 0
    for depth in range(_DEEPEST + 1):
        below: list[str] = []
        for folder in level:
            looked += 1
            if looked > _MOST_FOLDERS:
                return frozenset(found)
            with suppress(OSError), os.scandir(workspace / folder) as entries:
                for entry in entries:
                    inner = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.name in READ_ONLY_NAMES:
                        found.add(inner)
                    elif depth < _DEEPEST and entry.is_dir(follow_symlinks=False):
                        below.append(inner)
        level = below
    return frozenset(found)


def git_settings(workspace: Path) -> frozenset[tuple[str, int, int, int]]:
    """What the settings and hooks of the repository look like now, to see whether they changed.

    Git runs programs that they name, outside of any sandbox.
    """
    found = set()
    with suppress(OSError), os.scandir(workspace / ".git" / "hooks") as entries:
        for entry in islice(entries, _MOST_FOLDERS):
            with suppress(OSError):
                found.add(_looks(f"hooks/{entry.name}", entry.stat(follow_symlinks=False)))
    for name in ("config", "config.worktree"):
        with suppress(OSError):
            found.add(_looks(name, (workspace / ".git" / name).lstat()))
    return frozenset(found)


def _looks(name: str, seen: os.stat_result) -> tuple[str, int, int, int]:
    """Whoever writes a file changes its time of change, and cannot set it back."""
    return name, seen.st_ino, seen.st_size, seen.st_ctime_ns


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_LINKS = 40


class MissingPath(ToolError):
    """A file or a folder on the way to it is not there."""


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of an open folder inside the workspace; it need not exist.

    Attributes:
        folder: descriptor of the folder, open while the place is in use.
        name: the entry's name in it; ``.`` is the folder itself.
        path: the path from the workspace, with links resolved.
        read_only: why tools may not write here, or an empty string.
    """

    folder: int
    name: str
    path: Path
    read_only: str

    def check_writable(self) -> None:
        """Raise a ToolError where tools may only read."""
        if self.read_only:
            raise ToolError(self.read_only)

    def open_file(self) -> int:
        """Open the entry for reading; the caller closes it. Only regular files open."""
        try:
            descriptor = os.open(self.name, _FILE, dir_fd=self.folder)
        except OSError as error:
            raise explain(error, self.path) from error
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISREG(kind):
            return descriptor
        try:
            raise _not_a_file(descriptor, kind, self.path)
        finally:
            os.close(descriptor)

    def open_folder(self) -> int:
        """Open the entry as a folder; the caller closes it."""
        try:
            return os.open(self.name, _FOLDER, dir_fd=self.folder)
        except OSError as error:
            raise explain(error, self.path) from error


class Workspace:
    """The folder that file tools may not leave."""

    def __init__(self, root: Path, protected: tuple[Path, ...] = ()) -> None:
        self._roots = [PurePosixPath(os.path.abspath(root)), PurePosixPath(os.path.realpath(root))]  # noqa: PTH100
        self._protected = {identity for path in protected if (identity := _identity(path))}
        inside = any(self._roots[1].is_relative_to(os.path.realpath(path)) for path in protected)
        self._root_is_protected = inside

    @classmethod
    def of(cls, context: ToolContext) -> Workspace:
        """The workspace of a call."""
        return cls(context.workspace, context.protected)

    @contextmanager
    def locate(self, path: str, *, make_folders: bool = False) -> Iterator[Place]:
        """Walk to ``path`` (relative to the workspace, or absolute inside it).

        Args:
            path: as the model wrote it.
            make_folders: create missing folders on the way; refused where tools may not write.

        Raises:
            MissingPath: a folder on the way is not there.
            ToolError: the path leaves the workspace or cannot be walked.
        """
        walk = _Walk(self, path, make_folders)
        try:
            yield walk.run()
        finally:
            walk.close()

    def parts_inside(self, path: str, asked: str) -> deque[str]:
        """The components of a path below the root; absolute ones must lie in the workspace."""
        if "\0" in path:
            raise ToolError("A path cannot contain a NUL character.")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise ToolError("A path cannot contain half a surrogate pair.") from None
        pure = PurePosixPath(path)
        if pure.is_absolute():
            for root in self._roots:
                if pure.is_relative_to(root):
                    return deque(pure.relative_to(root).parts)
            raise self.outside(asked)
        return deque(pure.parts)

    def outside(self, asked: str) -> ToolError:
        """The refusal of a path that leaves the workspace."""
        return ToolError(
            f"{reveal(asked)} is outside the workspace {self._roots[0]}; "
            "file tools only work inside it."
        )

    def reason_read_only(self, name: str, status: os.stat_result | None) -> str:
        """Why tools may not write below an entry, or an empty string."""
        if _plain(name) in READ_ONLY_NAMES:
            return f"{name} is read-only to file tools. To change a repository, run git."
        if status and (status.st_dev, status.st_ino) in self._protected:
            return "agent-tui's own files are read-only to tools."
        return ""

    def open_root(self) -> tuple[int, str]:
        """A descriptor of the root, and why it is read-only if it is."""
        reason = "agent-tui's own files are read-only to tools." if self._root_is_protected else ""
        try:
            return os.open(self._roots[1], _FOLDER), reason
        except OSError as error:
            raise ToolError(
                f"The workspace {self._roots[0]} cannot be opened: {error.strerror}."
            ) from error


class _Walk:
    """One walk from the root to a place; holds a descriptor for each folder on the way."""

    def __init__(self, workspace: Workspace, asked: str, make_folders: bool) -> None:
        self._workspace, self._asked, self._make_folders = workspace, asked, make_folders
        path = str(Path(asked).expanduser()) if asked.startswith("~/") else asked
        self._pending = workspace.parts_inside(path, asked)
        self._names: list[str] = []
        self._folders: list[int] = []
        self._reasons: list[str] = []
        self._links = 0

    def close(self) -> None:
        for descriptor in self._folders:
            os.close(descriptor)
        self._folders.clear()

    def run(self) -> Place:
        descriptor, reason = self._workspace.open_root()
        self._folders.append(descriptor)
        self._reasons.append(reason)
        while self._pending:
            name = self._pending.popleft()
            if name == "..":
                self._go_up()
            elif (target := self._link_target(name)) is not None:
                self._follow(target)
            elif self._pending:
                self._enter(name)
            else:
                return self._place(name)
        return Place(self._folders[-1], ".", Path(*self._names), self._reasons[-1])

    def _place(self, name: str) -> Place:
        status = None
        with suppress(OSError):
            status = os.lstat(name, dir_fd=self._folders[-1])
        reason = self._reasons[-1] or self._workspace.reason_read_only(name, status)
        return Place(self._folders[-1], name, Path(*self._names, name), reason)

    def _go_up(self) -> None:
        if not self._names:
            raise self._workspace.outside(self._asked)
        self._names.pop()
        self._reasons.pop()
        os.close(self._folders.pop())

    def _link_target(self, name: str) -> str | None:
        try:
            return os.readlink(name, dir_fd=self._folders[-1])
        except OSError:
            return None

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > _MOST_LINKS:
            raise ToolError(f"{reveal(self._asked)} goes through too many symbolic links.")
        self._pending.extendleft(reversed(self._workspace.parts_inside(target, self._asked)))
        if target.startswith("/"):
            while self._names:
                self._go_up()

    def _enter(self, name: str) -> None:
        path = Path(*self._names, name)
        try:
            descriptor = self._open_or_make(name)
        except OSError as error:
            raise explain(error, path) from error
        reason = self._workspace.reason_read_only(name, os.fstat(descriptor))
        self._folders.append(descriptor)
        self._names.append(name)
        self._reasons.append(self._reasons[-1] or reason)

    def _open_or_make(self, name: str) -> int:
        folder = self._folders[-1]
        try:
            return os.open(name, _FOLDER, dir_fd=folder)
        except FileNotFoundError:
            reason = self._reasons[-1] or self._workspace.reason_read_only(name, None)
            if not self._make_folders:
                raise
            if reason:
                raise ToolError(reason) from None
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)


def explain(error: OSError, path: Path | str) -> ToolError:
    """One sentence for the model about what the system refused, and what to do."""
    shown = reveal(str(path))
    match error.errno:
        case errno.ENOENT:
            return MissingPath(f"{shown} does not exist.")
        case errno.EACCES | errno.EPERM:
            return ToolError(f"Permission to open or change {shown} was denied by the system.")
        case errno.EISDIR:
            return ToolError(f"{shown} is a folder, not a file.")
        case errno.ENOTDIR:
            return ToolError(f"{shown} is a file, not a folder.")
        case errno.ELOOP:
            return ToolError(f"{shown} turned into a symbolic link while it was opened; try again.")
        case errno.ENOSPC | errno.EDQUOT:
            return ToolError(f"The disk is full: {shown} is unchanged. Free some space first.")
        case errno.EROFS:
            return ToolError(f"{shown} is on a read-only file system and is unchanged.")
        case errno.ENAMETOOLONG:
            return ToolError(f"The path {shown[:80]}… is too long for the file system.")
        case errno.ENXIO:
            return ToolError(f"{shown} is a device, pipe or socket, not a regular file.")
        case _:
            return ToolError(f"{shown}: the system says: {error.strerror or error}.")


def _not_a_file(descriptor: int, mode: int, path: Path) -> ToolError:
    shown = reveal(str(path))
    if not stat.S_ISDIR(mode):
        return ToolError(f"{shown} is a device, pipe or socket, not a regular file.")
    with os.scandir(descriptor) as entries:
        names = sorted(
            reveal(entry.name) + "/" * entry.is_dir(follow_symlinks=False) for entry in entries
        )
    shown_names = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return ToolError(f"{shown} is a folder, not a file. It holds: {shown_names or 'nothing'}.")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _plain(name: str) -> str:
    """The name as a file system that ignores case and invisible characters compares it."""
    return "".join(letter for letter in name.casefold() if letter.isprintable())
