"""Layer "shim": at every call of every act the process dies, a write is torn, or an error comes."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import UserMessage
from agent_tui.sessions.session_log import SessionLog
from tests.faults.acts import ACTS, D1, SMALL, TORN, Act
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Call, Died, Fault, faults_of
from tests.faults.snapshot import LIVE, Snapshot, take
from tests.faults.stage import Stage
from tests.faults.verdict import (
    Case,
    judge_after_death,
    judge_going_on,
    judge_reading,
    judge_undisturbed,
    memory_against_disk,
)

LAYER = "shim"


@dataclass(frozen=True, slots=True)
class Scene:
    """An act, the folder it starts from, and whether the file system has hard links."""

    act: Act
    before: Snapshot
    hard_links: bool = True

    def __str__(self) -> str:
        torn = " behind a torn line" if self.before is TORN else ""
        return f"{self.act.name}{torn}{'' if self.hard_links else ' without hard links'}"


def scenes() -> Iterator[Scene]:
    """Every act; appends and a revert behind a torn line; replacements without hard links."""
    for act in ACTS.values():
        yield Scene(act, SMALL)
        if act.name in ("append", "append three", "revert", "restore"):
            yield Scene(act, TORN)
        if act.kind == "replace":
            yield Scene(act, SMALL, hard_links=False)


def run(effort: Effort) -> Outcome:
    """Break every call of every scene in every way, one at a time."""
    outcome = Outcome(LAYER)
    with timed(outcome), Stage(effort.scratch) as stage:
        for scene in scenes():
            case, rehearsal = stage.rehearse(scene.act, scene.before, scene.hard_links)
            outcome.find(f"{scene}, undisturbed", judge_undisturbed(case))
            if outcome.findings and effort.first_only:
                return outcome
            errors_each = None if effort.full else 1
            for fault in faults_of(rehearsal.calls, effort.full, errors_each):
                call = rehearsal.calls[fault.at - 1]
                if _is_impossible(fault, call, scene):
                    continue
                broken = _try(stage, scene, case, fault)
                outcome.count(_UNITS[fault.kind])
                outcome.find(f"{scene}, {fault} ({call.name} {call.about})", broken)
                if broken and effort.first_only:
                    return outcome
    return outcome


_UNITS = {"die": "deaths", "tear": "torn writes", "error": "errors", "late": "late errors"}


def _is_impossible(fault: Fault, call: Call, scene: Scene) -> bool:
    """A link that the file system does not know cannot be made, and then report an error."""
    return fault.kind == "late" and call.name == "link" and not scene.hard_links


def _try(stage: Stage, scene: Scene, case: Case, fault: Fault) -> list[str]:
    broken: list[str] = []

    async def check(session: SessionLog, error: BaseException | None) -> None:
        broken.extend(await judge_survivor(case, session, error, fault))

    play = stage.play(scene.act, scene.before, fault, scene.hard_links, check=check)
    if not play.reached:
        return ["the call was not reached: the act is not repeatable"]
    if isinstance(play.error, Died):
        return broken + stage.ask(judge_after_death(case, play.folder))
    if broken:
        return broken
    return stage.ask(judge_going_on(play.folder))


async def judge_survivor(
    case: Case, session: SessionLog, error: BaseException | None, fault: Fault
) -> list[str]:
    """I3, I22: the error is in words, old or new stands, memory agrees, and work resumes.

    The fault is over by now: the disk has room again, or is writable again.
    """
    broken = []
    if error is not None and not isinstance(error, AgentTuiError):
        broken.append(f"a raw {type(error).__name__} came out: {error}")
    cut_refused = fault.lasting and fault.errno in (errno.EIO,)
    broken += judge_reading(case, session.folder, died=cut_refused)
    if fault.lasting or session.read_only:  # memory could not look while reading failed as well
        await session.reload()
    broken += memory_against_disk(session)
    if error is None and case.act.kind != "prune":
        live = session.path.read_bytes()
        if live != case.new:
            broken.append("the act returned, but its log is not the new one")
    try:
        await session.append(UserMessage("resumed"), durability=D1)
    except AgentTuiError as again:
        broken.append(f"work does not resume: {again}")
    found = take(session.folder)
    is_new = case.act.kind == "replace" and found.files[LIVE].startswith(case.new)
    if not case.allows_archives(case.new if is_new else case.old, found.archives):
        broken.append(f"when work has resumed, the archives are {sorted(found.archives)}")
    return broken + memory_against_disk(session)
