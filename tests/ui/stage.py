"""A bare app with our themes and stylesheets, on which a single widget or screen is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from agent_tui.providers.demo import scripted
from agent_tui.resources import stylesheet
from agent_tui.ui.themes.theme import DARK
from agent_tui.ui.themes.themed import ThemedApp

WIDGETS = ("rows", "completion", "prompt_box", "gauge", "status_line")


def shown(app: App[Any]) -> str:
    """What stands on the screen, as text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the demo speak ten times as fast: a turn still takes a while."""
    scenario = scripted.load_scenario()
    quick = replace(
        scenario,
        chunks_per_second=10 * scenario.chunks_per_second,
        pause_seconds=scenario.pause_seconds / 10,
    )
    monkeypatch.setattr(scripted, "load_scenario", lambda _path=None: quick)


class Note:
    """A prompt behind a question that keeps what is typed, and what of it was sent."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.sent: list[str] = []

    def paste(self, text: str) -> None:
        self.text += text

    def erase(self) -> None:
        self.text = self.text[:-1]

    def send(self) -> bool:
        self.sent.append(self.text)
        self.text = ""
        return True


class Stage(ThemedApp[None]):
    """Shows the given widgets, or pushes the given screen and keeps what it is dismissed with."""

    CSS_PATH = [
        stylesheet("base.tcss"),
        *(stylesheet(f"widgets/{name}.tcss") for name in WIDGETS),
    ]

    def __init__(
        self,
        widgets: Iterable[Widget] = (),
        screen: Screen[Any] | None = None,
        make_screen: Callable[[App[None]], Screen[Any]] | None = None,
        theme: str = DARK.name,
    ) -> None:
        super().__init__()
        self.theme = theme
        self._widgets = list(widgets)
        self._shown = make_screen(self) if make_screen else screen
        self.results: list[Any] = []

    def compose(self) -> ComposeResult:
        yield from self._widgets

    def on_mount(self) -> None:
        if self._shown is not None:
            self.push_screen(self._shown, self.results.append)

    @property
    def text(self) -> str:
        """Everything on the screen, line by line."""
        strips = self.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)
