"""Which content git means by a name: pairs of its object name and the store's hash."""

from __future__ import annotations

import hashlib
import os

from agent_tui.workspace.folders import read_whole, write_all


def name_of(content: bytes, algorithm: str) -> str:
    """What git calls a content in a repository of an algorithm: ``sha1`` or ``sha256``."""
    header = b"blob %d\0" % len(content)
    return hashlib.new(algorithm, header + content, usedforsecurity=False).hexdigest()


class ObjectNames:
    """A list that only grows; a line that is torn or lost costs a content, never a wrong one."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._names: dict[str, tuple[str, int]] | None = None
        self._new: list[str] = []

    def find(self, oid: str) -> tuple[str, int]:
        """The hash and size of a content; ("", 0) where it is not known."""
        return self._known().get(oid, ("", 0))

    def add(self, oid: str, digest: str, size: int) -> None:
        """Remember a pair."""
        if oid not in self._known():
            self._known()[oid] = (digest, size)
            self._new.append(f"{oid} {digest} {size}\n")

    def flush(self) -> None:
        """Write down what was added."""
        if not self._new:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o600)
        try:
            write_all(descriptor, "".join(["\n", *self._new]).encode())
        finally:
            os.close(descriptor)
        self._new.clear()

    def _known(self) -> dict[str, tuple[str, int]]:
        if self._names is None:
            self._names = {}
            try:
                listed = read_whole(self._path)
            except FileNotFoundError:
                return self._names
            for line in listed.split(b"\n"):
                words = line.decode(errors="replace").split()
                if len(words) == 3 and len(words[1]) == 64 and words[2].isdecimal():
                    self._names[words[0]] = (words[1], int(words[2]))
        return self._names
