"""Contents of files by their hash, private to their owner, shared by the sessions of a project.

A content is written to a temporary file, flushed and renamed: what has its name is whole. Which
session needs which content stands in one file for each session, so that the oldest sessions can be
deleted first (see ``trimming``) and nobody loses what another one needs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from agent_tui.workspace.errors import ContentMissing, NotCovered
from agent_tui.workspace.folders import (
    close,
    make_private_folder,
    read_whole,
    sync_files,
    sync_folder,
    write_all,
    write_private_file,
)

JOURNAL = "restore.json"
"""The name in a session's folder of what a revert under way is about to do."""
_HASH = re.compile(r"[0-9a-f]{64}")


class ContentStore:
    """The workspace folder of one project, as one session uses it."""

    def __init__(self, folder: str, session_id: str) -> None:
        self.folder = folder
        self.session_id = session_id
        self.objects = os.path.join(folder, "objects")
        self.session_folder = os.path.join(folder, "sessions", session_id)
        self.journal_path = os.path.join(self.session_folder, JOURNAL)
        self._refs: dict[str, int] | None = None
        self._new_refs: list[str] = []
        self._unflushed: list[str] = []
        self._is_found_again = False

    def prepare(self) -> None:
        """Create what is missing; a session's own folder is durable once it holds anything."""
        make_private_folder(self.objects)
        make_private_folder(os.path.dirname(self.session_folder))
        make_private_folder(self.session_folder, durable=False)

    def make_durable(self) -> None:
        """Let the session's folder, and what is in it, be found again after a power cut.

        Once for each run is enough, whoever made the folder: the names in it do not change.
        """
        if not self._is_found_again:
            sync_folder(self.session_folder)
            sync_folder(os.path.dirname(self.session_folder))
            self._is_found_again = True

    @contextmanager
    def locked(self, *, alone: bool = False, seconds: float = 5.0) -> Iterator[None]:
        """Keep others from deleting contents, or, alone, from using the store at all.

        Raises:
            NotCovered: another process holds the lock for longer than ``seconds``.
        """
        self.prepare()
        path = os.path.join(self.folder, "lock")
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            _lock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, seconds)
            yield
        finally:
            close(descriptor)

    def path_of(self, digest: str) -> str:
        """Where a content is, or would be."""
        return os.path.join(self.objects, digest)

    def has(self, digest: str, size: int) -> bool:
        """Whether a content is there in its whole length."""
        if not _HASH.fullmatch(digest):
            return False
        try:
            status = os.lstat(self.path_of(digest))
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and status.st_size == size

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Keep a content; returns its hash. It survives a power cut after ``flush``, if durable.

        A first capture may copy a great many files that stand on the disk as they are: flushing
        each would take minutes. What a power cut takes of them is noticed by size and hash.
        """
        digest = hashlib.sha256(data).hexdigest()
        if not self._is_kept(digest, data):
            self._write(digest, data)
            if durable:
                self._unflushed.append(self.path_of(digest))
        self._refer(digest, len(data))
        return digest

    def _is_kept(self, digest: str, data: bytes) -> bool:
        """Whether a content is there; one that nobody is known to have flushed is read."""
        if not self.has(digest, len(data)):
            return False
        if digest in self._known_refs():
            return True
        with suppress(ContentMissing):
            return self.get(digest) == data
        return False

    def _write(self, digest: str, data: bytes) -> None:
        temporary = f"{self.path_of(digest)}.{os.getpid()}.tmp"
        write_private_file(temporary, data, durable=False)
        os.rename(temporary, self.path_of(digest))

    def get(self, digest: str) -> bytes:
        """A content, checked against its hash.

        Raises:
            ContentMissing: it no longer exists, or not what was kept.
        """
        if not _HASH.fullmatch(digest):
            raise ContentMissing("its content was not kept")
        try:
            data = read_whole(self.path_of(digest))
        except OSError as error:
            raise ContentMissing("its content is no longer in the store") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise ContentMissing("its content in the store is damaged")
        return data

    def keep(self, states: Iterable[tuple[str, int]]) -> None:
        """Say that this session needs contents that are there already."""
        for digest, size in states:
            self._refer(digest, size)

    def flush(self) -> None:
        """Make what was kept durable, and the list of what this session needs."""
        if self._unflushed:
            sync_files(self._unflushed)
            sync_folder(self.objects)
        self._unflushed.clear()
        self._write_refs()

    def note_use(self) -> None:
        """Count this session as used now: the others go first where room is made."""
        with suppress(FileNotFoundError):
            os.utime(path_of_refs(self.session_folder))

    def _refer(self, digest: str, size: int) -> None:
        refs = self._known_refs()
        if digest not in refs:
            refs[digest] = size
            self._new_refs.append(f"{digest} {size}\n")

    def _known_refs(self) -> dict[str, int]:
        if self._refs is None:
            self._refs = dict(read_refs(self.session_folder))
            self._new_refs = []
        return self._refs

    def _write_refs(self) -> None:
        self._known_refs()
        if not self._new_refs:
            return
        path = path_of_refs(self.session_folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            write_all(descriptor, "".join(["\n", *self._new_refs]).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.make_durable()
        self._new_refs.clear()

    def forget(self) -> None:
        """Reload what this session needs: the store was changed behind it."""
        self._refs = None
        self._is_found_again = False


def path_of_refs(session_folder: str) -> str:
    """Where the list of the contents is, or would be, that a session needs."""
    return os.path.join(session_folder, "refs")


def read_refs(session_folder: str) -> Iterator[tuple[str, int]]:
    """The contents that a session needs, with their sizes; torn lines are passed over."""
    try:
        listed = read_whole(path_of_refs(session_folder))
    except OSError:
        return
    for line in listed.split(b"\n"):
        digest, _, size = line.decode(errors="replace").partition(" ")
        if _HASH.fullmatch(digest) and size.isdecimal():
            yield digest, int(size)


def _lock(descriptor: int, kind: int, seconds: float) -> None:
    waited = threading.Event()
    for _ in range(max(1, int(seconds / 0.02))):
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            waited.wait(0.02)
        else:
            return
    raise NotCovered("another window is reverting files of this project; try again when it is done")
