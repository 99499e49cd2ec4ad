"""Layer "power cut": the power goes after every call; every disk that the law allows is tried.

Three kinds of stories: acts one after another; a process that dies in an act, after which another
one goes on; and a flush that fails, after which the same process goes on.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import UserMessage
from agent_tui.sessions.archive import finished_archives
from agent_tui.sessions.replay import read_log
from agent_tui.sessions.session_log import SessionLog
from tests.faults.acts import ACTS, D1, SMALL, Act, open_session, steady_ids
from tests.faults.disk_model import Disk
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Died, Fault, Shim
from tests.faults.snapshot import LIVE, Snapshot, put, take
from tests.faults.verdict import recover

LAYER = "power cut"
SESSION = "s1"
STORIES = (
    ("append D0", "append", "append D0", "revert", "append"),
    ("append three", "checkpoint", "compact", "append D0", "append D0", "clear"),
    ("append D0", "restore", "append D0", "checkpoint", "append", "restore", "append"),
    ("rename", "append D0", "compact late", "append", "checkpoint", "revert"),
)


@dataclass(frozen=True, slots=True)
class Hope:
    """One thing that may be found after a power cut.

    Its first ``safe`` bytes must be there; a record behind them is one of ``live``, in its place,
    or one of ``refused``: a log whose last lines were taken back, which the disk may not know yet.
    """

    live: bytes
    safe: int
    archives: dict[int, bytes]
    refused: bytes = b""

    def fits(self, found: Snapshot, folder: Path) -> bool:
        live = found.files[LIVE]
        if live[: self.safe] != self.live[: self.safe] or found.archives != self.archives:
            return False
        entries = read_log(folder / LIVE).all_entries
        places = [slice(e.offset, e.offset + e.length) for e in entries if e.offset >= self.safe]
        return all(
            live[place].strip(b"\0\n") in self.live[place]
            or live[place].strip(b"\0\n") in self.refused[place]
            for place in places
        )


@dataclass(slots=True)
class Tape:
    """What a process did, call by call; and after which call it was in which part of its story."""

    calls: list[tuple[str, tuple[Any, ...], Any, int]] = field(default_factory=list)
    hopes: list[list[Hope]] = field(default_factory=list)
    judged_from: int = 0

    def watch(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        if name == "write":
            arguments = (arguments[0], bytes(arguments[1]))
        self.calls.append((name, arguments, result, len(self.hopes)))


class Teller:
    """Tells stories of one session while a tape runs."""

    def __init__(self, folder: Path, hard_links: bool) -> None:
        self.folder = folder
        self.tape = Tape()
        self.shim = Shim(hard_links, self.tape.watch)
        self.safe = len(SMALL.files[LIVE])

    def during(self, act: Act, before: Snapshot, after: Snapshot) -> list[Hope]:
        """What may be found while an act runs."""
        if act.kind == "append":
            return [Hope(after.files[LIVE], self.safe, before.archives)]
        old, new = before.files[LIVE], after.files[LIVE]
        safe_then = self.safe if act.kind == "prune" else len(new)
        return [Hope(old, self.safe, before.archives), Hope(new, safe_then, after.archives)]

    async def tell(self, acts: list[Act]) -> None:
        """Do acts; each is hoped for while it runs, and relied on once it returned."""
        session = open_session(self.folder)
        for act in acts:
            token = await act.prepare(session) if act.prepare else None
            before = take(self.folder)
            await act.run(session, token)
            after = take(self.folder)
            self.tape.hopes.append(self.during(act, before, after))
            if act.durable and act.kind != "prune":
                self.safe = len(after.files[LIVE])
            self._acknowledge(after)
        await session.close()

    def _acknowledge(self, after: Snapshot) -> None:
        self.tape.watch("acknowledged", (), None)
        self.tape.hopes.append([Hope(after.files[LIVE], self.safe, after.archives)])

    async def tell_of_a_fault(self, acts: list[Act], fault: Fault, undisturbed: Snapshot) -> None:
        """Do acts, the last one with a fault; then go on, in a new process if it was deadly."""
        await self.tell(acts[:-1])
        self.tape.judged_from = len(self.tape.hopes)
        act = acts[-1]
        session = open_session(self.folder)
        token = await act.prepare(session) if act.prepare else None
        before = take(self.folder)
        self.shim.arm(fault)
        try:
            await act.run(session, token)
        except (Died, AgentTuiError):
            await asyncio.sleep(0)
        self.shim.disarm()
        hopes = self.during(act, before, undisturbed)
        self.tape.hopes.append(hopes)
        if self.shim.dead:
            self.shim.bury()
            self.shim.dead = False
            session = open_session(self.folder)
        if act.kind == "replace" and take(self.folder).live == undisturbed.live:
            self.safe = len(undisturbed.files[LIVE])
        await self._go_on(session, hopes, undisturbed)

    async def _go_on(self, session: SessionLog, hopes: list[Hope], refused: Snapshot) -> None:
        """Append one more record, which must never be lost once it is acknowledged."""
        await session.append(UserMessage("going on"), durability=D1)
        after = take(self.folder)
        archives = {n: after.archives[n] for n in finished_archives(self.folder)}
        going = Hope(after.files[LIVE], self.safe, archives, refused.files[LIVE])
        self.tape.hopes.append([*hopes, going])
        self.safe = len(after.files[LIVE])
        self._acknowledge(after)
        await session.close()


def run(effort: Effort) -> Outcome:
    """Cut the power after every call of every story."""
    outcome = Outcome(LAYER)
    seen: set[object] = set()
    with timed(outcome), asyncio.Runner() as runner:
        for name, tape in tapes(effort, runner):
            outcome.count("stories")
            for where, broken in cut_everywhere(tape, effort.scratch, seen):
                outcome.count("disks")
                outcome.find(f"{name}, {where}", broken)
                if broken and effort.first_only:
                    return outcome
    return outcome


def tapes(effort: Effort, runner: asyncio.Runner) -> Iterator[tuple[str, Tape]]:
    """Every story, with what its process did."""
    for hard_links in (True, False):
        ending = "" if hard_links else " without hard links"
        for names in STORIES:
            teller = new_teller(effort.scratch, hard_links)
            with steady_ids(), teller.shim.in_place():
                runner.run(teller.tell([ACTS[name] for name in names]))
            yield " → ".join(names) + ending, teller.tape
        for act in ACTS.values():
            if act.kind != "replace" and not hard_links:
                continue  # they make no archive: it is the same story
            yield from faulty_tapes(effort, runner, act, hard_links)


def faulty_tapes(
    effort: Effort, runner: asyncio.Runner, act: Act, hard_links: bool = True
) -> Iterator[tuple[str, Tape]]:
    """An act that dies at every call, or whose flushes fail; and how the session goes on."""
    ending = "" if hard_links else " without hard links"
    acts = [ACTS["append D0"], act]
    teller = new_teller(effort.scratch, hard_links)
    with steady_ids(), teller.shim.in_place():
        runner.run(teller.tell(acts[:-1]))
        session = open_session(teller.folder)
        token = runner.run(_prepare(act, session))
        teller.shim.arm()
        runner.run(_run(act, session, token))
        calls = list(teller.shim.calls)
        undisturbed = take(teller.folder)
    faults = [Fault(at) for at, call in enumerate(calls, 1) if call.changes]
    faults += [
        Fault(at, "error", errno.EIO) for at, call in enumerate(calls, 1) if call.name == "fsync"
    ]
    for fault in [*faults, Fault(len(calls) + 1)]:
        teller = new_teller(effort.scratch, hard_links)
        with steady_ids(), teller.shim.in_place():
            runner.run(teller.tell_of_a_fault(acts, fault, undisturbed))
        yield f"append D0 → {act.name}, {fault} → append{ending}", teller.tape


async def _prepare(act: Act, session: SessionLog) -> Any:
    return await act.prepare(session) if act.prepare else None


async def _run(act: Act, session: SessionLog, token: Any) -> None:
    await act.run(session, token)


def new_teller(scratch: Path, hard_links: bool = True) -> Teller:
    """One who begins a story in a fresh folder."""
    return Teller(put(SMALL, scratch / "told" / SESSION), hard_links)


def cut_everywhere(tape: Tape, scratch: Path, seen: set[object]) -> Iterator[tuple[str, list[str]]]:
    """Every disk that may be found after each call of a tape, and what is broken there."""
    disk = Disk(scratch / "told")
    disk.adopt(SMALL, SESSION)
    for number, (name, arguments, result, part) in enumerate(tape.calls):
        changed = disk.watch(name, arguments, result)
        acknowledged = name == "acknowledged"
        if not (changed or acknowledged) or part < tape.judged_from:
            continue
        hopes = tape.hopes[part]
        for state in disk.states():
            key = (state.key, tuple((h.live, h.safe, tuple(h.archives)) for h in hopes))
            if key in seen:
                continue
            seen.add(key)
            yield f"power cut after call {number} ({name})", _judge(state, hopes, scratch / "cut")


def _judge(state: Snapshot, hopes: list[Hope], place: Path) -> list[str]:
    put(state, place)
    folder = place / SESSION
    if f"{SESSION}/{LIVE}" not in state.files:
        return ["there is no live log"]
    read_log(folder / LIVE)
    broken = recover(folder)
    found = take(folder)
    if found.leftovers or found.same:
        broken.append(f"recovery left {found.leftovers or dict(found.same)}")
    if not any(hope.fits(found, folder) for hope in hopes):
        broken.append(
            f"found a log of {len(found.files[LIVE])} bytes and archives {sorted(found.archives)};"
            f" hoped for {[(len(h.live), h.safe, sorted(h.archives)) for h in hopes]}"
        )
    return broken
