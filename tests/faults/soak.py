"""The processes of the soak: each forks a writer or a reader of one log, again when it is killed.

``python -m tests.faults.soak writer|reader FOLDER NUMBER [MUTANT]``
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from agent_tui.core.errors import SessionBusy
from agent_tui.core.jsonl import encode
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import TitleRecord, UserMessage
from agent_tui.sessions.lock import LOCK
from agent_tui.sessions.log import Durability, LogFile, OpenLog, Piece, Span
from agent_tui.sessions.replay import SessionState, read_log
from tests.faults.mutants import in_force
from tests.faults.snapshot import LIVE

WRITERS, READERS = 4, 2
LOCK_TIMEOUT_SECONDS = 0.3
_PR_SET_PDEATHSIG = 1  # prctl(2)


def acks(folder: Path, writer: int) -> Path:
    """Where a writer notes what was acknowledged to it: one number in eight bytes each."""
    return folder.parent / f"acks-{writer}"


def numbers_in(path: Path) -> list[int]:
    """The numbers in a file of eight bytes each."""
    data = path.read_bytes() if path.exists() else b""
    return [int.from_bytes(data[at : at + 8], "big") for at in range(0, len(data) // 8 * 8, 8)]


def said_by(state: SessionState) -> list[list[int]]:
    """What each writer wrote, in the order of the log."""
    said: list[list[int]] = [[] for _ in range(WRITERS)]
    for entry in state.all_entries:
        if isinstance(entry.record, UserMessage) and isinstance(entry.record.content, str):
            writer, number = entry.record.content.split()
            said[int(writer)].append(int(number))
    return said


def breaks_in(state: SessionState, acked: list[list[int]]) -> list[str]:
    """Acknowledged numbers that are not there, and numbers that are out of order or twice."""
    broken = []
    for writer, (said, known) in enumerate(zip(said_by(state), acked, strict=True)):
        if lost := set(known) - set(said):
            broken.append(f"writer {writer} lost {len(lost)} records, such as {min(lost)}")
        if any(later <= earlier for earlier, later in pairwise(said)):
            broken.append(f"writer {writer} has records out of order or twice")
    return broken


def write_for_ever(folder: Path, writer: int) -> None:
    """Append numbers and replace the log by itself, as fast as the lock allows."""
    chance = random.Random()
    file = LogFile(folder, LOCK_TIMEOUT_SECONDS)
    intents = os.open(folder.parent / f"intents-{writer}", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    acked = os.open(acks(folder, writer), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    number = max(numbers_in(folder.parent / f"intents-{writer}"), default=0)
    while True:
        number += 1
        os.write(intents, number.to_bytes(8, "big"))
        line = encode(record_fields(UserMessage(f"{writer} {number}")))
        try:
            file.append(line, chance.choice((Durability.D0, Durability.D1)))
        except SessionBusy:
            continue
        os.write(acked, number.to_bytes(8, "big"))
        if chance.random() < 0.05:
            revolve(file, folder)
        time.sleep(chance.random() * 0.004)


def revolve(file: LogFile, folder: Path) -> None:
    """Replace the log by all of itself and one more line."""

    def build(log: OpenLog, number: int) -> Iterator[Piece]:
        # A window of the same process looks at the lock: that must not give it away.
        os.close(os.open(folder / LOCK, os.O_RDONLY))
        descriptor, size = log[0], log[1]
        yield Span(descriptor, 0, size)
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            yield b"\n"
        time.sleep(0.004)
        yield encode(record_fields(TitleRecord(f"archive {number}")))

    try:
        file.replace(build)
    except SessionBusy:
        return


def read_for_ever(folder: Path, reader: int) -> None:
    """Read without a lock; note how often, and everything that is not as it must be."""
    notes = os.open(folder.parent / f"read-{reader}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        acked = [numbers_in(acks(folder, writer)) for writer in range(WRITERS)]
        try:
            broken = breaks_in(read_log(folder / LIVE), acked)
        except Exception as error:
            broken = [f"reading raised {error!r}"]
        os.write(notes, "".join(f"{sentence}\n" for sentence in broken or ["."]).encode())


def main() -> None:
    """Fork the worker, and fork it again when it was killed."""
    role, folder, number, mutant = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    work = write_for_ever if role == "writer" else read_for_ever
    _end_with_parent()
    with in_force(mutant):
        while True:
            child = os.fork()
            if child == 0:
                _end_with_parent()
                _work(work, folder, number)
            (folder.parent / f"pid-{role}-{number}").write_text(str(child))
            os.waitpid(child, 0)


def _end_with_parent() -> None:
    """Be killed with the process that started this one: a soak broken off leaves nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _work(work: Callable[[Path, int], None], folder: Path, number: int) -> None:
    try:
        work(folder, number)
    except Exception as error:  # with the lock held, nothing but a busy lock may go wrong
        with (folder.parent / f"raised-{number}").open("a") as notes:
            notes.write(f"{error!r}\n")
        os._exit(1)


if __name__ == "__main__":
    main()
