"""A thumb that moves: few cells are drawn, and they look as if all had been."""

from __future__ import annotations

import random

from rich.style import Style
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from agent_tui.core.records import AssistantMessage
from agent_tui.ui.widgets.timeline.thumb_bar import ThumbBar
from tests.ui.timeline_stage import TimelineStage

HEIGHT = 30


class Heard(ThumbBar):
    """A bar that keeps which cells it asked to be drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Region] = []

    def refresh(self, *regions: Region, **_: bool) -> Heard:
        self.asked += regions
        return self


class BarStage(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.bar = Heard()

    def compose(self) -> ComposeResult:
        self.bar.styles.height = HEIGHT
        self.bar.styles.width = 1
        yield self.bar


async def test_what_was_drawn_cell_by_cell_looks_as_if_drawn_whole() -> None:
    numbers = random.Random(8)
    async with (app := BarStage()).run_test(size=(80, HEIGHT)) as pilot:
        await pilot.pause()
        bar, whole = app.bar, Region(0, 0, 1, HEIGHT)
        painted = bar.render_lines(whole)
        assert len(painted) == HEIGHT
        for _ in range(60):
            total = numbers.choice([numbers.randint(1, 60), numbers.randint(1, 5_000)])
            height = min(HEIGHT, total)
            bar.asked.clear()
            bar.move(total, height, numbers.randint(0, total - height))
            for region in bar.asked:
                painted[region.y : region.bottom] = bar.render_lines(region)
            assert looks(painted) == looks(from_textual(bar))


def from_textual(bar: ThumbBar) -> list[Strip]:
    ScrollBar.refresh(bar)
    return [bar.render_line(y) for y in range(HEIGHT)]


def looks(strips: list[Strip]) -> list[tuple[str, object, object]]:
    """What is seen of each cell: of a blank one only its ground."""
    cells = [(cell.text, cell.style or Style()) for strip in strips for cell in strip]
    assert len(cells) == HEIGHT
    seen: list[tuple[str, object, object]] = []
    for text, style in cells:
        fore, ground = (style.color, style.bgcolor)[:: -1 if style.reverse else 1]
        seen.append((text, fore if text.strip() else None, ground))
    return seen


async def test_a_bar_drawn_while_the_theme_changes_keeps_nothing_of_the_old_one() -> None:
    async with (app := BarStage()).run_test(size=(80, HEIGHT)) as pilot:
        app.bar.move(HEIGHT * 2, HEIGHT, 0)
        await pilot.pause()
        before = looks(app.bar.render_lines(Region(0, 0, 1, HEIGHT)))
        app.theme = "textual-light"
        app.bar.render_lines(Region(0, 0, 1, HEIGHT))  # the new styles are applied a moment later
        await pilot.pause()
        after = looks(app.bar.render_lines(Region(0, 0, 1, HEIGHT)))
        assert after == looks(from_textual(app.bar))
        assert not set(after) & set(before)


async def test_a_row_more_costs_a_few_cells() -> None:
    async with (app := BarStage()).run_test(size=(80, HEIGHT)) as pilot:
        await pilot.pause()
        app.bar.move(HEIGHT + 50, HEIGHT, 50)
        app.bar.asked.clear()
        for rows in range(51, 451):
            app.bar.move(HEIGHT + rows, HEIGHT, rows)
        drawn = sum(region.height for region in app.bar.asked)
    assert drawn < 2 * 400


async def test_the_timeline_has_such_a_bar_and_it_can_be_dragged() -> None:
    records = [AssistantMessage(f"answer {n}") for n in range(300)]
    async with (app := TimelineStage(records)).run_test(size=(80, HEIGHT)) as pilot:
        await pilot.pause()
        timeline = app.timeline
        bar = timeline.vertical_scrollbar
        assert bar.display
        assert bar.size == (1, HEIGHT)
        assert timeline.at_end
        await pilot.mouse_down(bar, offset=(0, HEIGHT - 2))
        await pilot.hover(bar, offset=(0, HEIGHT // 2))
        await pilot.pause()
        assert timeline.scroll_y == 570 - 13 * 600 / HEIGHT
        await pilot.mouse_up(bar)
        assert not timeline.at_end
