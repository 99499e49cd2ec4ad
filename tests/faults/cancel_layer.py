"""Layer "cancelled tasks": a cancelled append settles first; memory never differs from disk."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from agent_tui.core.records import UserMessage
from agent_tui.sessions.replay import SessionState, read_log
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import SessionStore
from tests.faults.acts import D0, D1, SMALL
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.snapshot import put

LAYER = "cancelled tasks"
_TOGETHER = 40


def run(effort: Effort) -> Outcome:
    """Cancel 10,000 appends at random moments, among others that are left alone."""
    outcome = Outcome(LAYER)
    wanted = 1_000 if effort.first_only else 10_000
    with timed(outcome):
        asyncio.run(_cancel(put(SMALL, effort.scratch / "s1"), wanted, outcome))
    return outcome


async def _cancel(folder: Path, wanted: int, outcome: Outcome) -> None:
    chance = random.Random(3)
    store = SessionStore(folder.parent)
    session = await store.open_folder(folder)
    first = 0
    while outcome.counts.get("cancelled appends", 0) < wanted and not outcome.findings:
        await _cancel_some(session, first, chance, outcome)
        first += _TOGETHER
    memory, disk = _numbers(session.state), _numbers(read_log(session.path))
    if memory != disk:
        outcome.find("at the end", [f"memory has {len(memory)} records, disk {len(disk)}"])
    if disk != sorted(set(disk)):
        outcome.find("at the end", ["records are out of order or twice"])
    outcome.count("records on disk", len(disk))
    await session.close()
    await store.aclose()


async def _cancel_some(
    session: SessionLog, first: int, chance: random.Random, outcome: Outcome
) -> None:
    """Start appends together; cancel most of them while they wait, are written, or are settled."""
    tasks = [
        asyncio.create_task(_append(session, number, outcome))
        for number in range(first, first + _TOGETHER)
    ]
    await asyncio.sleep(0)
    for task in chance.sample(tasks, _TOGETHER * 3 // 4):
        if chance.random() < 0.2:
            await asyncio.sleep(chance.choice((0, 0, 0.0001)))
        task.cancel()
        if chance.random() < 0.1:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if session.state.size != session.path.stat().st_size:
        outcome.find(f"around {first}", ["memory is not as long as the disk"])


async def _append(session: SessionLog, number: int, outcome: Outcome) -> None:
    durability = D1 if number % 5 == 0 else D0
    try:
        await session.append(UserMessage(f"number {number}"), durability=durability)
    except asyncio.CancelledError:
        outcome.count("cancelled appends")
        latest = [entry.record for entry in session.state.messages[-_TOGETHER:]]
        if not any(getattr(record, "content", "") == f"number {number}" for record in latest):
            outcome.find(str(number), ["cancelled before its write was settled"])
        raise


def _numbers(state: SessionState) -> list[int]:
    said = [str(getattr(entry.record, "content", "")) for entry in state.messages]
    return [int(text.removeprefix("number ")) for text in said if text.startswith("number ")]
