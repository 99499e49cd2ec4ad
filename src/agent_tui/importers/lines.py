"""Reading files that others write: line by line in bytes, never stopping at a bad one."""

from __future__ import annotations

import os
import resource
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from agent_tui.core.errors import (
    BadRecord,
    SessionError,
    SessionNotFound,
    SessionReadOnly,
    StorageError,
)
from agent_tui.core.format import format_size, format_too_big
from agent_tui.core.jsonl import BOM, LineReader, bulk_decoder
from agent_tui.core.text import reveal
from agent_tui.importers.accounting import AccountBook
from agent_tui.importers.kept_lines import KeptLines, Value, lines_in_use

_SMALL_FILE = 4 << 20
_SMALL_TEXT = 4 << 10
_PADDING = BOM + b"\0 \t\r\n"
_HEAD_BYTES = 32 << 10
HEADS = (_HEAD_BYTES, 1 << 20)
"""How much of the beginning is read for a row: more where no prompt stands in less of it."""
_END_BYTES = 16 << 10
_TAIL_BLOCK = 256 << 10
_LONGEST_TAIL = 16 << 20
_LONGEST_LOG = 4 << 30
_LONGEST_DOCUMENT = 256 << 20
_SHARE_OF_MEMORY = 2
"""A log may take half of what is left of the memory; that is looked at while lines are read."""
_BYTES_HELD = 2
"""What each byte of a log takes in any case."""
_LINES_BETWEEN_LOOKS = 16
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_OWN_MEMORY = Path("/proc/self/statm")
_MACHINE_MEMORY = Path("/proc/meminfo")
_AVAILABLE = "MemAvailable:"
ZSTD = b"\x28\xb5\x2f\xfd"


def open_to_read(path: Path, buffer_size: int = -1) -> BinaryIO:
    """Open a regular file.

    Raises:
        SessionNotFound: there is none.
        SessionError: it is a folder, pipe or device, or cannot be read now.
    """
    shown = reveal(str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise SessionNotFound(f"There is no file {shown}.") from error
    except PermissionError as error:
        raise SessionReadOnly(f"{shown} may not be read: permission was denied.") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StorageError(f"{shown} cannot be read: {why}.") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb", buffer_size)
    os.close(descriptor)
    raise SessionError(f"{shown} is not a regular file: a session log was expected.")


def open_log(path: Path, most: int = _LONGEST_LOG) -> BinaryIO:
    """Open a log to read; a compressed one is unpacked into a nameless file, ``most`` bytes of it.

    Raises:
        SessionError, StorageError: it cannot be read, or is longer than any log.
    """
    file = open_to_read(path)
    if os.pread(file.fileno(), len(ZSTD), 0) != ZSTD:
        return file
    import zstandard

    descriptor, name = tempfile.mkstemp()
    Path(name).unlink()
    unpacked = os.fdopen(descriptor, "w+b")
    with file, zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as packed:
        try:
            while block := packed.read(min(_TAIL_BLOCK, most - unpacked.tell())):
                unpacked.write(block)
        except zstandard.ZstdError:
            pass  # torn: what came out until here is all there is
        except OSError as error:
            unpacked.close()
            raise _broken_off(path, error) from error
    if unpacked.tell() == _LONGEST_LOG:
        unpacked.close()
        raise StorageError(
            f"{reveal(str(path))} is too big to open: unpacked, it is more than "
            f"{format_size(_LONGEST_LOG)}."
        )
    unpacked.flush()
    unpacked.seek(0)
    return unpacked


def read_objects(path: Path) -> Iterator[dict[str, Any] | None]:
    """The JSON object of each line that is not blank; None for a line that is not one.

    A torn last line counts only if it parses whole; NULs and a byte order mark around an object
    are tolerated, a line of nothing but NULs is not blank.
    """
    with open_to_read(path) as file:
        try:
            for _, _, line in LineReader(file.fileno()).lines():
                if line is None:
                    yield None
                elif content := line.strip(_PADDING):
                    yield decode(content)
                elif b"\0" in line:
                    yield None
        except OSError as error:
            raise StorageError(
                f"{reveal(str(path))} cannot be read to its end: {error.strerror}."
            ) from error


def decode(line: bytes) -> dict[str, Any] | None:
    """One JSON object with finite numbers and bounded depth, or None."""
    try:
        return bulk_decoder()(line)
    except BadRecord:
        return None


def read_small_object(path: Path) -> dict[str, Any]:
    """The JSON object that a small side file holds; empty where it is missing or broken."""
    try:
        with open_to_read(path) as file:
            return decode(file.read(_SMALL_FILE)) or {}
    except (SessionError, StorageError, OSError):
        return {}


def read_small_text(path: Path) -> str:
    """What a small side file says; empty where it is missing or no text."""
    try:
        with open_to_read(path) as file:
            return file.read(_SMALL_TEXT).decode().strip()
    except (SessionError, StorageError, OSError, UnicodeDecodeError):
        return ""


@dataclass(slots=True)
class Entries:
    """The JSON objects of a file in its order, each with its number in the account book.

    ``is_whole`` is false where only the end of the file was read; ``damaged_numbers`` are those of
    the lines that are no records.
    """

    path: Path
    book: AccountBook = field(default_factory=AccountBook)
    objects: list[dict[str, Any]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    damaged_numbers: list[int] = field(default_factory=list)
    is_whole: bool = True

    def take(self, line: bytes | None) -> None:
        """Decode one line, blank and damaged ones included."""
        self.take_value(read_value(line))

    def take_value(self, value: Value) -> None:
        """What one line holds."""
        number = self.book.open()
        if value is True:
            self.book.skip(number, "blank line")
        elif value is False:
            self.damage(number)
        else:
            self.objects.append(value)
            self.numbers.append(number)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Each object with its number."""
        return iter(zip(self.objects, self.numbers, strict=True))

    @property
    def damaged(self) -> int:
        """How many lines are no records."""
        return len(self.damaged_numbers)

    def damage(self, number: int) -> None:
        """One of the objects turned out to be no record."""
        self.damaged_numbers.append(number)
        self.book.damage(number)


def read_value(line: bytes | None) -> Value:
    """What a line holds; None stands for one that is longer than we read."""
    content = line.strip(_PADDING) if line is not None else b""
    if content:
        value = decode(content)
        return False if value is None else value
    return line is not None and b"\0" not in line


def read_entries(path: Path) -> Entries:
    """Every line of a file, decompressed where it is compressed.

    Where lines are kept, only those are read that were added since.

    Raises:
        SessionError, StorageError: it cannot be read, or is too big to be held.
    """
    entries = Entries(path)
    with open_log(path) as file:
        size, taken = os.fstat(file.fileno()).st_size, memory_taken()
        most = memory_left() // _SHARE_OF_MEMORY
        if size * _BYTES_HELD > most:
            raise _too_long(path, size, most)
        try:
            kept, reader = lines_in_use(), LineReader(file.fileno())
            values = _values(reader) if kept is None else _kept_values(kept, path, reader)
            for number, value in enumerate(values):
                if number % _LINES_BETWEEN_LOOKS == 0 and memory_taken() - taken > most:
                    raise _too_long(path, size, most)
                entries.take_value(value)
        except OSError as error:
            raise _broken_off(path, error) from error
    return entries


def memory() -> int:
    """Bytes of memory that this process may take at most: the machine's, or its container's."""
    most = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    most.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    with suppress(OSError, ValueError):  # there is none, or it says "max"
        most.append(int(_CONTAINER_LIMIT.read_text()))
    return min((each for each in most if each > 0), default=_LONGEST_LOG)


def memory_taken() -> int:
    """Bytes of memory that this process has now; where that is not told, at most since it began.

    A peak would not do: it counts what was given back, and a new process has that of its parent.
    """
    with suppress(OSError, ValueError, IndexError):
        return int(_OWN_MEMORY.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def memory_left() -> int:
    """Bytes of memory that this process may still take: within its limits, and free as far as told.

    What others have taken is told by Linux alone.
    """
    left = memory() - memory_taken()
    with suppress(OSError, ValueError, IndexError):
        told = _MACHINE_MEMORY.read_text().partition(_AVAILABLE)[2]
        left = min(left, int(told.split()[0]) << 10)
    return max(0, left)


def _too_long(path: Path, size: int, most: int) -> SessionError:
    limit = f"fits in half of the free memory ({format_size(most)})"
    told = format_too_big(reveal(str(path)), "open", size, limit)
    return SessionError(f"{told} Split it, and open a part.")


def _values(reader: LineReader) -> Iterator[Value]:
    return (read_value(line) for _, _, line in reader.lines())


def _kept_values(kept: KeptLines, path: Path, reader: LineReader) -> Iterator[Value]:
    """What every line holds: those that are kept, then the rest, which are kept from now on."""
    known = kept.find(path, reader.descriptor)
    yield from known.values
    reader.offset = begin = known.offset
    try:
        for offset, length, line in reader.lines():
            value = read_value(line)
            if offset == known.offset and line is not None and len(line) < length:  # it is finished
                known.add(line, value)
            yield value
    finally:
        kept.bytes_read += reader.offset - begin
        kept.drop_if_long(path)


def watch_lines(path: Path, kept: KeptLines) -> None:
    """From now on it is told whether the lines of a file are rewritten; raises as read_entries."""
    with open_log(path) as file:
        kept.watch(path, file.fileno())


def read_document(path: Path) -> Entries:
    """A file that is one JSON object over many lines; it counts as one record.

    Raises:
        SessionError, StorageError: it cannot be read, or is too big to be held.
    """
    entries = Entries(path)
    with open_log(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > _LONGEST_DOCUMENT:
            raise StorageError(format_too_big(reveal(str(path)), "open", size, _LONGEST_DOCUMENT))
        try:
            entries.take(file.read())
        except OSError as error:
            raise _broken_off(path, error) from error
    return entries


def read_last_entries(path: Path, count: int) -> Entries:
    """The last lines of a file, read from its end: at most ``count``, and at most 16 MB of them."""
    entries = Entries(path)
    with open_log(path) as file:
        try:
            data, is_whole = _read_last_lines(file.fileno(), count)
        except OSError as error:
            raise _broken_off(path, error) from error
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for line in lines[-count:]:
        entries.take(line)
    entries.is_whole = is_whole and len(lines) <= count
    return entries


def read_ends(path: Path, head_bytes: int = _HEAD_BYTES) -> Entries:
    """The lines in the first and last bytes of a file: enough for a row of a list.

    Of a compressed file only the beginning is unpacked.
    """
    entries = Entries(path, is_whole=False)
    with open_log(path, head_bytes) as file:
        descriptor = file.fileno()
        try:
            head = os.pread(descriptor, head_bytes, 0)
            size = os.fstat(descriptor).st_size
            entries.is_whole = size == len(head) < head_bytes
            start = max(len(head), size - _END_BYTES)
            tail = os.pread(descriptor, _END_BYTES, start)
        except OSError as error:
            raise _broken_off(path, error) from error
    for line in (*head.split(b"\n"), *tail.split(b"\n")):
        entries.take(line)
    return entries


def _read_last_lines(descriptor: int, count: int) -> tuple[bytes, bool]:
    """The bytes of the last lines, from the beginning of one; whether that is all there is."""
    end = os.fstat(descriptor).st_size
    blocks: list[bytes] = []
    start, found = end, 0
    while start > 0 and found <= count and end - start < _LONGEST_TAIL:
        size = min(_TAIL_BLOCK, start)
        start -= size
        blocks.append(os.pread(descriptor, size, start))
        found += blocks[-1].count(b"\n")
    data = b"".join(reversed(blocks))
    return (data, True) if start == 0 else (data.partition(b"\n")[2], False)


def _broken_off(path: Path, error: OSError) -> StorageError:
    return StorageError(f"{reveal(str(path))} cannot be read to its end: {error.strerror}.")
