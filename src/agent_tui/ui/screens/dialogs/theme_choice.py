"""Choosing a theme: what the cursor is on is seen at once, Esc brings back what was there."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import App

from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.widgets.lists.rows import Rows

_NOTES = {
    "agent-16": "the terminal's own sixteen colours, on black",
    "agent-16-light": "the terminal's own sixteen colours, on white",
    "high-contrast": "black and white, strong accents",
}


class ThemeScreen(ChoiceScreen):
    """Is dismissed with the name of a theme, which is in force already, or None on Esc."""

    def __init__(self, names: Sequence[str], app: App[object]) -> None:
        themes = app.available_themes
        choices = [
            Choice(name, name, _NOTES.get(name, "dark" if themes[name].dark else "light"))
            for name in names
            if name in themes
        ]
        self._before = app.theme
        super().__init__("Theme", choices, self._before)

    @on(Rows.Highlighted)
    def _preview(self, event: Rows.Highlighted) -> None:
        name = self._choices[event.index].value
        if self.app.theme != name:
            self.app.theme = name

    def action_leave(self) -> None:
        self.app.theme = self._before
        self.dismiss(None)
