"""The records of a session as if it had never been compacted."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import Record
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.session_log import SessionLog

Pick: TypeAlias = Callable[[Iterable[Record]], Iterable[Record]]
"""What matters of the messages of one log; the rest need not be held."""


def uncompacted_records(log: SessionLog, mark: bytes, pick: Pick) -> list[Record]:
    """The messages of this branch that are picked, oldest first, with what compactions took out.

    Each is given once by its id; one without an id again for every log that holds it. Reads the
    archives, which blocks, and only where one of them holds ``mark``. What cannot be read is left
    out and hides nothing else.
    """
    parts = [_picked(log.state, pick)]
    archives = _archives(log)
    if log.state.compactions and any(_holds(path, mark) for path in archives.values()):
        parts.extend(_read_backwards(log, sorted(archives), pick))
    found: dict[str, Record] = {}
    for part in reversed(parts):
        for record in part:
            found.setdefault(record.stamp.uuid or f"no id {len(found)}", record)
    return list(found.values())


def _archives(log: SessionLog) -> dict[int, Path]:
    try:
        return log.archive_files()
    except (AgentTuiError, OSError):
        return {}


def _read_backwards(log: SessionLog, present: list[int], pick: Pick) -> Iterator[list[Record]]:
    """What is picked of the logs that compactions replaced, the newest first; holds one at a time.

    Behind one that cannot be read, the next older one that is there is taken to be the one before.
    """
    older, seen = _numbers(log.state), set[int]()
    while older := [number for number in older if number not in seen]:
        number = older[-1]
        seen.add(number)
        try:
            state = log.read_archive(number)
        except (AgentTuiError, OSError):
            older = [each for each in present if each < number]
            continue
        part, older = _picked(state, pick), _numbers(state)
        del state
        yield part


def _numbers(state: SessionState) -> list[int]:
    return [each.archive for each in state.compactions]


def _picked(state: SessionState, pick: Pick) -> list[Record]:
    return list(pick(entry.record for entry in list(state.messages)))


def _holds(path: Path, mark: bytes) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(mark) >= 0
    except (OSError, ValueError):  # it is gone, or empty
        return False
