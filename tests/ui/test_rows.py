"""The virtual list: only rows in view are drawn, and the cursor is always in view."""

from __future__ import annotations

from textual.content import Content

from agent_tui.ui.widgets.lists.rows import Rows
from tests.ui.stage import Stage


class Host(Stage):
    def __init__(self, count: int) -> None:
        self.drawn: set[int] = set()
        self.chosen: list[int] = []
        self.rows = Rows(self.draw_row, count=count, empty=Content("Nothing here"))
        super().__init__([self.rows])

    def draw_row(self, index: int, width: int) -> Content:
        self.drawn.add(index)
        return Content(f"row {index} [red]not markup[/red] {'x' * 300}")

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        self.chosen.append(event.index)

    def lines(self) -> list[str]:
        return [self.rows.render_line(y).text for y in range(self.rows.size.height)]


async def test_only_rows_in_view_are_drawn() -> None:
    async with (app := Host(1_000_000)).run_test(size=(40, 12)) as pilot:
        app.rows.focus()
        await pilot.press("end")
        await pilot.pause()
        assert len(app.drawn) <= 24
        assert "row 999999" in app.lines()[-1]


async def test_rows_are_cut_to_the_width_and_never_read_as_markup() -> None:
    async with (app := Host(3)).run_test(size=(40, 12)) as _:
        line = app.lines()[1]
        assert len(line) == app.rows.scrollable_content_region.width
        assert "[red]not markup[/red]" in line


async def test_keys_move_the_cursor_and_keep_it_in_view() -> None:
    async with (app := Host(100)).run_test(size=(40, 10)) as pilot:
        app.rows.focus()
        await pilot.press("pagedown", "pagedown", "down", "up", "up")
        top = round(app.rows.scroll_y)
        assert top <= app.rows.cursor < top + 10
        await pilot.press("home", "up")
        assert app.rows.cursor == 0


async def test_enter_chooses_and_a_second_click_too() -> None:
    async with (app := Host(20)).run_test(size=(40, 10)) as pilot:
        app.rows.focus()
        await pilot.press("down", "enter")
        await pilot.click(Rows, offset=(3, 5))
        await pilot.pause()
        assert (app.chosen, app.rows.cursor) == ([1], 5)
        await pilot.click(Rows, offset=(3, 5))
        await pilot.pause()
        assert app.chosen == [1, 5]


async def test_fewer_rows_pull_the_cursor_back() -> None:
    async with (app := Host(50)).run_test(size=(40, 10)) as pilot:
        app.rows.focus()
        await pilot.press("end")
        app.rows.show_rows(3)
        await pilot.pause()
        assert app.rows.cursor == 2
        assert "row 2" in app.lines()[2]


async def test_an_empty_list_says_so() -> None:
    async with (app := Host(0)).run_test(size=(40, 10)) as pilot:
        app.rows.focus()
        await pilot.press("down", "enter", "end")
        assert "Nothing here" in app.lines()[0]
        assert app.chosen == []


async def test_the_cursor_can_be_seen_in_sixteen_colours() -> None:
    app = Host(5)
    app.theme = "agent-16"
    async with app.run_test(size=(40, 10)) as pilot:
        app.rows.focus()
        await pilot.pause()
        assert all(segment.style and segment.style.reverse for segment in app.rows.render_line(0))
        assert not any(
            segment.style and segment.style.reverse for segment in app.rows.render_line(1)
        )
