"""An update shows what Textual's would, and asks no widget that is not seen in it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from agent_tui.core.records import AssistantMessage
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.dialogs.panel import Panel
from agent_tui.ui.widgets.compositing import SparingCompositor, SparingScreen
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.ui.timeline_stage import TimelineStage
from tests.waiting import until


class Patch(Widget):
    """Fills its place with one letter, and counts how often it was asked for it."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self.letter = letter
        self.asked = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        self.asked += 1
        return [
            Strip([Segment(self.letter * crop.width)], crop.width)
            for _ in range(crop.y, crop.bottom)
        ]


class Layers(Screen[None]):
    """Three patches below each other; a fourth lies over two of them, a fifth out of sight."""

    CSS = """
    Layers { layers: below above; }
    Patch { height: 6; }
    #over { layer: above; width: 20; height: 5; offset: 7 4; }
    #away { layer: above; width: 20; height: 5; offset: 70 22; }
    """

    def __init__(self, compositor: Compositor) -> None:
        super().__init__()
        self._compositor = compositor
        self.patches = [Patch(letter) for letter in "abcde"]
        self.patches[3].id, self.patches[4].id = "over", "away"
        self.asked = 0

    def compose(self) -> ComposeResult:
        yield from self.patches

    def render_lines(self, crop: Region) -> list[Strip]:
        self.asked += 1
        return super().render_lines(crop)


def drawn(screen: Layers, regions: set[Region]) -> str:
    """What a terminal would be sent for these regions."""
    screen._compositor._dirty_regions = set(regions)
    update = screen._compositor.render_update(screen_stack=[])
    assert isinstance(update, ChopsUpdate)
    return update.render_segments(screen.app.console)


async def test_only_what_is_seen_is_asked_for_its_lines() -> None:
    screen = Layers(SparingCompositor())
    async with App[None]().run_test(size=(80, 24)) as pilot:
        await pilot.app.push_screen(screen)
        before = [patch.asked for patch in screen.patches]
        drawn(screen, {Region(0, 0, 10, 1), Region(0, 17, 3, 1), Region(9, 5, 4, 2)})
        asked = [patch.asked - old for patch, old in zip(screen.patches, before, strict=True)]
        assert asked == [1, 0, 1, 1, 0]


@pytest.mark.parametrize(("height", "asked"), [(18, 0), (19, 1)])
async def test_a_screen_is_asked_only_where_it_is_not_wholly_covered(
    height: int, asked: int
) -> None:
    screen = Layers(SparingCompositor())
    async with App[None]().run_test(size=(80, height)) as pilot:
        await pilot.app.push_screen(screen)
        await pilot.pause()
        screen.asked = 0
        screen._compositor.render_full_update()
        assert screen.asked == asked


async def test_it_is_drawn_as_by_the_compositor_of_textual() -> None:
    chosen = random.Random(1)
    changes = [{some_region(chosen) for _ in range(chosen.randint(1, 5))} for _ in range(200)]
    async with App[None]().run_test(size=(80, 24)) as pilot:
        seen = []
        for compositor in (Compositor(), SparingCompositor()):
            await pilot.app.push_screen(screen := Layers(compositor))
            await pilot.pause()
            whole = [strip.text for strip in compositor.render_strips()]
            seen.append([*whole, *(drawn(screen, regions) for regions in changes)])
        assert seen[0] == seen[1]


class Narrow(Patch):
    """Draws less than its place: its lines are those of a narrower and lower one."""

    def render_lines(self, crop: Region) -> list[Strip]:
        return [strip.crop(0, 40) for strip in super().render_lines(crop)[:2]]


async def test_what_a_widget_did_not_draw_shows_what_lies_behind_it() -> None:
    screen = Layers(SparingCompositor())
    screen.patches = [Narrow("n")]
    async with App[None]().run_test(size=(80, 6)) as pilot:
        await pilot.app.push_screen(screen)
        await pilot.pause()
        update = screen._compositor.render_full_update()
        lines = update.render_segments(pilot.app.console).split("\n")
        assert len(lines) == 6
        assert screen.asked


class Conversation(SparingScreen[None]):
    """A timeline on a screen of ours."""

    def compose(self) -> ComposeResult:
        yield Timeline()


@pytest.mark.parametrize("whole", [True, False])
async def test_a_frame_while_a_widget_is_removed_shows_what_lies_behind_it(whole: bool) -> None:
    async with TimelineStage([]).run_test(size=(80, 24)) as pilot:
        screen = Conversation()
        await pilot.app.push_screen(screen)
        timeline = screen.query_one(Timeline)
        timeline.load([AssistantMessage("a row\n\n" * 200)])
        await until(pilot, lambda: timeline.vertical_scrollbar in screen._compositor.full_map)
        compositor = screen._compositor
        compositor._visible_widgets = dict(compositor.visible_widgets)
        with pilot.app.batch_update():  # the layout that leaves its place to others comes later
            await timeline.remove()
            assert timeline in compositor.visible_widgets
            compositor._dirty_regions.add(screen.region if whole else Region(0, 3, 80, 2))
            update = compositor.render_update()
            assert isinstance(update, LayoutUpdate | ChopsUpdate)
            assert "row" not in update.render_segments(pilot.app.console)


def some_region(chosen: random.Random) -> Region:
    """A piece of the screen, often a low one."""
    x, y = chosen.randrange(80), chosen.randrange(24)
    height = chosen.choice([1, 1, 2, 24])
    return Region(x, y, chosen.randint(1, 80 - x), min(height, 24 - y))


@pytest.mark.slow
@pytest.mark.parametrize("key", ["f1", "f2", "f3"])
async def test_what_a_screen_shows_first_is_drawn_bit_by_bit_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """On a busy machine the rows of a list may come just then, and are drawn with the frame."""
    left: list[int] = []
    while not left or (left[-1] >= 60 and len(left) < 6):
        monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / f"home{len(left)}"))
        with monkeypatch.context() as patched:
            left.append(await lines_left_for_the_frame(tmp_path, patched, key))
    assert left[-1] < 60, "besides the empty screen next to nothing is left for the frame"


async def lines_left_for_the_frame(folder: Path, patched: pytest.MonkeyPatch, key: str) -> int:
    """How many lines the first frame of a screen draws, in an app of its own."""
    app, lines, frames = AgentTui(Launch(folder, demo=True)), [0], list[int]()
    draw, paint = StylesCache.render_line, Compositor.render_full_update

    def count(self: StylesCache, *args: Any) -> Strip:
        lines[0] += 1
        return draw(self, *args)

    def watch(self: Compositor, *, simplify: bool = False) -> LayoutUpdate:
        before = lines[0]
        try:
            return paint(self, simplify=simplify)
        finally:
            if isinstance(self.root, Panel):
                frames.append(lines[0] - before)

    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        await until(pilot, lambda: app.chat.panes.side is not None)
        patched.setattr(StylesCache, "render_line", count)
        patched.setattr(Compositor, "render_full_update", watch)
        await pilot.press(key)
        await until(pilot, lambda: bool(frames))
        assert lines[0] > 20
        await app.chat_screen.end()
    return frames[0]


def styles_of(screen: Screen[Any]) -> dict[Widget, Any]:
    """How everything on a screen is styled, with its parts."""
    return {
        widget: (
            dict(widget.styles.base.get_rules()),
            {name: dict(part.get_rules()) for name, part in widget._component_styles.items()},
        )
        for widget in screen.walk_children(Widget, with_self=True)
    }


class FirstFrame(AgentTui):
    """Compares the styles of its first frame with what they would be if all were styled anew."""

    shown: dict[Widget, Any] | None = None

    def on_ready(self) -> None:
        if self.shown is None:
            self.shown = styles_of(self.screen)
            self.screen.update_node_styles(animate=False)
            self.anew = styles_of(self.screen)


async def test_the_first_frame_need_not_be_styled_anew(tmp_path: Path) -> None:
    app = FirstFrame(Launch(tmp_path, demo=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.shown is not None)
        assert app.shown is not None
        assert len(app.shown) > 8
        assert app.anew == app.shown
