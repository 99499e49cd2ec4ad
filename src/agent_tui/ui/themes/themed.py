"""An app in our themes: every variable of its stylesheets follows from the theme in force."""

from __future__ import annotations

from typing import TypeVar

from textual.app import App
from textual.theme import Theme

from agent_tui.ui.themes.safe_lines import SafeLines
from agent_tui.ui.themes.theme import THEMES, tokens_of

Result = TypeVar("Result")


class ThemedApp(App[Result]):
    """Registers the themes, and derives the tokens from the one in force.

    Attributes:
        follows_terminal: whether the theme is dark or light as the terminal is; not once chosen.
    """

    @property
    def just_told(self) -> str:
        """What was said a moment ago, for a screen that opens over it; else nothing."""
        return ""

    def __init__(self) -> None:
        super().__init__()
        self.follows_terminal = True
        self._filters.insert(0, SafeLines())
        for theme in THEMES:
            self.register_theme(theme)

    def start_with(self, theme: Theme) -> None:
        """Set the first theme before anything is parsed; watchers would parse it all again."""
        self.set_reactive(App.theme, theme.name)
        self.stylesheet.set_variables(self.get_css_variables())
        self.add_class(f"-theme-{theme.name}", "-dark-mode" if theme.dark else "-light-mode")

    def get_css_variables(self) -> dict[str, str]:
        base = super().get_css_variables()
        self.theme_variables = base | tokens_of(self.current_theme, base)
        return self.theme_variables
