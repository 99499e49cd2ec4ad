"""Answers of megabytes: the loop draws little of them, a thread the rest, and nothing jumps."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Record, ToolMessage, UserMessage
from agent_tui.ui.renderers.long_text import GLANCE_CHARS, MOST_CHARS, cut_ends
from tests.ui.timeline_stage import TimelineStage, numbered

SIZE = (80, 20)


def prose(characters: int) -> str:
    paragraphs, length, number = [], 0, 0
    while length < characters:
        paragraphs.append(f"Paragraph {number} tells of **tides** and of `moons` in turn.")
        length += len(paragraphs[-1]) + 2
        number += 1
    return "\n\n".join(paragraphs)


def count_calls(work: Callable[[], object]) -> int:
    """Calls of Python functions on this thread."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


async def until_drawn(app: TimelineStage, pilot: Pilot[None]) -> None:
    """Wait for the thread that draws what was drawn in a hurry."""
    for _ in range(600):
        await pilot.pause(0.02)
        if not app.timeline._blocks.has_rough and not app.timeline._colouring:
            return
    raise AssertionError("still not drawn")


@pytest.mark.parametrize("text", [prose(100_000), "x" * 100_000, "word " * 20_000, "\n" * 100_000])
def test_the_ends_of_a_text_are_its_own_and_say_what_is_between(text: str) -> None:
    ends = cut_ends(text, 10_000)
    assert text.startswith(ends.head)
    assert text.endswith(ends.tail)
    assert len(ends.head) + ends.hidden + len(ends.tail) == len(text)
    assert 0 < len(ends.head) <= 5_000
    assert 0 < len(ends.tail) <= 5_000


def test_code_goes_on_as_code_behind_the_cut() -> None:
    code = "Look:\n\n```python\n" + "value = compute()\n" * 2_000 + "```\n\nDone."
    assert cut_ends(code, 4_000).tail.startswith("```\nvalue")
    closed = "```\ncode\n```\n\n" + prose(20_000)
    assert not cut_ends(closed, 4_000).tail.startswith("```")


async def test_what_the_loop_draws_of_an_answer_does_not_grow_with_it() -> None:
    costs = []
    for characters in (50_000, 5_000_000):
        app = TimelineStage()
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            records: list[Record] = [*numbered(3), AssistantMessage(prose(characters))]
            costs.append(count_calls(lambda a=app, r=records: a.timeline.load(r)))  # type: ignore[misc]
            assert "tides and of moons" in "".join(strip.text for strip in app.timeline._painted)
    assert costs[1] < 1.3 * costs[0]


async def test_all_of_a_long_answer_is_there_a_moment_later_and_its_end_stays_in_view() -> None:
    text = prose(MOST_CHARS - 1_000)
    app = TimelineStage([UserMessage("Tell me all.", "human", 1), AssistantMessage(text)])
    async with app.run_test(size=SIZE) as pilot:
        await until_drawn(app, pilot)
        assert app.timeline.at_end
        assert text.rsplit(" ", 1)[-1] in app.text
        rows = "\n".join("".join(s.text for s in row) for row in app.timeline._blocks.rows(1))
        assert all(f"Paragraph {n} " in rows for n in range(text.count("\n\n") + 1))


async def test_what_is_seen_of_a_long_answer_stays_where_it_is_when_the_rest_is_drawn() -> None:
    app = TimelineStage([AssistantMessage(prose(60_000)), *numbered(3)])
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.timeline.scroll_rows(-60)
        seen = app.text
        await until_drawn(app, pilot)
        assert app.text == seen


async def test_an_answer_of_megabytes_shows_its_ends_and_says_so() -> None:
    text = prose(3_000_000)
    app = TimelineStage([AssistantMessage(text)])
    async with app.run_test(size=SIZE) as pilot:
        await until_drawn(app, pilot)
        rows = ["".join(s.text for s in row) for row in app.timeline._blocks.rows(0)]
        assert len(rows) < 6_000
        assert any("characters not shown: /export to write all of it" in row for row in rows)
        assert "Paragraph 0 " in rows[1]
        app.timeline.lay_out()
        await until_drawn(app, pilot)
        again = ["".join(s.text for s in row) for row in app.timeline._blocks.rows(0)]
        assert again == rows


async def test_a_flood_shows_its_end_at_once_and_all_of_it_when_it_is_over() -> None:
    text = prose(MOST_CHARS - 1_000)
    app = TimelineStage(numbered(3))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.timeline.stream_text(text[:50])
        app.timeline._draw_frame()
        app.timeline.stream_text(text[50:])
        app.timeline._draw_frame()
        answer = app.timeline._blocks.answer
        assert answer is not None
        while answer.advance():
            pass
        app.timeline.show_change(came=app.timeline._blocks.measure_open())
        assert text.rsplit(" ", 1)[-1] in "".join(strip.text for strip in app.timeline._painted)
        app.timeline.close_answer()
        await until_drawn(app, pilot)
        rows = "\n".join("".join(s.text for s in row) for row in app.timeline._blocks.rows(3))
        assert all(f"Paragraph {n} " in rows for n in range(text.count("\n\n") + 1))


async def test_one_frame_of_a_flood_costs_what_a_frame_may() -> None:
    costs = []
    for characters in (100_000, 5_000_000):
        app = TimelineStage()
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            app.timeline.stream_text("It begins.\n\n")
            app.timeline._draw_frame()
            app.timeline.stream_text(prose(characters))

            def flood(app: TimelineStage = app) -> None:
                answer = app.timeline._blocks.answer
                assert answer is not None
                while answer.advance():
                    pass

            costs.append(count_calls(flood))
    assert costs[1] < 1.3 * costs[0]
    assert GLANCE_CHARS < 100_000


async def test_a_call_with_megabytes_of_arguments_costs_what_any_call_costs() -> None:
    costs = []
    for size in (200_000, 8_000_000):
        arguments = json.dumps({"path": "big.txt", "content": "word " * (size // 5)})
        call = AssistantMessage("", (ToolCall("a", "write_file", arguments),))
        records: list[Record] = [call, ToolMessage("a", "Written.")]
        app = TimelineStage()
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            costs.append(count_calls(lambda a=app, r=records: a.timeline.load(r)))  # type: ignore[misc]
            await pilot.pause()
            assert "write_file big.txt" in app.text
            app.timeline.action_toggle_all()
            await pilot.pause()
            assert app.timeline._blocks.height(1) < 5_000
    assert costs[1] < 1.3 * costs[0]
