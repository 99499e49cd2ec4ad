"""Pictures of the conversation are named at once and drawn where there are colours."""

from __future__ import annotations

import gc
import warnings

import pytest
from textual.pilot import Pilot

from agent_tui.core.messages import MediaPart, TextPart
from agent_tui.core.records import UserMessage
from agent_tui.ui.screens.dialogs.picture import PictureScreen, PictureView
from tests.runtime.test_runtime_pictures import drawn, red_over_blue
from tests.ui.timeline_stage import TimelineStage
from tests.waiting import settle, until

PICTURE = MediaPart("image_url", drawn(red_over_blue(40, 20)))
SHOWN = UserMessage((TextPart("<system>Attached: a.png</system>"), PICTURE), origin="reminder")


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")


async def settled(pilot: Pilot[None]) -> None:
    """Wait until what a thread draws is there."""
    app = pilot.app
    assert isinstance(app, TimelineStage)
    await until(pilot, lambda: "▀" in app.text)


async def test_a_picture_is_drawn_below_its_name() -> None:
    app = TimelineStage([SHOWN, UserMessage("What is it?", "human")])
    async with app.run_test(size=(80, 24)) as pilot:
        assert "▣ picture, PNG" in app.text
        await settled(pilot)
        lines = app.lines
        name = next(n for n, line in enumerate(lines) if "▣" in line)
        assert [line.count("▀") for line in lines[name + 1 : name + 11]] == [40] * 10
        assert any("What is it?" in line for line in lines[name + 11 :])
        colours = {
            (segment.style.color.triplet, segment.style.bgcolor.triplet)
            for strip in app.timeline._painted
            for segment in strip
            if "▀" in segment.text and segment.style and segment.style.color
            if segment.style.bgcolor
        }
        assert colours == {((255, 0, 0),) * 2, ((0, 0, 255),) * 2}


@pytest.mark.parametrize("lacking", ["NO_COLOR", "TERM", "theme"])
async def test_without_colours_it_is_only_named(
    monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    if lacking == "NO_COLOR":
        monkeypatch.setenv("NO_COLOR", "1")
    if lacking == "TERM":
        monkeypatch.delenv("COLORTERM")
        monkeypatch.setenv("TERM", "linux")
    app = TimelineStage([SHOWN], theme="agent-16" if lacking == "theme" else "agent-dark")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        assert "▣ picture, PNG" in app.text
        assert "▀" not in app.text


async def test_a_picture_that_cannot_be_read_stays_named() -> None:
    broken = MediaPart("image_url", "data:image/png;base64,AAAA")
    app = TimelineStage([UserMessage((TextPart("Look"), broken))])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: not app.timeline._blocks.has_rough)
        await pilot.pause()
        assert "▣ picture, PNG, 3 B" in app.text
        assert "▀" not in app.text


async def test_the_viewer_fills_the_screen_and_goes_on_to_the_next() -> None:
    app = TimelineStage()
    wide = drawn(red_over_blue(400, 40))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(PictureScreen([wide, PICTURE.url]))
        await until(pilot, lambda: any("▀" * 78 in line for line in app.lines))
        assert "PNG, 400 by 40 pixels" in app.text
        assert "1 of 2" in app.text
        await pilot.press("right")
        await until(pilot, lambda: "40 by 20 pixels" in app.text)
        await until(pilot, lambda: any(line.count("▀") == 40 for line in app.lines))
        rows = [(y, line) for y, line in enumerate(app.lines) if "▀" in line]
        top, bottom = rows[0][0] - 2, 23 - rows[-1][0]
        assert rows[0][1].index("▀") == 20
        assert abs(top - bottom) <= 2  # the heading and the keys take a row each
        await pilot.press("escape")
        assert not isinstance(app.screen, PictureScreen)


async def test_beside_and_below_a_picture_is_the_ground_of_the_theme() -> None:
    app = TimelineStage()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(PictureScreen([drawn(red_over_blue(20, 400))]))
        view = app.screen.query_one(PictureView)
        await until(pilot, lambda: bool(view._strips))
        for row in (0, view.size.height - 1):
            last = list(view.render_line(row))[-1]
            assert last.style is not None
            assert last.style.bgcolor == view.rich_style.bgcolor
        assert view.render_line(0).cell_length == view.size.width


async def test_a_drawing_that_another_replaces_before_it_began_is_no_error() -> None:
    app = TimelineStage()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(PictureScreen([drawn(red_over_blue(20, 400))]))
        view = app.screen.query_one(PictureView)
        await until(pilot, lambda: bool(view._strips))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            view.draw_soon()
            view.draw_soon()
            await settle(pilot)
            gc.collect()
        assert [str(each.message) for each in told] == []


async def test_another_theme_leaves_no_ground_of_the_one_before_beside_a_picture() -> None:
    app = TimelineStage()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(PictureScreen([drawn(red_over_blue(20, 400))]))
        view = app.screen.query_one(PictureView)
        await until(pilot, lambda: bool(view._strips))
        before = view.rich_style.bgcolor
        app.theme = "agent-light"
        await until(pilot, lambda: view.rich_style.bgcolor != before)

        def grounds() -> set[object]:
            cells = (next(iter(view.render_line(y))) for y in range(view.size.height))
            return {cell.style.bgcolor for cell in cells if cell.style is not None}

        await until(pilot, lambda: grounds() == {view.rich_style.bgcolor})


async def test_what_keeps_a_picture_from_being_shown_stands_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = TimelineStage()
    async with app.run_test(size=(60, 24)) as pilot:
        await app.push_screen(PictureScreen([PICTURE.url, "data:image/png;base64,AAAA"]))
        view = app.screen.query_one(PictureView)

        def said() -> str:
            return " ".join(view.render_line(y).text.strip() for y in range(view.size.height))

        await until(pilot, lambda: "too few colours" in said() and "NO_COLOR" in said())
        await pilot.resize_terminal(40, 24)
        await until(pilot, lambda: view.size.width < 40 and "NO_COLOR" in said())
        await pilot.press("right")
        await until(pilot, lambda: "damaged" in said())
