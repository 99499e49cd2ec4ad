"""Layer "sequences": every sequence of up to three acts, a death in the last, one in recovery.

A death before a call that changes nothing leaves the same disk as a death before the next call
that does, so only those are tried; the shim layer tries the others. The short form takes one in
five of the sequences of three acts, and dies twice in single acts and one in five pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from agent_tui.sessions.log import LogFile
from tests.faults.acts import ACTS, SMALL, Act, can, open_session, perform
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Call, Died, Fault, Shim
from tests.faults.snapshot import Snapshot, put, take
from tests.faults.stage import Stage
from tests.faults.verdict import judge_after_death, judge_going_on, judge_recovered
from tests.sessions.recovery import bring_back

LAYER = "sequences"
_NAMES = ("append", "checkpoint", "rename", "revert", "compact", "restore", "clear")
_ONE_IN = 5
"""The short form's share; no multiple or part of the number of acts, so that each comes last."""


def run(effort: Effort) -> Outcome:
    """Die in the last act of every sequence, and again while that is recovered from."""
    outcome = Outcome(LAYER)
    seen: set[object] = set()
    with timed(outcome), Stage(effort.scratch) as stage:
        longest = 1 if effort.first_only else 3
        for number, (sequence, before) in enumerate(sequences(stage, longest)):
            chosen = effort.full or number % _ONE_IN == 0
            if len(sequence) == 3 and not chosen:
                continue
            outcome.count("sequences")
            twice = len(sequence) == 1 or (chosen and (effort.full or len(sequence) == 2))
            for where, broken, units in _die_everywhere(stage, sequence[-1], before, seen, twice):
                for unit in units:
                    outcome.count(unit)
                outcome.find(f"{' → '.join(act.name for act in sequence)}, {where}", broken)
                if broken and effort.first_only:
                    return outcome
    return outcome


def sequences(stage: Stage, longest: int) -> Iterator[tuple[tuple[Act, ...], Snapshot]]:
    """Every sequence that makes sense, with the folder that its last act finds."""
    acts = [ACTS[name] for name in _NAMES]
    level: list[tuple[tuple[Act, ...], Snapshot]] = [((), SMALL)]
    for length in range(longest):
        longer = []
        for done, folder in level:
            for act in acts:
                put(folder, stage.folder)
                if not stage.ask(_can(act, stage.folder)):
                    continue
                yield (*done, act), folder
                put(folder, stage.folder)
                stage.restart_ids(1000 * (length + 1))
                stage.ask(_perform(act, stage.folder))
                longer.append(((*done, act), take(stage.folder)))
        level = longer


async def _can(act: Act, folder: Path) -> bool:
    session = open_session(folder)
    possible = can(act, session)
    await session.close()
    return possible


async def _perform(act: Act, folder: Path) -> None:
    session = open_session(folder)
    await perform(act, session)
    await session.close()


def _die_everywhere(
    stage: Stage, act: Act, before: Snapshot, seen: set[object], twice: bool
) -> Iterator[tuple[str, list[str], list[str]]]:
    case, rehearsal = stage.rehearse(act, before)
    for fault in _deaths(rehearsal.calls):
        stage.play(act, before, fault)
        dead = take(stage.folder)
        yield str(fault), stage.ask(judge_after_death(case, stage.folder)), ["deaths"]
        for second in itertools.count(1) if twice else ():
            put(dead, stage.folder)
            if not _recover_and_die(stage.folder, second):
                break
            broken = judge_recovered(case, stage.folder)
            key = (case.before.key, take(stage.folder).key)
            if key not in seen:  # the same folder twice is continued once
                seen.add(key)
                broken = broken or stage.ask(judge_going_on(stage.folder))
            yield f"{fault}, then at call {second} of recovery", broken, ["double deaths"]


def _deaths(calls: list[Call]) -> Iterator[Fault]:
    for at, call in enumerate(calls, 1):
        if call.changes:
            yield Fault(at)
        if call.name == "write":
            yield Fault(at, "tear", kept=call.size // 2)


def _recover_and_die(folder: Path, at: int) -> bool:
    """Recover with a death before call ``at``; whether there was such a call."""
    shim = Shim()
    with shim.in_place():
        file = LogFile(folder, lock_timeout_seconds=0.2)
        shim.arm(Fault(at))
        try:
            bring_back(file)
        except Died:
            return True
        shim.disarm()
        file.close()
    return False
