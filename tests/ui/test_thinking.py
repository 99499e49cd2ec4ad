"""The row of folded thinking says how long it took, live and when it is read again."""

from __future__ import annotations

import pytest

from agent_tui.core.messages import TextPart, ThinkPart
from agent_tui.core.records import AssistantMessage
from agent_tui.ui.widgets.timeline import open_answer
from tests.ui.timeline_stage import TimelineStage
from tests.waiting import rest

THOUGHT = (ThinkPart("Let me see."), TextPart("So it is."))


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "thought  Let"),
        (0.4, "thought  Let"),
        (12.4, "thought for 12 s  Let"),
        (72, "thought for 1 min 12 s  Let"),
    ],
)
async def test_a_record_tells_how_long_thinking_took(seconds: float, told: str) -> None:
    app = TimelineStage([AssistantMessage(THOUGHT, thinking_seconds=seconds)])
    async with app.run_test(size=(80, 24)):
        assert told in app.text


async def test_it_is_told_when_the_answer_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(open_answer, "monotonic", lambda: now)
    app = TimelineStage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.timeline.stream_thinking("Let me see.")
        await rest(pilot, 0.1)
        assert "thought" not in app.text
        now += 12
        app.timeline.stream_text("So it is.")
        now += 12
        await rest(pilot, 0.1)
        assert "thought for 12 s  Let me see." in app.text
        app.timeline.close_answer()
        await pilot.pause()
        assert "thought for 12 s  Let me see." in app.text
