"""The session that is tortured, and everything that can be done to it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import agent_tui.sessions.log_writer as tail_module
import agent_tui.sessions.repair as repair_module
import agent_tui.sessions.store as store_module
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Record,
    SystemPrompt,
    TitleRecord,
    UserMessage,
)
from agent_tui.sessions.archive import finished_archives
from agent_tui.sessions.replay import Entry
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import Durability, SessionStore
from tests.faults.snapshot import LIVE, Snapshot

D0, D1 = Durability.D0, Durability.D1

HISTORY = (
    b'{"role":"_session","format":1,"session_id":"s1","cwd":"/w","created_at":"2025-01-01T10:00:00Z"'
    b',"version":"0.1.0","uuid":"h","parent_uuid":null,"at":"2025-01-01T10:00:00Z"}\n'
    b'{"role": "_system_prompt",  "content": "be brief"}\n'
    b'{"role":"_checkpoint","id":0}\n'
    b'{"role":"user","content":"one","unknown":[1.50,"kept as it is"]}\n'
    b"\xff\xfe a damaged line, kept in its place\n"
    b'{"role":"assistant","content":"na\\u00efve \xe2\x80\xa8 answer"}\n'
    b'{"role":"_usage","token_count":12}\n'
    b'{"role":"_checkpoint","id":1}\n'
    b'{"content":"two","role":"user"}\n'
    b'{"role":"future","anything":{"goes":true}}\n'
)
"""A log that our encoder would write differently: who re-serialises it is caught."""

SMALL = Snapshot(
    {
        LIVE: HISTORY,
        f"{LIVE}.1": HISTORY[: HISTORY.index(b'{"role":"_checkpoint"')],
        f"{LIVE}.4": HISTORY.replace(b"two", b"a future left behind"),
    }
)
TORN = Snapshot({**SMALL.files, LIVE: HISTORY + b'{"role":"user","conte'})


class SameThread(ThreadPoolExecutor):
    """Runs what it is given at once, in the caller's thread: the same code, in a fixed order."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        fn(*args, **kwargs)


def open_store(root: Path) -> SessionStore:
    """A store as it is, but for its thread."""
    store = SessionStore(root)
    store._writer._thread = SameThread()
    return store


def open_session(folder: Path) -> SessionLog:
    """Open the session in a folder as the store does, but for its thread."""
    return open_store(folder.parent)._open(folder, "")


@contextmanager
def steady_ids() -> Iterator[Callable[[int], None]]:
    """Records get predictable ids and times, so that a new log can be compared byte for byte.

    Gives a function that starts the ids anew from a number.
    """
    ids = itertools.count()
    clocks = (tail_module, repair_module, store_module)
    real = tail_module.new_uuid, tail_module.utc_now

    def restart(first: int) -> None:
        nonlocal ids
        ids = itertools.count(first)

    setattr(tail_module, "new_uuid", lambda *_: f"u{next(ids):04}")  # noqa: B010
    for module in clocks:
        setattr(module, "utc_now", lambda: "2025-01-01T10:00:00.000Z")  # noqa: B010
    try:
        yield restart
    finally:
        tail_module.new_uuid = real[0]
        for module in clocks:
            setattr(module, "utc_now", real[1])  # noqa: B010


@dataclass(frozen=True, slots=True)
class Act:
    """Something done to an open session.

    ``append`` may leave a beginning of what it writes when its process dies; ``replace`` leaves
    the old log or the new one. ``durable``: once it returned, it survives a power cut.
    """

    name: str
    kind: Literal["append", "replace", "prune"]
    run: Callable[[SessionLog, Any], Awaitable[object]]
    prepare: Callable[[SessionLog], Awaitable[Any]] | None = None
    durable: bool = True


async def _append(session: SessionLog, _: Any) -> None:
    await session.append(UserMessage("a question", "human"), durability=D1)


async def _append_d0(session: SessionLog, _: Any) -> None:
    await session.append(AssistantMessage("an answer"), durability=D0)


async def _append_three(session: SessionLog, _: Any) -> None:
    batch: list[Record] = [UserMessage("x" * 40), AssistantMessage("y" * 40), UserMessage("z" * 40)]
    await session.append(*batch, durability=D1)


async def _checkpoint(session: SessionLog, _: Any) -> None:
    await session.append(Checkpoint(session.state.next_checkpoint_id), durability=D0)


async def _rename(session: SessionLog, _: Any) -> None:
    await session.append(TitleRecord("a better name"), durability=D1)


async def _revert(session: SessionLog, _: Any) -> None:
    await session.revert(max(session.state.checkpoints))


async def _clear(session: SessionLog, _: Any) -> None:
    await session.clear()


async def _newest(session: SessionLog) -> Any:
    return finished_archives(session.folder)[-1]


async def _restore(session: SessionLog, number: Any) -> None:
    await session.restore(number)


async def _mark(session: SessionLog) -> Any:
    return await session.mark()


async def _mark_then_append(session: SessionLog) -> Any:
    mark = await session.mark()
    await session.append(UserMessage("meanwhile"), durability=D0)
    return mark


async def _compact(session: SessionLog, mark: Any) -> None:
    entries = session.state.entries
    prompts = [entry for entry in entries if isinstance(entry.record, SystemPrompt)][-1:]
    kept = [entry for entry in entries if entry.offset < mark.size][-2:]

    def build(archive: int) -> list[Record | Entry]:
        act = CompactionRecord("manual", "last-messages", 100, 10, archive)
        return [*prompts, act, UserMessage("a summary", "compaction"), *kept]

    await session.compact(mark, build)


async def _prune(session: SessionLog, _: Any) -> None:
    await session.prune(1)


ACTS = {
    act.name: act
    for act in (
        Act("append", "append", _append),
        Act("append D0", "append", _append_d0, durable=False),
        Act("append three", "append", _append_three),
        Act("checkpoint", "append", _checkpoint, durable=False),
        Act("rename", "append", _rename),
        Act("revert", "replace", _revert),
        Act("compact", "replace", _compact, _mark),
        Act("compact late", "replace", _compact, _mark_then_append),
        Act("restore", "replace", _restore, _newest),
        Act("clear", "replace", _clear),
        Act("prune", "prune", _prune),
    )
}


def can(act: Act, session: SessionLog) -> bool:
    """Whether an act makes sense for a session: there must be something to go back to."""
    if act.name == "revert":
        return bool(session.state.checkpoints)
    if act.name in ("restore", "prune"):
        return bool(finished_archives(session.folder))
    return True


async def perform(act: Act, session: SessionLog) -> None:
    """Prepare an act and do it."""
    token = await act.prepare(session) if act.prepare else None
    await act.run(session, token)
    await asyncio.sleep(0)
