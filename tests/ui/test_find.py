"""Text is found wherever it is in the conversation: folded, unseen, or many times."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Static

from agent_tui.core.messages import DiffDisplay, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import AssistantMessage, Record, ToolMessage, UserMessage
from agent_tui.ui.blocks import AssistantBlock, ToolBlock, UserBlock
from agent_tui.ui.screens.dialogs.aside import AsideScreen
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.widgets.panes.reading import Reading
from agent_tui.ui.widgets.prompt.completion import Completion
from agent_tui.ui.widgets.prompt.find_bar import FindBar
from agent_tui.ui.widgets.prompt.prompt import Prompt
from agent_tui.ui.widgets.timeline import found_text
from tests.ui.stage import Stage, shown
from tests.ui.test_chat_acts import Desk, desk
from tests.ui.timeline_stage import DIFF, TimelineStage
from tests.waiting import until


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
        await here.until(lambda: "Enter send ·" not in shown(here.app))
        await here.pilot.press(*"thing")
        await here.until(lambda: str(bar.query_one("#find-count").render()).startswith("1 of"))
        first = here.chat.timeline._cursor
        await here.pilot.press("enter")
        assert here.chat.timeline._cursor != first
        await here.pilot.press("escape")
        await here.until(lambda: not bar.display)
        assert here.chat.prompt_box.is_writing
        await here.until(lambda: "Enter send ·" in shown(here.app))
        await here.pilot.press("ctrl+f")
        await here.until(lambda: bar.display)
        assert find_bars(here) == [bar]
        await here.pilot.press("escape", "tab")
        await here.until(lambda: here.app.focused is here.chat.timeline)
        await here.pilot.press("slash")
        await here.until(lambda: bar.display)
        assert here.chat.prompt_box.text == ""


async def test_esc_leads_back_to_what_had_the_focus_and_the_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        for way_there, key in (("tab", "slash"), ("tab", "ctrl+f")):
            await here.pilot.press(way_there)
            came_from = here.app.focused
            await here.pilot.press(key)
            (bar,) = find_bars(here)
            await here.until(lambda bar=bar: bar.has_focus_within)  # type: ignore[misc]
            assert "Esc close" in screen_text(here)
            await here.pilot.press(*"nowhere")
            await here.until(lambda: "not found · Esc close" in screen_text(here))
            await here.pilot.press("escape")
            await here.until(lambda bar=bar: not bar.display)  # type: ignore[misc]
            assert here.app.focused is came_from


async def test_an_empty_prompt_says_how_to_come_back_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        prompt, frame = here.chat.prompt_box.query_one(Prompt), here.chat.prompt_box.frame
        await here.until(lambda: str(prompt.placeholder).startswith("Ask"))
        await here.pilot.press("tab")
        assert str(prompt.placeholder) == "Press Tab to write here"
        await here.pilot.press("slash")
        await here.until(lambda: str(prompt.placeholder) == "")
        await here.pilot.press("escape", "tab")
        await here.until(lambda: str(prompt.placeholder).startswith("Ask"))
        frame.read_only = "it is open in another window"
        assert "Tab into the conversation" in str(frame.border_subtitle)
        await here.pilot.press("tab")
        assert "Enter menu" in str(frame.border_subtitle)
        assert "quote" not in str(frame.border_subtitle)  # into a prompt that takes nothing
        assert str(prompt.placeholder).startswith("Read-only")


async def test_finding_closes_the_list_of_completions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.pilot.press("/")
        await here.until(lambda: bool(here.chat.prompt_box.query(Completion)))
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


async def found_on(app: TimelineStage, text: str) -> bool:
    """Whether a text is found, and its block then opened so that it can be seen."""
    found = await app.timeline.find(text, lambda _: None)
    return bool(found) and app.timeline.show_found(found[0])


async def test_what_is_found_late_is_shown_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first that the line heard was that nothing was found yet."""
    monkeypatch.setattr(found_text, "_SLICE_SECONDS", 0.0)
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.panes.show_conversation(shown=True)
        for said in ("a needle", *(f"hay {number}" for number in range(60))):
            here.chat.timeline.append(UserBlock(said))
        await here.pilot.press("ctrl+f", *"needle")
        await until(here.pilot, lambda: "1 of 1" in shown(here.app), "it was not found")
        assert "a needle" in shown(here.app)


async def test_folded_thinking_is_found_and_opened() -> None:
    thought = ThinkPart("\n".join(f"reason {number}" for number in range(30)))
    app = TimelineStage([AssistantMessage((thought, TextPart("So it is.")))])
    async with app.run_test(size=(60, 20)) as pilot:
        assert "reason 29" not in app.text
        assert await found_on(app, "reason 29")
        await pilot.pause(0.1)
        assert "reason 29" in app.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("is done.", "It is done."),
        ("x.py new", "new"),
        ("deep water", "deep"),
        ("edit_file x.py", "edit_file x.py"),
    ],
)
async def test_words_are_found_as_they_are_shown(text: str, shown: str) -> None:
    edit = ToolCall("b", "edit_file", '{"path": "x.py", "new": "new"}')
    app = TimelineStage(
        [
            AssistantMessage(
                (TextPart("It is **done**. " + "far " * 13 + "deep\nwater"),), (edit,)
            ),
            ToolMessage("b", "Edited", display=DiffDisplay("x.py", DIFF)),
        ]
    )
    async with app.run_test(size=(60, 20)):
        assert await app.timeline.find(text, lambda _: None)
        assert shown in app.text


async def test_what_was_before_a_compaction_is_found_though_it_is_folded() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        earlier: list[Record] = [UserMessage("an old needle"), AssistantMessage("Yes.")]
        app.timeline.load([UserMessage("a new thread")], earlier=earlier)
        await pilot.pause(0.1)
        assert "needle" not in app.text
        assert await found_on(app, "old needle")
        await pilot.pause(0.1)
        assert "an old needle" in app.text


async def test_a_hit_in_rows_that_are_left_out_is_read_where_all_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("hello")
        lines = "\n".join(f"row {number}" for number in range(5_000))
        here.chat.timeline.append(ToolBlock("a", "read_file", "{}", "ok", lines))
        await here.pilot.press("ctrl+f")
        await here.until(lambda: len(find_bars(here)) == 1)
        bar = find_bars(here)[0]
        await here.until(lambda: here.app.focused in bar.children)
        await here.pilot.press(*"row 2321")
        await here.until(
            lambda: "in hidden rows · Tab open all" in str(bar.query_one("#find-count").render())
        )
        await here.pilot.press("tab")
        await here.until(lambda: isinstance(here.app.screen, ReaderScreen))
        await here.until(lambda: "row 2321" in screen_text(here))
        await here.pilot.press("escape", "slash", *"row 12", "enter")
        await here.until(lambda: "row 120" in screen_text(here))
        count = here.app.screen.query_one("#find-count", Static)
        assert str(count.render()).startswith("2 of 111")
        await here.pilot.press("escape", "escape")
        await here.until(lambda: here.app.screen is here.app.chat_screen)


def screen_text(here: Desk) -> str:
    strips = here.app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips)


async def test_the_line_that_finds_is_as_wide_as_the_reader() -> None:
    reader = ReaderScreen("Message", "", "row\n" * 99, find="row")
    async with (app := Stage(screen=reader)).run_test(size=(200, 30)) as pilot:
        await until(pilot, lambda: "1 of " in app.text)
        (bar,) = app.screen.query(FindBar)
        text = app.screen.query_one("#reader").region
        assert (bar.region.x, bar.region.right) == (text.x, text.right)
        assert app.size.width - text.right - text.x in (0, 1)


async def test_the_hints_say_what_esc_does_while_the_line_finds() -> None:
    reader = ReaderScreen("Message", "", "row\n" * 99, find="row")
    async with (app := Stage(screen=reader)).run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "1 of " in app.text)
        assert app.text.count("Esc") == 1
        assert "Esc close" in app.text.splitlines()[-1]
        await pilot.click("KeyHints", offset=(app.text.splitlines()[-1].index("Esc"), 0))
        await until(pilot, lambda: "Esc back" in app.text.splitlines()[-1])
        assert app.screen is reader
        assert app.text.count("Esc") == 1
        await pilot.press("slash")
        await until(pilot, lambda: "Esc close" in app.text.splitlines()[-1])
        await pilot.press("escape")
        await until(pilot, lambda: "Esc back" in app.text.splitlines()[-1])


async def test_a_side_question_says_what_esc_does_while_the_line_finds() -> None:
    async def ask(_question: str, _on_text: Callable[[str], None]) -> str:
        return "It is at noon."

    async with (app := Stage(screen=AsideScreen("When?", ask))).run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Esc back" in app.text)
        await pilot.press("slash", *"noon")
        await until(pilot, lambda: "Esc close" in app.text)
        assert "Esc back" not in app.text
        assert app.text.count("Esc") == 1
        await pilot.press("escape")
        await until(pilot, lambda: "Esc back" in app.text)


async def test_markdown_is_drawn_where_it_is_read() -> None:
    text = "# Tides\n\n| harbour | height |\n|---|---|\n| Grey Bar | **1.2** |\n"
    app = Stage([Reading(text, markdown=True)])
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert "│" in app.text
        assert "Grey Bar" in app.text
        assert "|---" not in app.text
        assert "**" not in app.text
        reading = app.query_one(Reading)
        found = await reading.find("grey bar", lambda _: None)
        assert len(found) == 1
        reading.show_text(text + "\n".join(f"- line {number}" for number in range(3_000)))
        await until(pilot, lambda: reading.count > 3_000)


async def test_a_whole_answer_is_drawn_and_shown_as_it_was_written_by_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        timeline = here.chat.timeline
        text = "# Tides\n\n" + "\n".join(f"- **low** water {number}" for number in range(900))
        timeline._cursor = timeline.append(AssistantBlock(text, "", ()))
        timeline.focus()
        await here.pilot.press("v")
        await here.until(lambda: isinstance(here.app.screen, ReaderScreen))
        await here.until(lambda: "low water 3" in screen_text(here))
        assert "**" not in screen_text(here)
        await here.pilot.press("pagedown", "m")
        await here.until(lambda: "**low** water" in screen_text(here))
        assert "# Tides" not in screen_text(here)
        await here.pilot.press("m", "home")
        await here.until(lambda: "• low water 3" in screen_text(here))


async def test_the_find_where_the_reader_is_looks_unlike_the_others() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 30)) as pilot:
        timeline = app.timeline
        first = timeline.append(UserBlock("a needle"))
        text = "\n\n".join(f"needle {number} and another needle" for number in range(3))
        second = timeline.append(AssistantBlock(text))
        await pilot.pause(0.1)

        def here() -> list[str]:
            return [strip.text.strip() for strip in timeline._painted if "▶" in strip.text]

        def looks() -> list[tuple[str, str]]:
            """What is marked, by the colours in which it is."""
            return [
                (segment.text, "here" if segment.style.underline else "elsewhere")
                for strip in timeline._painted
                for segment in strip
                if segment.style is not None and segment.style.reverse
            ]

        assert await timeline.find("needle", lambda _: None) == [second, first]
        timeline.show_found(second, last=True)
        await pilot.pause()
        assert "needle 2 and" in here()[0]
        assert looks().count(("needle", "here")) == 2
        assert looks().count(("needle", "elsewhere")) == 5
        assert timeline.place_in_found == (3, 3)
        assert timeline.step_in_found(1)
        await pilot.pause()
        assert "needle 1 and" in here()[0]
        assert timeline.step_in_found(1)
        assert not timeline.step_in_found(1)
        timeline.show_found(first, last=True)
        await pilot.pause()
        assert "a needle" in here()[0]
        timeline.stop_finding()
        await pilot.pause()
        assert not here()
        assert not looks()


async def test_the_keys_of_the_line_go_through_every_row_of_a_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("hello")
        here.chat.timeline.append(UserBlock("a zebra"))
        here.chat.timeline.append(AssistantBlock("zebra one\n\nzebra two"))
        await here.pilot.press("ctrl+f", *"zebra")
        count = find_bars(here)[0].query_one("#find-count", Static)
        told = [str(count.render()).rpartition(" · ↑ older ↓ newer")[0]]
        for _ in range(3):
            await here.pilot.press("up")
            told.append(str(count.render()).rpartition(" · ↑ older ↓ newer")[0])
        assert told == ["1 of 2, line 2 of 2", "1 of 2, line 1 of 2", "2 of 2", told[0]]


async def test_what_is_typed_to_find_is_seen_in_the_smallest_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("hello zebra")
        await here.pilot.resize_terminal(40, 12)
        await here.pilot.press("ctrl+f", *"zebra")
        await here.until(lambda: "1 of" in shown(here.app))
        (row,) = (line for line in shown(here.app).split("\n") if "⌕" in line)
        assert "⌕ zebra" in row
        assert re.search(r" 1 of \d+ *$", row), "no part of a hint is cut off"


async def test_a_find_is_forgotten_where_a_revert_takes_its_block_away() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 30)) as pilot:
        timeline = app.timeline
        for _ in range(5):
            timeline.append(UserBlock("a needle"))
        await pilot.pause(0.1)
        newest, *_ = await timeline.find("needle", lambda _: None)
        timeline.show_found(newest)
        await pilot.pause()
        timeline.load([])
        await pilot.pause()
        assert timeline.place_in_found == (1, 0)
        assert not timeline.step_in_found(1)
        assert not timeline.show_found(newest)
