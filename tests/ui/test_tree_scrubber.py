"""The scrubber and the comparison: every moment by key and mouse, every difference in view."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from agent_tui.core.records import AssistantMessage, Record, SystemPrompt, UserMessage
from agent_tui.core.tree import Comparison
from agent_tui.history.records.compare import compare_branches
from agent_tui.history.scrub import Scrub
from agent_tui.history.view import SessionView
from agent_tui.ui.screens.dialogs.keys import describe_keys
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.screens.time.compare import CompareScreen
from agent_tui.ui.screens.time.scrubber import ScrubberScreen
from agent_tui.ui.widgets.bars.track import Track
from agent_tui.ui.widgets.panes.pairs import Pairs
from tests.history.views import source_of
from tests.ui.stage import Stage
from tests.ui.test_tree import branched
from tests.waiting import settle


def loader() -> Callable[[], Awaitable[Scrub]]:
    async def load() -> Scrub:
        return await branched().scrub()

    return load


async def shown(app: Stage, pilot: Pilot[None]) -> str:
    await settle(pilot)
    return app.text


async def test_the_session_is_walked_step_by_step_over_its_archives() -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test(size=(110, 30)) as pilot:
        assert "what the next request sends" in await shown(app, pilot)
        await pilot.press("home")
        text = await shown(app, pilot)
        assert "moment 1 of 10" in text
        assert "1 message" in text
        await pilot.press("right")
        assert "Answer to a" in await shown(app, pilot)
        await pilot.press("right", "right")
        text = await shown(app, pilot)
        assert "reverted to checkpoint 2" in text
        assert "Answer to b" not in text
        await pilot.press("right", "right")
        text = await shown(app, pilot)
        assert "compacted (manual)" in text
        assert "summary" in text
        assert "Answer to d" not in text
        await pilot.press("end")
        assert "now" in await shown(app, pilot)


async def test_keys_that_belong_together_are_told_together() -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test() as pilot:
        await settle(pilot)
        told = {each.meaning.strip(): each.term for each in describe_keys(app.screen)}
    assert (told["Moment"], told["First and last"], told["Scroll"]) == ("← →", "Home End", "↑ ↓")
    assert told["Back"] == "Esc"


async def test_only_the_newest_part_of_a_context_is_shown_where_that_is_wanted() -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test(size=(110, 30)) as pilot:
        whole = await shown(app, pilot)
        await pilot.press("n")
        assert "shown: newest 10 messages" in await shown(app, pilot)
        await pilot.press("n", "n")
        text = await shown(app, pilot)
        assert "shown: new since the previous moment" in text
        await pilot.press("n")
        assert await shown(app, pilot) == whole


async def test_turns_are_walked_with_brackets() -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test() as pilot:
        await settle(pilot)
        track = app.screen.query_one(Track)
        await pilot.press("home")
        seen = []
        for key in ("]", "]", "[", "["):
            await pilot.press(key)
            await settle(pilot)
            seen.append(track.position)
        assert seen == [1, 2, 1, 0]


async def test_the_track_is_used_with_the_mouse() -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        track = app.screen.query_one(Track)
        await pilot.click(Track, offset=(2, 2))
        assert "moment 1 of 10" in await shown(app, pilot)
        await pilot.mouse_down(Track, offset=(2, 2))
        await pilot.hover(Track, offset=(30, 2))
        await pilot.mouse_up(Track, offset=(30, 2))
        assert track.position in (0, 3)


@pytest.mark.parametrize(("width", "bars"), [(83, 10), (33, 1)])
async def test_each_moment_is_a_bar_where_there_is_room_for_one(width: int, bars: int) -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test(size=(width, 24)) as pilot:
        await settle(pilot)
        await pilot.press("home", "right", "right")
        await shown(app, pilot)
        track = app.screen.query_one(Track)
        drawn = track.render()
        low = drawn.split("\n")[-2]
        assert len(low.plain.split()) == bars
        here = [span for span in low.spans if span.style == "$user"]
        assert {at // (low.cell_length // 10) for at in range(here[0].start, here[0].end)} == {2}


async def test_many_keys_show_only_the_moment_they_end_at() -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await pilot.press("home", *["right"] * 6)
        text = await shown(app, pilot)
        assert "moment 7 of 10" in text


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40)])
async def test_moment_track_and_context_fit_every_size(size: tuple[int, int]) -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test(size=size) as pilot:
        await pilot.press("home")
        text = await shown(app, pilot)
        assert "what the model was sent" in text
        assert "▲" in text
        assert "Esc back" in text


@pytest.mark.parametrize("size", [(54, 20), (60, 20), (80, 24)])
async def test_the_line_about_a_moment_is_said_whole(size: tuple[int, int]) -> None:
    async with (app := Stage(screen=ScrubberScreen(loader()))).run_test(size=size) as pilot:
        await pilot.press("home", "right", "right")
        line = next(row for row in (await shown(app, pilot)).splitlines() if "was sent" in row)
        assert "turn 3" in line
        assert "…" not in line
        await pilot.press("n")
        text = await shown(app, pilot)
        assert "shown: newest 10 messages" in text


async def test_the_system_prompt_of_the_moment_can_be_read() -> None:
    records: list[Record] = [SystemPrompt("Be [bold]kind[/]."), UserMessage("a", "human")]

    async def load() -> Scrub:
        return await SessionView(source_of([*records, AssistantMessage("b")])).scrub()

    async with (app := Stage(screen=ScrubberScreen(load))).run_test() as pilot:
        await settle(pilot)
        await pilot.press("p")
        assert "Be [bold]kind[/]." in await shown(app, pilot)
        assert isinstance(app.screen, ReaderScreen)


def talk(*texts: str) -> list[Record]:
    return [UserMessage(text, "human") for text in texts]


def comparison() -> Comparison:
    left = ("archive 1", talk("one", "two", "three", "old [red]", "same"))
    right = ("now", talk("one", "two", "three", "new", "newer", "same"))
    return compare_branches(left, right, lambda _message: 10)


async def load_comparison() -> Comparison:
    return comparison()


async def test_two_branches_stand_side_by_side_from_where_they_part() -> None:
    async with (app := Stage(screen=CompareScreen(load_comparison))).run_test(
        size=(100, 20)
    ) as pilot:
        text = await shown(app, pilot)
        assert "3 messages in common · 30 tokens" in text
        assert "4 messages in both  1 only on the left, 2 only on the right" in text
        row = next(line for line in text.splitlines() if "old [red]" in line)
        assert "new" in row
        assert row.split()[1] == "user", "who asks is called that wherever messages are listed"
        assert "archive 1  5 messages · 50" in text
        assert "one" not in text.replace("one marked", "")
        await pilot.press("home", "enter")
        assert "three" in await shown(app, pilot)


async def test_two_branches_that_say_the_same_have_no_differences_to_go_to() -> None:
    async def load() -> Comparison:
        same = talk("one", "two", "three")
        return compare_branches(("archive 1", same), ("now", same), lambda _message: 10)

    async with (app := Stage(screen=CompareScreen(load))).run_test(size=(100, 20)) as pilot:
        text = await shown(app, pilot)
        assert "3 messages in both  no differences" in text
        assert "[ ]" not in text


async def test_below_two_branches_stand_the_messages_of_the_row() -> None:
    async with (app := Stage(screen=CompareScreen(load_comparison))).run_test(
        size=(100, 24)
    ) as pilot:
        await shown(app, pilot)
        assert app.screen.query_one(Pairs).cursor == 1
        assert app.text.count("old [red]") == 2
    async with (app := Stage(screen=CompareScreen(load_comparison))).run_test(
        size=(100, 16)
    ) as pilot:
        await shown(app, pilot)
        assert app.text.count("old [red]") == 1


async def test_differences_are_found_and_read() -> None:
    async with (app := Stage(screen=CompareScreen(load_comparison))).run_test(
        size=(100, 20)
    ) as pilot:
        await settle(pilot)
        await pilot.press("]")
        assert app.screen.query_one(Pairs).cursor == 1
        await pilot.press("enter")
        text = await shown(app, pilot)
        assert "── left ──" in text
        assert "── right ──" in text
        assert "old [red]" in text


async def test_a_narrow_screen_shows_one_side_at_a_time() -> None:
    async with (app := Stage(screen=CompareScreen(load_comparison))).run_test(
        size=(40, 12)
    ) as pilot:
        text = await shown(app, pilot)
        assert "newer" in text
        assert "old" not in text
        assert "╌" not in text, "no row stands for a message of the other side"
        await pilot.press("left")
        text = await shown(app, pilot)
        assert "old [red]" in text
        assert "newer" not in text


async def test_equal_branches_fold_to_one_row() -> None:
    async def load() -> Comparison:
        return compare_branches(("l", talk("a", "b")), ("r", talk("a", "b")), lambda _m: 1)

    async with (app := Stage(screen=CompareScreen(load))).run_test(size=(100, 20)) as pilot:
        assert "2 messages in common" in await shown(app, pilot)
        assert app.screen.query_one(Pairs).count == 1


async def test_a_short_comparison_leaves_the_other_rows_to_what_is_said() -> None:
    async with (app := Stage(screen=CompareScreen(load_comparison))).run_test(
        size=(120, 60)
    ) as pilot:
        await settle(pilot)
        pairs, sides = app.screen.query_one(Pairs), app.screen.query_one("#both-sides")
        assert pairs.size.height == max(4, pairs.count)
        assert sides.region.bottom == 59
        await pilot.press("a")
        await settle(pilot)
        assert pairs.size.height == max(4, pairs.count)
