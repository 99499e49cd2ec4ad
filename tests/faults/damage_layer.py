"""Layer "damaged files": whatever a log holds, what is good in it loads and the session goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_tui.core.errors import AgentTuiError, StorageError
from agent_tui.core.records import UserMessage
from agent_tui.sessions.replay import read_log
from agent_tui.sessions.session_summary import read_session_summary
from tests.faults.acts import D1, open_session
from tests.faults.damaged_files import Damaged, all_of_them, unopenable
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.snapshot import LIVE, Snapshot, put
from tests.faults.verdict import accounts_for

LAYER = "damaged files"


def run(effort: Effort) -> Outcome:
    """Load every damaged file, ask what it says, and go on with it."""
    outcome = Outcome(LAYER)
    folder = effort.scratch / "s1"
    with timed(outcome):
        for damaged in all_of_them(effort.full, big=not effort.first_only):
            outcome.count("damaged logs")
            put(Snapshot({LIVE: damaged.data}), folder)
            outcome.find(damaged.name, _judge(folder, damaged))
            if outcome.findings and effort.first_only:
                return outcome
        for name, make in unopenable(effort.scratch):
            outcome.count("things that are no file")
            put(Snapshot({}), folder)
            make(folder / LIVE)
            outcome.find(name, _judge_refusal(folder))
            (folder / LIVE).rmdir() if name == "a folder" else (folder / LIVE).unlink()
    return outcome


def _judge(folder: Path, damaged: Damaged) -> list[str]:
    path = folder / LIVE
    try:
        state = read_log(path)
        read_session_summary(folder)
    except Exception as error:
        return [f"loading raised {error!r}"]
    broken = []
    found = len(state.all_entries), len(state.damaged)
    if found != (damaged.records, damaged.damage):
        expected = f"{damaged.records} and {damaged.damage}"
        broken.append(f"loaded {found[0]} records and {found[1]} pieces of damage, not {expected}")
    broken += [
        f"question {n} was answered no" for n, ask in enumerate(damaged.asks) if not ask(state)
    ]
    if not accounts_for(state, damaged.data):
        broken.append("not every byte is accounted for")
    if path.read_bytes() != damaged.data:
        broken.append("reading changed the file")
    return broken + asyncio.run(_go_on(folder, damaged, len(state.all_entries)))


async def _go_on(folder: Path, damaged: Damaged, records: int) -> list[str]:
    try:
        session = open_session(folder)
        await session.append(UserMessage("going on"), durability=D1)
        await session.clear()
        await session.restore(1)
        await session.close()
    except Exception as error:
        return [f"going on raised {error!r}"]
    archive = (folder / f"{LIVE}.1").read_bytes()
    broken = []
    if not archive.startswith(damaged.data):
        broken.append("the damage was not left in its place")
    if len(read_log(folder / f"{LIVE}.1").all_entries) != records + 1:
        broken.append("the next append was swallowed, or swallowed a line")
    if len(read_log(folder / LIVE).all_entries) < records + 2:
        broken.append("a restore lost a line")
    return broken


def _judge_refusal(folder: Path) -> list[str]:
    try:
        read_log(folder / LIVE)
    except StorageError:
        pass
    except AgentTuiError as error:
        if "no such file" not in str(error) and "no longer exists" not in str(error):
            return [f"refused with {error!r}"]
    else:
        return ["it was read"]
    read_session_summary(folder)
    try:
        open_session(folder)
    except AgentTuiError:
        return []
    return ["it was opened"]
