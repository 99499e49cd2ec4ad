"""Layer "store": delete, undelete, discard, fork, repair and prune are done wholly or not at all.

Each is broken at every call by a death or an error; it is tried again, and what it left is written
on; and the power goes after every call of that story. A session is then where it was or where it
was to go, whole; a new one is complete or not listed; and what is only read stays as it was.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError, SessionNotFound
from agent_tui.core.records import UserMessage
from agent_tui.sessions.store import SessionStore
from tests.faults.acts import D1, open_store, steady_ids
from tests.faults.disk_model import Disk
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Call, Died, Fault, Shim, faults_of
from tests.faults.snapshot import put
from tests.faults.store_acts import SPOKEN, STORE_ACTS, TALK, Shelves, StoreAct, look

LAYER = "store"
_ENOUGH = (0, errno.EIO)  # errors that differ in their number only leave the same disks
_DENIAL = "Nothing was changed"


@dataclass(slots=True)
class Story:
    """What a process did, call by call; what its store showed; and what was promised from when."""

    calls: list[tuple[str, tuple[Any, ...], Any]] = field(default_factory=list)
    promised: list[tuple[int, list[Shelves]]] = field(default_factory=list)
    counted: list[Call] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    end: Shelves = field(default_factory=lambda: Shelves({}, {}))

    def watch(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        if name == "write":
            arguments = (arguments[0], bytes(arguments[1]))
        self.calls.append((name, arguments, result))

    def promise(self, *hopes: Shelves) -> None:
        """From now on a power cut must leave one of these."""
        self.promised.append((len(self.calls), list(hopes)))
        self.calls.append(("acknowledged", (), None))

    def promised_at(self, call: int) -> list[Shelves]:
        return next(hopes for at, hopes in reversed(self.promised) if at <= call)


class Teller:
    """Tells stories of one act on a store."""

    def __init__(self, act: StoreAct, root: Path, restart_ids: Callable[[int], None]) -> None:
        self.act = act
        self.root = root
        self.restart_ids = restart_ids

    async def rehearse(self) -> list[str]:
        """Find out what the act leaves when nothing goes wrong."""
        put(self.act.before, self.root)
        self.restart_ids(0)
        self.old = self.act.seen(look(self.root))
        await self.act.run(open_store(self.root))
        self.new = self.act.seen(look(self.root))
        return _judge_undisturbed(self.act, self.old, self.new)

    async def tell(self, fault: Fault | None) -> Story:
        """Do the act with a fault; do it again if it was not done; then write on."""
        put(self.act.before, self.root)
        self.restart_ids(0)
        story = Story()
        story.promise(self.old, self.new, self.old | self.new)
        shim = Shim(watch=story.watch)
        with shim.in_place():
            error = await self._try(shim, fault)
            story.counted = list(shim.calls)
            found = self.act.seen(look(self.root))
            story.broken = self._judge(found, error, fault)
            if not story.broken:
                story.broken = await self._go_on(story, found, error)
        story.broken = story.broken or await self._undo_last(open_store(self.root))
        return story

    async def _try(self, shim: Shim, fault: Fault | None) -> BaseException | None:
        store = open_store(self.root)
        shim.arm(fault)
        try:
            await self.act.run(store)
        except (Exception, Died) as error:
            return error
        finally:
            shim.disarm()
            if shim.dead:
                shim.bury()
                shim.dead = False
        return None

    def _judge(self, found: Shelves, error: BaseException | None, fault: Fault | None) -> list[str]:
        """I3, I4, I22: old or new; the error is in words, and its words are true."""
        if error is None:
            may_stay = fault is not None and self.act.name == "discard"  # it stays for another day
            sound = found == self.new or (may_stay and found == self.old)
            return [] if sound else [f"it returned, but there is {found}"]
        broken = []
        if not isinstance(error, AgentTuiError | Died):
            broken.append(f"a raw {type(error).__name__} came out: {error}")
        if found not in (self.old, self.new):
            broken.append(f"there is neither the old nor the new: {found}")
        # When a copy cannot be opened, the error is about that; and not everything can be undone.
        exact = fault is not None and fault.kind == "error" and not fault.lasting
        if exact and self.act.name != "fork" and found != self.old and _DENIAL in str(error):
            broken.append(f"it was done, but the error says {str(error)!r}")
        return broken

    async def _go_on(self, story: Story, found: Shelves, error: BaseException | None) -> list[str]:
        if found != self.new:
            self.restart_ids(0)
            try:
                await self.act.run(open_store(self.root))
            except AgentTuiError as again:
                return [f"a second try fails: {again}"]
            if (found := self.act.seen(look(self.root))) != self.new:
                return [f"a second try leaves {found}"]
            error = None
        if error is None:
            story.promise(self.new)
        store = open_store(self.root)
        for session_id in self.new.listed:
            session = await store.open(session_id)
            await session.append(UserMessage("going on"), durability=D1)
            await session.close()
        story.end = self.act.seen(look(self.root))
        story.promise(story.end, *([] if error is None else [self.old | story.end]))
        return []

    async def _undo_last(self, store: SessionStore) -> list[str]:
        """What the trash offers comes back whole."""
        for session_id in self.old.listed.keys() - self.new.listed.keys():
            try:
                place = store.place_of_deleted(session_id)
            except SessionNotFound:
                if self.act.name == "discard":
                    continue
                return [f"{session_id} was deleted, but the trash does not know it"]
            await store.undelete(place)
            if look(self.root).listed.get(session_id) != self.old.listed[session_id]:
                return [f"{session_id} does not come back from the trash as it was"]
        return []


def _judge_undisturbed(act: StoreAct, old: Shelves, new: Shelves) -> list[str]:
    """The act did what it is for, and every other session is as it was."""
    if new.listed.keys() != act.listed or new.trash.keys() != act.trash:
        return [f"undisturbed, it leaves {new}"]
    if act.name == "prune":
        sound = new.listed["s1"].archives == {4: SPOKEN.archives[4]}
        return [] if sound and new.listed["s1"].live == TALK else ["it pruned the wrong ones"]
    before = [*old.listed.values(), *old.trash.values()]
    now = new.listed | new.trash
    copy = now.pop("s2", None)
    broken = [f"{name} is not what it was" for name, found in now.items() if found not in before]
    if copy is not None and (copy.live or b"").count(b"\n") < TALK.count(b"\n") - 1:
        broken.append("the copy is not complete")
    return broken


def run(effort: Effort) -> Outcome:
    """Break every act at every call; then cut the power everywhere."""
    outcome = Outcome(LAYER)
    with timed(outcome), asyncio.Runner() as runner, steady_ids() as restart_ids:
        for act in STORE_ACTS:
            teller = Teller(act, effort.scratch / "told", restart_ids)
            outcome.find(f"{act.name}, undisturbed", runner.run(teller.rehearse()))
            seen: set[object] = set()
            for fault in _faults(runner, teller, effort):
                if outcome.findings and effort.first_only:
                    return outcome
                _break(runner, teller, fault, effort, seen, outcome)
    return outcome


def _faults(runner: asyncio.Runner, teller: Teller, effort: Effort) -> Iterator[Fault | None]:
    yield None
    calls = runner.run(teller.tell(None)).counted
    errors_each = None if effort.full else 1 if effort.first_only else 2
    for fault in faults_of(calls, effort.full, errors_each):
        if calls[fault.at - 1].changes or not effort.first_only:
            yield fault


def _break(
    runner: asyncio.Runner,
    teller: Teller,
    fault: Fault | None,
    effort: Effort,
    seen: set[object],
    outcome: Outcome,
) -> None:
    story = runner.run(teller.tell(fault))
    outcome.count("stories")
    call = story.counted[fault.at - 1] if fault else None
    name = f"{teller.act.name}, {fault}" + (f" ({call.name} {call.about})" if call else "")
    outcome.find(name, story.broken)
    if story.broken or (call and not call.changes) or (fault and fault.errno not in _ENOUGH):
        return
    for where, broken in _cut_everywhere(story, teller, effort.scratch / "cut", seen):
        outcome.count("disks")
        outcome.find(f"{name}, {where}", broken)


def _cut_everywhere(
    story: Story, teller: Teller, place: Path, seen: set[object]
) -> Iterator[tuple[str, list[str]]]:
    disk = Disk(teller.root)
    disk.adopt(teller.act.before)
    for number, (name, arguments, result) in enumerate(story.calls):
        if not disk.watch(name, arguments, result) and name != "acknowledged":
            continue
        hopes = story.promised_at(number)
        hoped = tuple(hope.key for hope in hopes)
        for state in disk.states():
            if (state.key, hoped) not in seen:
                seen.add((state.key, hoped))
                found = teller.act.seen(look(put(state, place)))
                fits = any(_fits(found, hope, story.end) for hope in hopes)
                broken = f"found {found}; hoped for {' or '.join(map(str, hopes))}"
                yield f"power cut after call {number} ({name})", [] if fits else [broken]


def _fits(found: Shelves, hope: Shelves, end: Shelves) -> bool:
    """All that is hoped for is there; behind a log is only what was written in the end."""
    if found.listed.keys() != hope.listed.keys() or found.trash.keys() != hope.trash.keys():
        return False
    there = found.listed | found.trash
    for name, session in (hope.listed | hope.trash).items():
        live, wanted = there[name].live or b"", session.live or b""
        written = end.listed.get(name.removesuffix("-1"), session).live or b""
        rest = live[len(wanted) :].strip(b"\0\n")
        if not live.startswith(wanted) or there[name].archives != session.archives:
            return False
        if rest not in written:
            return False
    return True
