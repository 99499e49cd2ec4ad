"""Layer "creation": a session is there whole, durably, or not at all; and can be made again.

Making a session is broken at every call by a death or an error; then it is opened or made again
and appended to; and the power goes after every call of that story.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError, SessionNotFound
from agent_tui.core.records import SessionHeader, UserMessage
from agent_tui.sessions.replay import read_log
from agent_tui.sessions.store import SessionStore
from tests.faults.acts import D1, open_store, steady_ids
from tests.faults.disk_model import Disk
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Died, Fault, Shim
from tests.faults.snapshot import LIVE, Snapshot, put
from tests.faults.verdict import recover

LAYER = "creation"
HEADER = SessionHeader("s1", "/w", "2025-01-01T10:00:00Z", "0.1.0")
PLACE = Path("projects", "-w", "s1")


@dataclass(slots=True)
class Diary:
    """What a process did, call by call, and from which call on which bytes were promised."""

    calls: list[tuple[str, tuple[Any, ...], Any]] = field(default_factory=list)
    promised: list[tuple[int, bytes]] = field(default_factory=list)

    def watch(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        if name == "write":
            arguments = (arguments[0], bytes(arguments[1]))
        self.calls.append((name, arguments, result))

    def promise(self, data: bytes) -> None:
        """From now on a power cut must leave these bytes at the start of the log."""
        self.calls.append(("acknowledged", (), None))
        self.promised.append((len(self.calls) - 1, data))

    def promised_at(self, call: int) -> bytes:
        return next((data for at, data in reversed(self.promised) if at <= call), b"")


def run(effort: Effort) -> Outcome:
    """Break the making of a session at every call, go on, and cut the power everywhere."""
    outcome = Outcome(LAYER)
    root = effort.scratch / "told"
    seen: set[object] = set()
    with timed(outcome), asyncio.Runner() as runner, steady_ids() as restart:
        calls, _, broken = runner.run(_tell(root, None))
        outcome.find("undisturbed", broken)
        faults = [Fault(at) for at in range(1, calls + 1)]
        faults += [Fault(at, "error", errno.EIO) for at in range(1, calls + 1)]
        for fault in [None, *faults]:
            restart(0)
            _, diary, broken = runner.run(_tell(root, fault))
            outcome.count("stories")
            outcome.find(f"create, {fault}", broken)
            if broken:
                continue
            for where, wrong in _cut_everywhere(diary, root, effort.scratch / "cut", seen, runner):
                outcome.count("disks")
                outcome.find(f"create, {fault}, {where}", wrong)
            if outcome.findings and effort.first_only:
                return outcome
    return outcome


async def _tell(root: Path, fault: Fault | None) -> tuple[int, Diary, list[str]]:
    """Make a session with a fault; open or make it again; append to it."""
    put(Snapshot({}), root)
    diary = Diary()
    shim = Shim(watch=diary.watch)
    broken: list[str] = []
    live = root / PLACE / LIVE
    with shim.in_place():
        store = open_store(root)
        shim.arm(fault)
        try:
            session = await store.create(HEADER)
            diary.promise(live.read_bytes())
        except Died:
            shim.bury()
            shim.dead = False
            store = open_store(root)
        except AgentTuiError:
            pass
        except Exception as error:
            broken.append(f"a raw {type(error).__name__} came out: {error}")
        calls = len(shim.calls)
        shim.disarm()
        try:
            if not diary.promised:
                session = await _again(store)
            await session.append(UserMessage("hello"), durability=D1)
            diary.promise(live.read_bytes())
            await session.close()
        except AgentTuiError as error:
            broken.append(f"it cannot be gone on with: {error}")
    return calls, diary, broken


async def _again(store: SessionStore) -> Any:
    try:
        return await store.open(HEADER.session_id)
    except SessionNotFound:
        return await store.create(HEADER)


def _cut_everywhere(
    diary: Diary, root: Path, place: Path, seen: set[object], runner: asyncio.Runner
) -> Iterator[tuple[str, list[str]]]:
    disk = Disk(root)
    whole = diary.promised[-1][1] if diary.promised else b""
    for number, (name, arguments, result) in enumerate(diary.calls):
        if not disk.watch(name, arguments, result) and name != "acknowledged":
            continue
        promised = diary.promised_at(number)
        for state in disk.states():
            key = (state.key, promised)
            if key not in seen:
                seen.add(key)
                broken = runner.run(_judge(put(state, place), promised, whole))
                yield f"power cut after call {number} ({name})", broken


async def _judge(root: Path, promised: bytes, whole: bytes) -> list[str]:
    folder = root / PLACE
    if not (folder / LIVE).exists():
        if promised:
            return ["an acknowledged session is gone"]
        try:
            await (await open_store(root).create(HEADER)).close()
        except AgentTuiError as error:
            return [f"what is left is in the way of making it again: {error}"]
        return []
    broken = recover(folder)
    live = (folder / LIVE).read_bytes()
    if not live.startswith(promised):
        broken.append("acknowledged records are gone")
    state = read_log(folder / LIVE)
    if state.header is None or state.header.session_id != HEADER.session_id:
        broken.append("a session is there without its header")
    if len(state.all_entries) > whole.count(b"\n"):
        broken.append("there are records that nobody wrote")
    return broken
