"""What was too long for the model, kept whole beside the session: read_file opens it."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError

BLOBS = "blobs"
"""The folder beside a log where they are kept."""

SCHEME = "blob:"
LARGEST_BLOB_BYTES = 10_000_000
"""What comes behind so many bytes of one output is not kept."""
_NAME = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class BlobFolder:
    """The folder of a session where long outputs are kept, each named by its hash."""

    folder: Path

    def begin(self) -> Blob | None:
        """A new blob to write to; None where the disk does not take it: then nothing is kept."""
        path = self.folder / f".part-{secrets.token_hex(8)}"
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            return Blob(path, os.fdopen(os.open(path, flags, 0o600), "wb"))
        except OSError:
            return None

    def keep(self, text: str) -> str:
        """Keep a text; returns the path that read_file takes, empty where it could not be kept."""
        blob = self.begin()
        if blob is None:
            return ""
        blob.write(text.encode("utf-8", "replace"))
        return blob.finish()

    def open(self, path: str) -> int:
        """A descriptor of a blob, by the path that the model was told; raises ToolError."""
        name = path.removeprefix(SCHEME)
        if not _NAME.fullmatch(name):
            raise ToolError(f"Expected {SCHEME} and 32 hexadecimal digits, got {path[:80]!r}.")
        try:
            return os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise ToolError(f"There is no {SCHEME}{name} in this session.") from error


class Blob:
    """An output that is being written; ``finish`` names it, ``drop`` removes it."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._hash = hashlib.blake2b(digest_size=16)
        self._bytes = 0
        self._failed = False

    @property
    def is_full(self) -> bool:
        """Whether anything came that is not kept, because there was too much."""
        return self._bytes >= LARGEST_BLOB_BYTES

    def write(self, data: bytes) -> None:
        """Take more, up to the cap; a disk that refuses ends the keeping, never the tool."""
        data = data[: LARGEST_BLOB_BYTES - self._bytes]
        self._bytes += len(data)
        self._hash.update(data)
        try:
            self._file.write(data)
        except OSError:
            self._failed = True

    def finish(self) -> str:
        """Close it; returns the path that read_file takes, empty where it could not be kept."""
        name = self._hash.hexdigest()
        try:
            self._file.close()
            if not self._failed:
                self._path.replace(self._path.with_name(name))
                return SCHEME + name
        except OSError:
            pass
        self.drop()
        return ""

    def drop(self) -> None:
        """Remove what was written."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink()
