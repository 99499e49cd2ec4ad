"""Layers "processes" and "signals": real processes that write, read, are stopped, are killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from agent_tui.core.records import UserMessage
from agent_tui.sessions.replay import read_log
from tests.faults.acts import SMALL
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.snapshot import LIVE, Snapshot, put, take
from tests.faults.soak import LOCK_TIMEOUT_SECONDS, READERS, WRITERS, acks, breaks_in, numbers_in
from tests.faults.strace import ROOT, Victim, child_environment
from tests.faults.verdict import judge_going_on, recover
from tests.faults.victim import MOST_APPENDS

LAYER = "processes"
SIGNAL_LAYER = "signals"
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)


def run(effort: Effort) -> Outcome:
    """Four writers and two readers of one log, with random SIGKILL and SIGSTOP."""
    outcome = Outcome(LAYER)
    seconds = 4.0 if effort.first_only else 30.0 if effort.full else 8.0
    folder = put(Snapshot({LIVE: b""}), effort.scratch / "s1")
    with timed(outcome):
        with _workers(folder, effort.mutant):
            _disturb(folder, outcome, seconds, effort.first_only)
        _judge(folder, outcome)
    return outcome


@contextlib.contextmanager
def _workers(folder: Path, mutant: str) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.faults.soak"]
    roles = [("writer", n) for n in range(WRITERS)] + [("reader", n) for n in range(READERS)]
    started = [
        subprocess.Popen(
            [*command, role, str(folder), str(number), mutant],
            cwd=ROOT,
            env=child_environment(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for role, number in roles
    ]
    try:
        yield
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _disturb(folder: Path, outcome: Outcome, seconds: float, first_only: bool) -> None:
    chance = random.Random(7)
    while not all((folder.parent / f"pid-writer-{n}").exists() for n in range(WRITERS)):
        time.sleep(0.01)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not (first_only and _is_told(folder)):
        time.sleep(chance.uniform(0.01, 0.06))
        with contextlib.suppress(ProcessLookupError, ValueError):
            writer = _someone(folder, chance)
            if chance.random() < 0.6:
                os.kill(writer, signal.SIGKILL)
                outcome.count("SIGKILL")
            else:
                os.kill(writer, signal.SIGSTOP)
                time.sleep(chance.choice((0.02, 0.05, 2 * LOCK_TIMEOUT_SECONDS)))
                os.kill(writer, signal.SIGCONT)
                outcome.count("SIGSTOP")


def _is_told(folder: Path) -> bool:
    """Whether a writer or a reader has already said that something is broken."""
    raised = any((folder.parent / f"raised-{n}").exists() for n in range(WRITERS))
    notes = [folder.parent / f"read-{n}" for n in range(READERS)]
    return raised or any(set(note.read_bytes()) - set(b".\n") for note in notes if note.exists())


def _someone(folder: Path, chance: random.Random) -> int:
    """A writer: the one that holds the lock, half of the times, where the system tells."""
    writers = [int((folder.parent / f"pid-writer-{n}").read_text()) for n in range(WRITERS)]
    locks = Path("/proc/locks")
    if locks.exists() and chance.random() < 0.5:
        held = [int(line.split()[4]) for line in locks.read_text().splitlines() if "FLOCK" in line]
        writers = [writer for writer in writers if writer in held] or writers
    return chance.choice(writers)


def _judge(folder: Path, outcome: Outcome) -> None:
    outcome.find("at the end", recover(folder))
    acked = [numbers_in(acks(folder, writer)) for writer in range(WRITERS)]
    outcome.count("acknowledged", sum(map(len, acked)))
    outcome.find("at the end", breaks_in(read_log(folder / LIVE), acked))
    found = take(folder)
    logs = [data for _, data in sorted(found.archives.items())] + [found.files[LIVE]]
    outcome.count("archives", len(found.archives))
    if any(not new.startswith(old) for old, new in pairwise(logs)):
        outcome.find("at the end", ["an archive is not what the log was when it was replaced"])
    for writer in range(WRITERS):
        notes = folder.parent / f"raised-{writer}"
        raised = notes.read_text().splitlines() if notes.exists() else []
        outcome.find(f"writer {writer}", [f"raised {error}" for error in sorted(set(raised))[:3]])
    for reader in range(READERS):
        seen = (folder.parent / f"read-{reader}").read_text().splitlines()
        outcome.count("lock-free reads", seen.count("."))
        outcome.find(f"reader {reader}", sorted(set(seen) - {"."})[:5])


def signals(effort: Effort) -> Outcome:
    """SIGTERM, SIGINT, SIGHUP and SIGKILL at random moments of a process that appends."""
    outcome = Outcome(SIGNAL_LAYER)
    chance = random.Random(11)
    with timed(outcome), Victim(effort.scratch, effort.mutant) as victim:
        for number in range(400 if effort.full else 80):
            chosen = _SIGNALS[number % len(_SIGNALS)]
            folder = put(SMALL, effort.scratch / "s1")
            last = _append_until(victim, folder, chosen, chance)
            outcome.count(chosen.name)
            broken = _judge_numbers(folder, last)
            if last >= MOST_APPENDS - 1:
                broken.append("the signal did not end the process")
            outcome.find(f"{chosen.name} number {number}", broken)
            if broken and effort.first_only:
                return outcome
    return outcome


def _append_until(
    victim: Victim, folder: Path, chosen: signal.Signals, chance: random.Random
) -> int:
    """Let a process append until a signal comes; the last number that was acknowledged."""
    victim.order(role="append", folder=str(folder))
    pid = victim.hear_until("ready")["pid"]
    acked, wanted = -1, chance.randrange(30)
    while acked < wanted:
        acked = victim.hear()["acked"]
    time.sleep(chance.random() * 0.002)
    os.kill(pid, chosen)
    heard = victim.hear_until("ended")
    return int(heard.get("acked", acked))


def _judge_numbers(folder: Path, last: int) -> list[str]:
    state = read_log(folder / LIVE)
    said = [
        entry.record.content
        for entry in state.all_entries
        if isinstance(entry.record, UserMessage) and str(entry.record.content).startswith("number")
    ]
    if said != [f"number {n}" for n in range(len(said))] or len(said) <= last:
        return [f"{last + 1} were acknowledged, {len(said)} are there, ending {said[-2:]}"]
    return recover(folder) or asyncio.run(judge_going_on(folder))
