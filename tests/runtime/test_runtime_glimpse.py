"""The end of a long session is there before the session is open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_tui.core.records import AssistantMessage, HeadRecord, Record, UserMessage
from agent_tui.providers.demo.scenario import Reply
from agent_tui.sessions.log import Durability
from tests.agent.stage import Stage


async def glimpse_of(stage: Stage, session_id: str) -> list[Record]:
    stage.engine.launch = replace(stage.engine.launch, resume=session_id)
    return await stage.engine.glimpse()


async def fill(stage: Stage, *last: Record) -> str:
    """A session of three megabytes that ends in these records; its id."""
    session_id = stage.session.session_id
    await stage.session.close()
    log = await stage.engine._store.open(session_id)
    long = [AssistantMessage(f"{number} " + "x" * 10_000) for number in range(300)]
    await log.append(*long, *last, durability=Durability.D0)
    await log.close()
    return session_id


async def test_the_end_of_a_long_session_is_read_by_itself(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("First")
        session_id = await fill(stage, UserMessage("The last word"))
        records = await glimpse_of(stage, session_id)
        assert len(records) == 200
        last = records[-1]
        assert isinstance(last, UserMessage)
        assert last.content == "The last word"
        assert await glimpse_of(stage, session_id[:-2]) == records


async def test_a_short_a_branched_and_an_unknown_session_are_not_glimpsed(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("First")
        assert await glimpse_of(stage, stage.session.session_id) == []
        assert await glimpse_of(stage, "nothing like it") == []
        first = stage.session.view.records[3].stamp.uuid
        assert first is not None
        session_id = await fill(stage, HeadRecord(first))
        assert await glimpse_of(stage, session_id) == []
