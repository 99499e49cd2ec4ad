"""A session in memory: it behaves as one on disk does, is bounded, and leaves no trace."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_tui.core.errors import LogChanged, SessionError, SessionReadOnly
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Record,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.sessions.memory_log import KEPT_SHARE, MOST_BESIDE, MOST_MESSAGES, MemoryLog
from agent_tui.sessions.memory_store import MemoryStore
from agent_tui.sessions.replay import Entry
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import Durability, SessionStore

HEADER = SessionHeader("here", "/home/ada", "2026-01-01T00:00:00Z", "0")


async def add(log: SessionLog, *records: Record) -> None:
    await log.append(*records, durability=Durability.D1)


def shown(log: SessionLog) -> list[str]:
    """What a log says, without what differs from run to run."""
    return [repr(type(e.record)) + repr(vars_of(e.record)) for e in log.state.entries]


def vars_of(record: Record) -> dict[str, object]:
    names = [n for n in record.__dataclass_fields__ if n != "stamp"]
    return {name: getattr(record, name) for name in names}


def listed(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


async def act(log: SessionLog) -> list[list[str]]:
    """Everything that can be done with a log, and what it says after each step."""
    steps = []
    await add(log, SystemPrompt("Be brief."), TitleRecord("Tides"))
    await add(log, Checkpoint(0, 1), UserMessage("one", turn=1), AssistantMessage("first", turn=1))
    await add(log, Checkpoint(1, 2), UserMessage("two", turn=2), AssistantMessage("second", turn=2))
    steps.append(shown(log))
    await log.revert(1)
    steps.append(shown(log))
    await log.restore(1, "undo")
    steps.append(shown(log))
    mark = await log.mark()
    kept = log.state.messages[-1]
    await add(log, UserMessage("three", turn=3))

    def build(number: int) -> list[Record | Entry]:
        return [CompactionRecord("manual", "mask", 9, 3, archive=number), Checkpoint(0), kept]

    await log.compact(mark, build)
    steps.append(shown(log))
    await log.clear()
    steps.append(shown(log))
    await log.restore(log.archives()[-1].number, "undo")
    summaries = log.archives()
    steps.append([f"{a.number} {a.reason} {a.messages} {a.checkpoints}" for a in summaries])
    steps.append([f"{a.within} {a.gone}" for a in summaries])
    steps.append([f"{e.record!r:.12}" for e in log.read_archive(2).entries])
    return steps


async def test_it_says_the_same_as_a_log_on_disk_after_each_act(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    on_disk = await store.create(HEADER)
    assert await act(MemoryLog(HEADER)) == await act(on_disk)
    await on_disk.close()
    await store.aclose()


async def test_the_newest_stay_and_no_result_without_its_call() -> None:
    log = MemoryLog(HEADER)
    await add(log, SystemPrompt("Be brief."))
    call = ToolCall("c", "run_command", "{}")
    for turn in range(MOST_MESSAGES // 3 + 1):
        await add(log, Checkpoint(turn, turn), UserMessage(f"prompt {turn}", turn=turn))
        await add(log, AssistantMessage("", (call,), turn=turn), ToolMessage("c", "ok", turn=turn))
    messages = [entry.record for entry in log.state.messages]
    assert MOST_MESSAGES * KEPT_SHARE - 2 <= len(messages) <= MOST_MESSAGES
    assert not isinstance(messages[0], ToolMessage)
    assert isinstance(messages[-1], ToolMessage)
    assert log.state.system_prompt == "Be brief."
    assert log.state.header is not None
    assert log.state.next_checkpoint_id == MOST_MESSAGES // 3 + 1


async def test_records_that_are_no_messages_are_bounded_too() -> None:
    """Usage of a thousand steps, and of what came to nothing, grew without an end."""
    log = MemoryLog(HEADER)
    await add(log, SystemPrompt("Be brief."), TitleRecord("Tide"), UserMessage("prompt"))
    for count in range(MOST_BESIDE + 10):
        await add(log, UsageRecord(count))
        assert len(log.state.all_entries) <= MOST_BESIDE + 1
    assert len(log.state.all_entries) >= MOST_BESIDE * KEPT_SHARE
    assert log.state.token_count == MOST_BESIDE + 9
    assert (log.state.title, log.state.system_prompt) == ("Tide", "Be brief.")
    assert [each.record for each in log.state.messages if isinstance(each.record, UserMessage)]


async def test_a_compaction_of_another_state_changes_nothing() -> None:
    log = MemoryLog(HEADER)
    await add(log, Checkpoint(0), UserMessage("one"))
    mark = await log.mark()
    await log.clear()
    with pytest.raises(LogChanged, match="Compact again"):
        await log.compact(mark, lambda _: [])


async def test_a_store_in_memory_writes_nothing_and_only_reads_what_is_there(
    tmp_path: Path,
) -> None:
    disk = SessionStore(tmp_path / "data")
    await (await disk.create(HEADER)).close()
    await disk.aclose()
    before = listed(tmp_path)
    store = MemoryStore(tmp_path / "data")
    log = await store.create(SessionHeader("new", "/home/ada", "2026-01-01T00:00:00Z", "0"))
    await act(log)
    with pytest.raises(SessionError, match="memory only"):
        await log.fork(HEADER)
    assert await store.open("new") is log
    old = await store.open("here")
    with pytest.raises(SessionReadOnly, match="writes nothing"):
        await add(old, UserMessage("no"))
    await old.close()
    await asyncio.to_thread(log.archives)
    await store.aclose()
    assert listed(tmp_path) == before
