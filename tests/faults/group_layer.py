"""Layer "group commit": several callers share one write and one flush, which break everywhere.

Each caller must be told the truth: a success only when its records are on disk, whole, in order and
as durable as it asked; else an error. Memory must show what the disk holds.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import AssistantMessage, Record, UsageRecord, UserMessage
from agent_tui.sessions.log import Durability
from agent_tui.sessions.log_writer import Change
from agent_tui.sessions.replay import read_log
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.writer import Job
from agent_tui.sessions.writer import Outcome as Settled
from tests.faults.acts import ACTS, D0, D1, SMALL, TORN, Act, steady_ids
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.power_layer import Tape, cut_everywhere, faulty_tapes, new_teller
from tests.faults.shim import Call, Died, Fault, faults_of
from tests.faults.shim_layer import judge_survivor
from tests.faults.snapshot import LIVE, Snapshot
from tests.faults.stage import Stage
from tests.faults.verdict import Case, judge_after_death, judge_going_on, judge_undisturbed

LAYER = "group commit"


class Held(ThreadPoolExecutor):
    """A writer's thread that is busy elsewhere: what is submitted meanwhile becomes one group."""

    def __init__(self) -> None:
        super().__init__(1)
        self._drain: Callable[[], object] | None = None

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self._drain = fn

    def release(self) -> None:
        """Write what waits, in this thread."""
        assert self._drain is not None, "nobody has appended anything"
        self._drain()


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who appends records; ``lines`` of them a sound store will write."""

    durability: Durability
    records: tuple[Record, ...]
    lines: int = 1


_LONELY = UserMessage("a question", "human")
_NEVER = Caller(D0, (UsageRecord(float("nan")),), lines=0)  # type: ignore[arg-type]
_TALK = Caller(D0, (AssistantMessage("y" * 40), AssistantMessage("ü" * 30)), lines=2)
_CHAT = Caller(D0, (AssistantMessage("an answer"),))


@dataclass(slots=True)
class Group:
    """Callers that append to one log at once.

    ``answers`` holds, by caller and in the order in which they were told, the records that were
    acknowledged or else the error.
    """

    name: str
    callers: tuple[Caller, ...]
    answers: dict[int, list[Record] | BaseException] = field(default_factory=dict)

    @property
    def act(self) -> Act:
        durable = any(caller.durability is D1 for caller in self.callers)
        return Act(self.name, "append", self._run, durable=durable)

    async def _run(self, session: SessionLog, _: Any) -> None:
        """Let all append at once; raises the error of the first whose records were sound."""
        self.answers = {}
        writer, held = session._writer, Held()
        before, writer._thread = writer._thread, held
        tasks = [asyncio.create_task(self._append(session, n)) for n in range(len(self.callers))]
        await asyncio.sleep(0)
        jobs = list(writer._jobs)
        try:
            held.release()
        except Died as died:
            self._bury(jobs, died)
            raise
        finally:
            writer._thread = before
            await asyncio.gather(*tasks)
        for error in self.errors():
            raise error

    def errors(self) -> list[BaseException]:
        """The errors that were told to callers whose records a sound disk takes."""
        answers = sorted(self.answers.items())
        return [
            answer
            for n, answer in answers
            if isinstance(answer, BaseException) and self.callers[n].lines
        ]

    async def _append(self, session: SessionLog, number: int) -> None:
        caller = self.callers[number]
        try:
            self.answers[number] = await session.append(
                *caller.records, durability=caller.durability
            )
        except (Exception, Died) as error:
            self.answers[number] = error

    def _bury(self, jobs: list[Job], died: Died) -> None:
        """Nobody hears from a dead process: who was not told yet never will be."""
        for job in jobs:
            if job.outcome is None and job.waiter is not None:
                job.outcome = Settled(Change(), died)
                job.waiter.set_result(None)


def groups() -> Iterator[Group]:
    """Who asks for more may come first, last or in the middle; one has records without a form."""
    asks = Caller(D1, (_LONELY,))
    yield Group("group", (_CHAT, _TALK, asks, _NEVER, _CHAT))
    yield Group("group, D1 first", (asks, _CHAT, _NEVER, _TALK))
    yield Group("group, D1 last", (_NEVER, _CHAT, _TALK, asks))
    yield Group("group D0", (_TALK, _CHAT, _NEVER, _CHAT))


def run(effort: Effort) -> Outcome:
    """Break every call of every group; then cut the power everywhere."""
    outcome = Outcome(LAYER)
    with timed(outcome):
        with Stage(effort.scratch) as stage:
            for group in groups():
                for before in (SMALL,) if effort.first_only else (SMALL, TORN):
                    _break_everywhere(stage, group, before, effort, outcome)
        with asyncio.Runner() as runner:
            _cut_the_power(runner, effort, outcome)
    return outcome


_UNITS = {
    "die": "deaths",
    "tear": "torn writes",
    "short": "short writes",
    "error": "errors",
    "late": "late errors",
}


def _break_everywhere(
    stage: Stage, group: Group, before: Snapshot, effort: Effort, outcome: Outcome
) -> None:
    scene = f"{group.name}{' behind a torn line' if before is TORN else ''}"
    case, rehearsal = stage.rehearse(group.act, before)
    outcome.find(
        f"{scene}, undisturbed", judge_undisturbed(case) + _judge_answers(case, group, stage.folder)
    )
    for fault in _faults(rehearsal.calls, case, effort):
        if outcome.findings and effort.first_only:
            return
        outcome.count(_UNITS[fault.kind])
        call = rehearsal.calls[fault.at - 1]
        outcome.find(f"{scene}, {fault} ({call.name})", _try(stage, group, before, case, fault))


def _faults(calls: list[Call], case: Case, effort: Effort) -> Iterator[Fault]:
    """Every call in every way; and the shared write broken around every end of a line."""
    yield from faults_of(calls, effort.full, 1 if effort.first_only else None)
    written = case.new[len(case.old) :]
    ends = [at + 1 for at, byte in enumerate(written) if byte == ord("\n")]
    around = {end + by for end in ends for by in (-50, -1, 0, 1)}
    kept = range(len(written)) if effort.full else sorted(around & set(range(len(written))))
    for at, call in enumerate(calls, 1):
        if call.name == "write":
            yield from (Fault(at, "tear", kept=size) for size in kept)
            yield from (Fault(at, "short", errno.ENOSPC, size) for size in kept if size)


def _try(stage: Stage, group: Group, before: Snapshot, case: Case, fault: Fault) -> list[str]:
    broken: list[str] = []

    async def check(session: SessionLog, error: BaseException | None) -> None:
        broken.extend(_judge_answers(case, group, stage.folder))
        broken.extend(await judge_survivor(case, session, error, fault))

    play = stage.play(group.act, before, fault, check=check)
    if not play.reached:
        return ["the call was not reached: the act is not repeatable"]
    if isinstance(play.error, Died):
        return _judge_answers(case, group, stage.folder) + stage.ask(
            judge_after_death(case, play.folder)
        )
    return broken or stage.ask(judge_going_on(play.folder))


def _judge_answers(case: Case, group: Group, folder: Path) -> list[str]:
    """Every caller heard the truth, in its turn; they succeed together or not at all."""
    broken = []
    if list(group.answers) != [*range(len(group.callers))]:
        broken.append(f"the callers were told in the order {list(group.answers)}")
    for number, answer in sorted(group.answers.items()):
        if isinstance(answer, list) != bool(group.callers[number].lines) and not group.errors():
            broken.append(f"caller {number} was told {answer!r}")
        if not isinstance(answer, list | AgentTuiError | Died):
            broken.append(f"a raw {type(answer).__name__} came out: {answer}")
    told = [records for records in group.answers.values() if isinstance(records, list)]
    if told and group.errors():
        broken.append(f"{len(told)} callers were told of success, others of {group.errors()[0]!r}")
    acknowledged = [record for records in told for record in records]
    entries = read_log(folder / LIVE).all_entries
    written = [entry.record for entry in entries if entry.offset >= len(case.old)]
    if acknowledged and written != acknowledged:
        broken.append("what was acknowledged is not on the disk, or not in that order")
    return broken


def _cut_the_power(runner: asyncio.Runner, effort: Effort, outcome: Outcome) -> None:
    seen: set[object] = set()
    for group in groups():
        for name, tape in _tapes(runner, effort, group):
            for where, broken in cut_everywhere(tape, effort.scratch, seen):
                outcome.count("disks")
                outcome.find(f"{name}, {where}", broken)
            if outcome.findings and effort.first_only:
                return


def _tapes(runner: asyncio.Runner, effort: Effort, group: Group) -> Iterator[tuple[str, Tape]]:
    teller = new_teller(effort.scratch)
    with steady_ids(), teller.shim.in_place():
        runner.run(teller.tell([ACTS["append D0"], group.act, ACTS["append D0"]]))
    yield f"append D0 → {group.name} → append D0", teller.tape
    yield from faulty_tapes(effort, runner, group.act)
