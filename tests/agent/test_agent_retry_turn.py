"""A turn that ended without its answer goes on with one act, and nothing is said twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_tui.config import AgentSettings
from agent_tui.core.errors import SessionError
from agent_tui.core.events import TextDelta
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, UserMessage
from agent_tui.providers.demo.scenario import Fault, Reply
from tests.agent.stage import Stage, call


async def test_a_turn_that_failed_before_its_answer_is_retried_without_a_new_prompt(
    tmp_path: Path,
) -> None:
    faults = tuple(Fault(status=503) for _ in range(2))
    async with Stage(
        tmp_path, Reply(text="At last.", faults=faults), agent=AgentSettings(max_attempts=2)
    ) as stage:
        assert await stage.say("Hi") == "failed"
        stage.events.clear()
        assert await stage.session.retry_turn() == "done"
        assert stage.transcript() == snapshot(
            [
                "turn 1 resumed",
                "checkpoint 2 (turn 1, step 1)",
                "step 1",
                "text: At last.",
                "turn 1 done after 1",
            ]
        )
        assert [m["content"] for m in stage.on_disk("user")] == ["Hi"]


async def test_half_an_answer_is_left_on_a_branch_of_its_own(tmp_path: Path) -> None:
    replies = (Reply(text="Half an answer", cut_after=2), Reply(text="Whole."))
    async with Stage(tmp_path, *replies) as stage:
        assert await stage.say("Hi") == "failed"
        assert await stage.session.retry_turn() == "done"
        said = [
            text_of(record.content)
            for record in stage.session.view.records
            if isinstance(record, UserMessage | AssistantMessage)
        ]
        assert said == ["Hi", "Whole."]
        assert [m["content"] for m in stage.on_disk("assistant")] == ["Half an", "Whole."]


async def test_a_turn_that_was_interrupted_between_its_tools_goes_on_behind_them(
    tmp_path: Path,
) -> None:
    replies = (
        Reply(text="I look.", calls=(call("find_files", pattern="*"),)),
        Reply(text="slow slow slow"),
        Reply(text="Found."),
    )
    async with Stage(tmp_path, *replies) as stage:
        await stage.say_until(
            "Look", lambda event: isinstance(event, TextDelta) and "slow" in event.text
        )
        assert await stage.session.retry_turn() == "done"
        last = [r for r in stage.session.view.records if isinstance(r, AssistantMessage)]
        assert [text_of(record.content) for record in last] == ["I look.", "Found."]


async def test_what_was_answered_cannot_be_retried(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        with pytest.raises(SessionError, match="Nothing to retry"):
            await stage.session.retry_turn()
        await stage.say("Hi")
        with pytest.raises(SessionError, match="Nothing to retry"):
            await stage.session.retry_turn()
