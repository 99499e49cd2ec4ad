"""The end of a session is there before the engine is, and is what the opened session ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    HeadRecord,
    Record,
    UserMessage,
)
from agent_tui.providers.demo.scenario import Reply
from agent_tui.runtime.starting.glimpse import Glimpse, read_glimpse
from agent_tui.runtime.starting.launch import Launch
from agent_tui.sessions.log import Durability
from tests.agent.stage import Stage

LONG = [AssistantMessage(f"{number} " + "x" * 10_000) for number in range(300)]


def glimpse_of(stage: Stage, session_id: str) -> Sequence[Record]:
    return read_glimpse(replace(launched(stage), resume=session_id)).records


def launched(stage: Stage) -> Launch:
    return Launch(cwd=stage.engine.workspace)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))


async def fill(stage: Stage, *records: Record) -> str:
    """Append to the stage's session and close it; its id."""
    session_id = stage.session.session_id
    await stage.session.close()
    log = await stage.engine._store.open(session_id)
    await log.append(*records, durability=Durability.D0)
    await log.close()
    return session_id


async def opened(stage: Stage, session_id: str) -> Sequence[Record]:
    """What the timeline shows of the session once it is open."""
    session = await stage.engine.read_session(session_id)
    shown = list(session.view.shown_records)
    await session.close()
    return shown


async def test_the_end_of_a_long_session_is_the_end_of_the_opened_one(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("First")
        session_id = await fill(stage, *LONG, UserMessage("The last word"))
        glimpse = list(glimpse_of(stage, session_id))
        assert len(glimpse) == 200
        assert glimpse == list(await opened(stage, session_id))[-200:]
        assert list(glimpse_of(stage, session_id[:-2])) == glimpse


async def test_a_short_session_is_glimpsed_whole_on_its_branch_and_with_its_damage(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("First")
        head = HeadRecord(stage.session.view.records[3].stamp.uuid or "")
        session_id = await fill(stage, head, UserMessage("On another branch"))
        log = next((tmp_path / "home").rglob("context.jsonl"))
        log.write_bytes(log.read_bytes() + b"{torn\n")
        glimpse = list(glimpse_of(stage, session_id))
        assert glimpse == list(await opened(stage, session_id))
        assert "lines" in str(glimpse[-1])


async def test_behind_a_branch_or_a_compaction_no_line_of_another_path_is_glimpsed(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("First")
        head = HeadRecord(stage.session.view.records[3].stamp.uuid or "")
        session_id = await fill(stage, *LONG, head, *LONG[:100])
        glimpse = list(glimpse_of(stage, session_id))
        assert len(glimpse) == 101
        assert glimpse == list(await opened(stage, session_id))[-101:]
        log = await stage.engine._store.open(session_id)
        act = CompactionRecord("manual", "last messages", 9, 5, 1)
        await log.append(act, HeadRecord(head.to), durability=Durability.D0)
        await log.close()
        assert not glimpse_of(stage, session_id)  # too little to fill a screen


async def test_the_latest_session_of_the_folder_is_glimpsed_and_no_other(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("First")
        await fill(stage)
        latest = list(read_glimpse(replace(launched(stage), latest=True)).records)
        assert any(isinstance(record, UserMessage) for record in latest)
        assert read_glimpse(replace(launched(stage), cwd=tmp_path, latest=True)) == Glimpse()
        assert read_glimpse(launched(stage)) == Glimpse()
        assert not glimpse_of(stage, "nothing like it")
