"""Which sessions somebody works in now, though nothing may have been written for minutes.

Told by what other processes of this user hold open for writing: the owner file of a session of
ours, which is locked as long as a window has it, and the log of another agent's. Most agents open
their log for each line only. Of those the end of the log is looked at: a call without its result,
or a prompt without its answer, is somebody's work for a while, and as long as the agent's program
runs in the session's folder.

What cannot be known: whether an agent that was killed in a call, or sent to sleep with its machine,
still works, so that such a session counts until the time is over; whether an agent sits idle at
its prompt; and what processes of other users, machines and containers do in a shared folder.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.format import parse_time
from agent_tui.core.records import AssistantMessage, Record, ToolMessage, is_message, is_prompt
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.importers.registry import importer_of, locate
from agent_tui.sessions.lock import OWNER, is_owned

_PROCESSES = Path("/proc")
_LONGEST_CALL = timedelta(hours=1)
_LONGEST_ANSWER = timedelta(minutes=10)
_MOST_LOOKED_AT = 50
"""Logs of other agents whose end is read, and sessions of ours whose lock is tried, at most."""
_MOST_SECONDS = 0.5
"""After this, no further log is read."""
_SHIFTED = timedelta(days=1)
"""So far apart may rows stand in the wrong order, whose times are told by clocks of many zones."""
_TAIL = 40
_LOGS = (".jsonl", ".json")
_WORDS = 3
"""Words of a command line among which a program's name is looked for: ``node --flag claude``."""

SessionName: TypeAlias = tuple[str, str]
"""Source and folder of a session."""


def find_live(rows: Iterable[SessionSummary]) -> frozenset[SessionName]:
    """The sessions that somebody works in, of rows that are newest first. Blocks: mostly 20 ms."""
    rows = list(rows)
    files = written_files()
    held = _locked(rows) if files is None else _held(rows, files)
    live = {_name(row) for row in held}
    theirs = (row for row in rows if not _is_ours(row) and _name(row) not in live)
    lately = islice(_written_lately(theirs, datetime.now(UTC)), _MOST_LOOKED_AT)
    waiting = chain(lately, ((row, timedelta()) for row in _at_work(rows, live)))
    end = time.monotonic() + _MOST_SECONDS
    in_time = takewhile(lambda _: time.monotonic() < end, waiting)
    return frozenset(live | {_name(row) for row, age in in_time if _awaits(row, age)})


def _written_lately(
    rows: Iterable[SessionSummary], now: datetime
) -> Iterator[tuple[SessionSummary, timedelta]]:
    """Rows with their age, which a call may be as old as; those behind much older ones are not."""
    timed = ((row, parse_time(row.updated_at)) for row in rows)
    aged = ((row, now - at) for row, at in timed if at is not None)
    near = takewhile(lambda each: each[1] < _LONGEST_CALL + _SHIFTED, aged)
    return ((row, age) for row, age in near if age < _LONGEST_CALL)


def _at_work(
    rows: Sequence[SessionSummary], live: Collection[SessionName]
) -> Iterator[SessionSummary]:
    """The newest session of each agent whose program runs in its folder, where that is known."""
    places = {(row.source, row.cwd) for row in rows if row.cwd and not _is_ours(row)}
    sources = {_program_of(source): source for source, _ in places}
    running = places & {(sources[name], cwd) for name, cwd in _running(sources.keys() - {""})}
    for row in rows:
        if not running:
            return
        if (row.source, row.cwd) in running:
            running.discard((row.source, row.cwd))
            if _name(row) not in live:
                yield row


def _program_of(source: str) -> str:
    """The name of an agent's program, by which its sessions are resumed; empty where unknown."""
    return importer_of(source).resume("0", "").partition(" ")[0]


def _running(programs: Collection[str]) -> Iterator[tuple[str, str]]:
    """Which of some programs run, each with the folder it runs in; the interpreter may come first.

    Of no other program and no other user anything is told.
    """
    for process in (_processes() or ()) if programs else ():
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")[:_WORDS]
            for name in {Path(os.fsdecode(word)).name for word in words} & set(programs):
                yield name, str((process / "cwd").readlink())


def _processes() -> list[Path] | None:
    """The processes of this machine; None where the system does not tell."""
    try:
        return [each for each in _PROCESSES.iterdir() if each.name.isdigit()]
    except OSError:
        return None


def written_files() -> set[Path] | None:
    """Logs that other processes have open for writing; None where the system does not tell."""
    processes = _processes()
    if processes is None:
        return None
    found: set[Path] = set()
    for process in processes:
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):  # another user's, or it has just ended
            found.update(_written_by(process))
    return found


def _written_by(process: Path) -> Iterator[Path]:
    for link in (process / "fd").iterdir():
        with suppress(OSError, ValueError, StopIteration):
            file = link.readlink()
            if file.name.endswith((OWNER, *_LOGS)) and _writes(process / "fdinfo" / link.name):
                yield file


def _writes(about: Path) -> bool:
    lines = about.read_text(encoding="ascii").splitlines()
    flags = next(line for line in lines if line.startswith("flags:"))
    return int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY


def _locked(rows: Iterable[SessionSummary]) -> Iterator[SessionSummary]:
    """The sessions of ours whose lock somebody holds; the newest are tried."""
    ours = islice((row for row in rows if _is_ours(row)), _MOST_LOOKED_AT)
    return (row for row in ours if is_owned(Path(row.folder)))


def _held(rows: Iterable[SessionSummary], files: Iterable[Path]) -> Iterator[SessionSummary]:
    """The sessions of some files, which may be known by another path, through a link."""
    places: defaultdict[str, list[Path]] = defaultdict(list)
    for place in map(_place_of, files):
        places[place.name].append(place)
    for row in rows:
        named = places.get(row.folder.rpartition("/")[2], ())
        with suppress(OSError):
            if any(place.samefile(row.folder) for place in named):
                yield row


def _place_of(file: Path) -> Path:
    """What names the session in the list: our folder, or another agent's file."""
    return file.parent if file.name == OWNER else file


def _awaits(row: SessionSummary, age: timedelta) -> bool:
    """Whether a log ends in what is not answered yet."""
    try:
        ref = locate(Path(row.folder))
        read_tail = importer_of(ref.source).read_tail
        records = read_tail(ref, _TAIL).records if read_tail else ()
    except (AgentTuiError, OSError):
        return False
    return _has_open_call(records) or (age < _LONGEST_ANSWER and _ends_in_prompt(records))


def _has_open_call(records: Iterable[Record]) -> bool:
    open_calls: set[str] = set()
    for record in records:
        if isinstance(record, AssistantMessage):
            open_calls = {call.id for call in record.tool_calls}
        elif isinstance(record, ToolMessage):
            open_calls.discard(record.tool_call_id)
        elif is_prompt(record):
            open_calls.clear()
    return bool(open_calls)


def _ends_in_prompt(records: Iterable[Record]) -> bool:
    said = [record for record in records if is_message(record)]
    return bool(said) and is_prompt(said[-1])


def _is_ours(row: SessionSummary) -> bool:
    return row.source == OURS


def _name(row: SessionSummary) -> SessionName:
    return row.source, row.folder
