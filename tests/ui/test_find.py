"""Text is found wherever it is in the conversation: folded, unseen, or many times."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_tui.core.records import Record, UserMessage
from agent_tui.ui.blocks import ToolBlock, UserBlock
from agent_tui.ui.widgets.prompt.completion import Completion
from agent_tui.ui.widgets.prompt.find_bar import FindBar
from tests.ui.test_chat_acts import Desk, desk
from tests.ui.timeline_stage import TimelineStage


def find_bars(here: Desk) -> list[FindBar]:
    return list(here.chat.prompt_box.query(FindBar))


async def test_what_is_folded_away_is_found_and_opened() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        lines = "\n".join(f"row {number}" for number in range(200))
        index = app.timeline.append(ToolBlock("a", "read_file", "{}", "ok", lines))
        await pilot.pause(0.1)
        assert "row 150" not in app.text
        assert await app.timeline.find("ROW 150", lambda _: None) == [index]
        app.timeline.show_found(index)
        await pilot.pause(0.1)
        assert "row 150" in app.text


async def test_the_newest_comes_first_and_keys_get_through_meanwhile() -> None:
    records: list[Record] = [
        UserMessage(f"message {number}{' needle' if number % 1000 == 7 else ''}")
        for number in range(20_000)
    ]
    app = TimelineStage(records)
    async with app.run_test(size=(60, 20)):
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        found = await app.timeline.find("needle", lambda _: None)
        counting.cancel()
        assert found == [19_007 - 1_000 * step for step in range(20)]
        assert turns > 3


async def test_the_line_finds_while_it_is_typed_and_esc_gives_the_prompt_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await here.say("another thing")
        assert here.chat.prompt_box.is_writing
        await here.pilot.press("ctrl+f")
        await here.until(lambda: len(find_bars(here)) == 1)
        bar = find_bars(here)[0]
        await here.until(lambda: here.app.focused in bar.children)
        await here.pilot.press(*"thing")
        await here.until(lambda: str(bar.query_one("#find-count").render()).startswith("1 of"))
        first = here.chat.timeline._cursor
        await here.pilot.press("enter")
        assert here.chat.timeline._cursor != first
        await here.pilot.press("escape")
        await here.until(lambda: not bar.display)
        assert here.chat.prompt_box.is_writing
        await here.pilot.press("ctrl+f")
        await here.until(lambda: bar.display)
        assert find_bars(here) == [bar]


async def test_finding_closes_the_list_of_completions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.pilot.press("/")
        completion = here.chat.prompt_box.query_one(Completion)
        await here.until(lambda: completion.is_offering)
        await here.pilot.press("ctrl+f")
        await here.until(lambda: len(find_bars(here)) == 1)
        await here.until(lambda: not completion.is_offering)


async def test_a_block_can_be_read_by_itself_and_quoted_into_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        timeline = here.chat.timeline
        timeline.focus()
        timeline.go_to_record(0)
        while not isinstance(timeline.block(timeline._cursor or 0), UserBlock):
            await here.pilot.press("down")
        await here.pilot.press("v")
        await here.until(lambda: type(here.app.screen).__name__ == "ReaderScreen")
        await here.pilot.press("escape")
        await here.until(lambda: here.app.screen is here.app.chat_screen)
        timeline.focus()
        await here.pilot.press("q")
        await here.until(lambda: here.chat.prompt_box.text == "> one thing\n\n")
