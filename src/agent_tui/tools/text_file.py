"""Text files as tools see them: read whole and decoded, replaced in one step, never torn."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.core.text import reveal
from agent_tui.tools.background import threads
from agent_tui.tools.workspace import MissingPath, Place, explain

LARGEST_BYTES = 10_000_000
"""Files beyond this are not read or edited whole."""

_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text as it is on disk (line endings kept, byte order mark apart)."""

    text: str
    digest: str
    marked: bool = False

    @property
    def uses_crlf(self) -> bool:
        """Whether every line ends as on Windows."""
        lines = self.text.count("\n")
        return lines > 0 and self.text.count("\r\n") == lines


def read_text_file(place: Place) -> TextFile:
    """Read and decode a file.

    Raises:
        MissingPath: it is not there.
        ToolError: it is no regular file, too large, binary, or not UTF-8.
    """
    return decode_text(read_bytes(place.open_file(), place.path), place.path)


def decode_text(data: bytes, path: Path) -> TextFile:
    """The text of a file's bytes; raises ToolError where they are no UTF-8 text."""
    marked = data.startswith(codecs.BOM_UTF8)
    return TextFile(_decode(data, path), digest_of(data), marked)


def digest_of(data: bytes) -> str:
    """The fingerprint by which a changed file is recognised."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def read_bytes(descriptor: int, path: Path) -> bytes:
    """All of an open file, which is closed; raises ToolError where it is too large."""
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        try:
            data = file.read(LARGEST_BYTES + 1)
        except OSError as error:
            raise explain(error, path) from error
    _check_size(data, size, path)
    return data


async def read_bytes_async(open_file: Callable[[], int], path: str) -> bytes:
    """All of a file that ``open_file`` opens; raises what that raises, and as read_bytes does.

    It walks and opens in one go, in one thread: between two, a descriptor of a folder could be
    closed and its number mean another folder.
    """
    import aiofiles

    def opener(_path: str, _flags: int) -> int:
        return open_file()

    async with aiofiles.open(path, "rb", opener=opener, executor=threads()) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            data = await file.read(LARGEST_BYTES + 1)
        except OSError as error:
            raise explain(error, path) from error
    _check_size(data, size, path)
    return data


def _check_size(data: bytes, size: int, path: Path | str) -> None:
    if len(data) > LARGEST_BYTES:
        raise ToolError(
            f"{reveal(str(path))} is {max(size, len(data)) / 1e6:,.1f} MB, more than "
            f"{LARGEST_BYTES // 1_000_000} MB. Use search_files, or run_command with head, tail "
            "or sed, to see parts of it."
        )


def _decode(data: bytes, path: Path) -> str:
    shown = reveal(str(path))
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            raise ToolError(
                f"{shown} is {encoding} text; only UTF-8 is read. Convert it with iconv."
            )
    if b"\0" in data[:65_536]:
        raise ToolError(
            f"{shown} is a binary file of {len(data):,} bytes. Use run_command (file, xxd, "
            "strings) to look into it."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolError(
            f"{shown} is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}. "
            "Convert it with iconv, or look at it with run_command."
        ) from error


def replace_text_file(place: Place, text: str, expected: str, *, marked: bool = False) -> str:
    """Replace a file by new text in one step, keeping its mode; returns the new digest.

    The text is written beside the file, synced, and renamed over it: a crash leaves the old file
    or the new one. ``expected`` is the digest that the file must still have (ABSENT for a new
    file).

    Raises:
        ToolError: the file changed, or the system refused; the old file stands.
    """
    data = (codecs.BOM_UTF8 if marked else b"") + _encode(text)
    place.check_writable()
    temporary = f".agent-tui-{secrets.token_hex(8)}.tmp"
    try:
        _write_beside(place, temporary, data)
        check_unchanged(place, expected)
        os.rename(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except OSError as error:
        _remove(place, temporary)
        raise explain(error, place.path) from error
    except BaseException:
        _remove(place, temporary)
        raise
    with suppress(OSError):
        os.fsync(place.folder)
    return digest_of(data)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            f"The text cannot be written as UTF-8: it has half a surrogate pair at {error.start}."
        ) from error


def check_unchanged(place: Place, expected: str) -> None:
    """Raise a ToolError if the file does not have the expected digest any longer."""
    try:
        found = digest_of(read_bytes(place.open_file(), place.path))
    except MissingPath:
        found = ""
    if found == expected:
        return
    shown = reveal(str(place.path))
    happened = "was deleted" if not found else "appeared" if not expected else "was changed"
    raise ToolError(
        f"{shown} {happened} by someone else after you saw it; nothing was written. "
        "Read it again and repeat the change."
    )


def _write_beside(place: Place, temporary: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666, dir_fd=place.folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        with suppress(FileNotFoundError):
            old = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
            if not os.access(place.name, os.W_OK, dir_fd=place.folder):
                raise PermissionError(errno.EACCES, "the file is read-only", place.name)
            with suppress(PermissionError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
        os.fsync(descriptor)


def _remove(place: Place, name: str) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=place.folder)
