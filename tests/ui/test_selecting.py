"""Text that is selected in the conversation is copied whole, also what has left the view."""

from __future__ import annotations

from textual.pilot import Pilot

from agent_tui.core.records import AssistantMessage, UserMessage
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.ui.timeline_stage import TimelineStage

SAID = [UserMessage("\n".join(f"row {n}.{line}" for line in range(5))) for n in range(40)]


async def stage_at(app: TimelineStage, pilot: Pilot[None], record: int) -> None:
    await pilot.pause()
    app.timeline.go_to_record(record)
    await pilot.pause()


def row_of(app: TimelineStage, text: str) -> int:
    return next(y for y, line in enumerate(app.lines) if text in line)


async def test_rows_that_were_scrolled_away_while_selecting_are_copied() -> None:
    app = TimelineStage(SAID)
    async with app.run_test(size=(60, 12)) as pilot:
        await stage_at(app, pilot, 4)
        await pilot.mouse_down(Timeline, offset=(3, row_of(app, "row 4.1")))
        await pilot.hover(Timeline, offset=(9, row_of(app, "row 4.3")))
        app.timeline.scroll_rows(60)
        await pilot.pause()
        last = row_of(app, "row 14.2")
        await pilot.hover(Timeline, offset=(12, last))
        await pilot.mouse_up(Timeline, offset=(12, last))
        copied = (app.screen.get_selected_text() or "").splitlines()
        wanted = [f"row {n}.{line}" for n in range(4, 15) for line in range(5)]
        assert [row for row in copied if row] == wanted[1:-2]


async def test_a_selection_upwards_through_blocks_that_nobody_had_seen_is_copied() -> None:
    records = [AssistantMessage("word " * (n % 7 * 60) + f"\n\nend {n}.") for n in range(60)]
    app = TimelineStage(records)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        await pilot.mouse_down(Timeline, offset=(9, row_of(app, "end 59.")))
        await pilot.hover(Timeline, offset=(3, row_of(app, "end 59.") - 2))
        app.timeline.scroll_rows(-150)
        await pilot.pause()
        await pilot.hover(Timeline, offset=(3, 1))
        await pilot.mouse_up(Timeline, offset=(3, 1))
        copied = app.screen.get_selected_text() or ""
        first = 60 - copied.count("end ")
        assert first < 55
        assert [row for row in copied.splitlines() if row.startswith("end")] == [
            f"end {n}." for n in range(first, 60)
        ]


async def test_what_scrolls_below_a_resting_pointer_is_selected_with_the_rest() -> None:
    app = TimelineStage(SAID)
    async with app.run_test(size=(60, 12)) as pilot:
        await stage_at(app, pilot, 4)
        await pilot.mouse_down(Timeline, offset=(3, row_of(app, "row 4.1")))
        await pilot.hover(Timeline, offset=(9, 8))
        app.timeline.scroll_rows(60)
        await pilot.pause()
        await pilot.mouse_up(Timeline, offset=(9, 8))
        assert "row 13.0" in (app.screen.get_selected_text() or "")


async def test_a_hint_over_the_last_row_is_no_text() -> None:
    app = TimelineStage(SAID)
    async with app.run_test(size=(60, 12)) as pilot:
        await stage_at(app, pilot, 4)
        app.timeline.lines_below = 7
        app.timeline.paint()
        await pilot.mouse_down(Timeline, offset=(3, 1))
        await pilot.hover(Timeline, offset=(58, 11))
        await pilot.mouse_up(Timeline, offset=(58, 11))
        assert "new line" not in (app.screen.get_selected_text() or "new line")
