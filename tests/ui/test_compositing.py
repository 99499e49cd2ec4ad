"""A partial update shows what a whole one would, and asks no widget that is not seen in it."""

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

from agent_tui.runtime.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.dialogs.panel import Panel
from agent_tui.ui.widgets.compositing import SparingCompositor
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

    def compose(self) -> ComposeResult:
        yield from self.patches


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


async def test_it_is_drawn_as_by_the_compositor_of_textual() -> None:
    chosen = random.Random(1)
    changes = [{some_region(chosen) for _ in range(chosen.randint(1, 5))} for _ in range(200)]
    async with App[None]().run_test(size=(80, 24)) as pilot:
        seen = []
        for compositor in (Compositor(), SparingCompositor()):
            await pilot.app.push_screen(screen := Layers(compositor))
            await pilot.pause()
            seen.append([drawn(screen, regions) for regions in changes])
        assert seen[0] == seen[1]


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
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    app, lines, frames = AgentTui(Launch(tmp_path, demo=True)), [0], list[int]()
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
        monkeypatch.setattr(StylesCache, "render_line", count)
        monkeypatch.setattr(Compositor, "render_full_update", watch)
        await pilot.press(key)
        await until(pilot, lambda: bool(frames))
        assert lines[0] > 20
        assert frames[0] < 60, "besides the empty screen next to nothing is left for the frame"
        await app.chat_screen.end()
