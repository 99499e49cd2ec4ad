"""Layers "SIGKILL" and "system errors": strace breaks every call of the real writer thread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.faults.acts import ACTS, SMALL, Act
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.snapshot import put
from tests.faults.stage import Stage
from tests.faults.strace import Ending, SystemCall, Victim, calls_in, why_not
from tests.faults.verdict import Case, judge_after_death, judge_going_on, judge_reading

KILL_LAYER = "SIGKILL"
ERROR_LAYER = "system errors"

_OWN_WAITING = {
    *("futex", "restart_syscall", "sched_yield", "gettid", "exit", "rt_sigprocmask"),
    *("munmap", "mmap", "mprotect", "brk", "madvise"),
}
"""What the interpreter does for itself: it touches no file, and not equally often each time."""

_ERRORS = {
    "openat": ("EMFILE", "EACCES", "EROFS", "EIO", "ENOSPC"),
    "write": ("ENOSPC", "EDQUOT", "EIO", "EFBIG"),
    "fsync": ("EIO", "ENOSPC", "EDQUOT"),
    "fchmod": ("EPERM", "EIO"),
    "linkat": ("EIO", "ENOSPC", "EDQUOT", "EROFS"),
    "rename": ("EIO", "ENOSPC", "EACCES", "EROFS"),
    "unlink": ("EIO", "EACCES", "EROFS"),
    "ftruncate": ("EIO",),
    "pread64": ("EIO",),
    "newfstatat": ("EIO", "EACCES"),
    "getdents64": ("EIO",),
    "close": ("EIO",),
    "flock": ("ENOLCK",),
}
_IN_BRIEF = {"append", "revert", "compact", "restore"}
_IN_A_HUNT = {"append", "append three", "revert", "restore"}


def kill(effort: Effort) -> Outcome:
    """SIGKILL the real process as it enters each system call of each act."""
    outcome = Outcome(KILL_LAYER, skipped=why_not())
    if outcome.skipped:
        return outcome
    tried, missed = 0, list[str]()
    with timed(outcome), Stage(effort.scratch) as stage, _victim(effort) as victim:
        for act in ACTS.values():
            if not effort.full and act.name not in (_IN_A_HUNT if effort.first_only else _IN_BRIEF):
                continue
            case, _ = stage.rehearse(act, SMALL)
            for call in _calls_of(victim, act, effort.scratch):
                tried += 1
                inject = f"inject={call.name}:signal=SIGKILL:when={call.nth}"
                ending = _trace(victim, act, effort.scratch, call, inject)
                if ending.status != -9:
                    missed.append(f"{call.name} of {act.name}")
                    continue
                outcome.count("kills")
                broken = stage.ask(judge_after_death(case, effort.scratch / "s1"))
                outcome.find(f"{act.name}, killed at {call.name} {call.nth}", broken)
                if broken and effort.first_only:
                    return outcome
    not_reached = f"; not: {', '.join(missed)}" if missed else ""
    outcome.note = f"{tried - len(missed)} of {tried} system calls{not_reached}"
    return outcome


def fail(effort: Effort) -> Outcome:
    """Let each system call of each act fail, once and from then on."""
    outcome = Outcome(ERROR_LAYER, skipped=why_not())
    if outcome.skipped:
        return outcome
    with timed(outcome), Stage(effort.scratch) as stage, _victim(effort) as victim:
        for act in ACTS.values():
            if not effort.full and act.name not in _IN_BRIEF:
                continue
            case, _ = stage.rehearse(act, SMALL)
            for call, error, lasting in _failures(
                _calls_of(victim, act, effort.scratch), None if effort.full else 1
            ):
                inject = f"inject={call.name}:error={error}:when={call.nth}{'+' * lasting}"
                ending = _trace(
                    victim, act, effort.scratch, call, inject, survives=True, lasting=lasting
                )
                outcome.count("errors from then on" if lasting else "errors once")
                broken = _judge(stage, case, ending, effort.scratch / "s1", lasting)
                outcome.find(f"{act.name}, {error} at {call.name} {call.nth}", broken)
                if broken and effort.first_only:
                    return outcome
    return outcome


def _judge(stage: Stage, case: Case, ending: Ending, folder: Path, lasting: bool) -> list[str]:
    if ending.status != 0:
        return [f"the process ended with {ending.status}"]
    broken = list(ending.broken)
    if lasting:
        broken += judge_reading(case, folder)
    return broken or stage.ask(judge_going_on(folder))


def _failures(
    calls: list[SystemCall], errors_each: int | None
) -> Iterator[tuple[SystemCall, str, bool]]:
    for call in calls:
        for error in _ERRORS.get(call.name, ())[:errors_each]:
            yield call, error, False
            yield call, error, True


def _victim(effort: Effort) -> Victim:
    return Victim(effort.scratch, effort.mutant)


def _calls_of(victim: Victim, act: Act, scratch: Path) -> list[SystemCall]:
    log = scratch / "calls.log"
    victim.act(put(SMALL, scratch / "s1"), act.name, ["-o", str(log)])
    return [call for call in calls_in(log) if call.name not in _OWN_WAITING]


def _trace(
    victim: Victim, act: Act, scratch: Path, call: SystemCall, inject: str, **more: object
) -> Ending:
    tracing = ["-o", os.devnull, "-e", f"trace={call.name}", "-e", inject]
    return victim.act(put(SMALL, scratch / "s1"), act.name, tracing, **more)
