"""An app in our themes: every variable of its stylesheets follows from the theme in force."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.css.tokenize import tokenize_value
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme

from agent_tui.runtime.machine.terminal import is_dark_terminal, wants_no_colour
from agent_tui.ui.themes.safe_lines import SafeLines
from agent_tui.ui.themes.theme import ANSI, THEMES, default_theme, tokens_of

if TYPE_CHECKING:
    from textual.css.tokenizer import Token

Result = TypeVar("Result")


@lru_cache(maxsize=1024)
def _tokens(value: str) -> tuple[Token, ...]:
    return tuple(tokenize_value(value, ("__name__", "")))


class _LateTokens(dict[str, Any]):
    """The tokens of each variable, made when they are first asked for."""

    def __getitem__(self, name: str) -> list[Token]:
        tokens: list[Token] | str = super().__getitem__(name)
        if isinstance(tokens, str):
            tokens = self[name] = list(_tokens(tokens))
        return tokens

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def copy(self) -> _LateTokens:
        return _LateTokens(self)


class ThemedStylesheet(Stylesheet):
    """Textual's, but it reads a variable only when a rule names it: most are never named."""

    _late: _LateTokens | None = None

    def set_variables(self, variables: dict[str, str]) -> None:
        super().set_variables(variables)
        self._late = None

    @property
    def _variable_tokens(self) -> dict[str, list[Token]]:
        if self._late is None:
            self._late = _LateTokens(self._variables)
        return self._late

    def copy(self) -> ThemedStylesheet:
        copied = ThemedStylesheet(variables=self._variables.copy())
        copied.source = self.source.copy()
        return copied


def _colourless() -> list[LineFilter]:
    from agent_tui.ui.themes.colourless import Colourless  # few need it, and none the first frame

    return [Colourless()]


class ThemedApp(App[Result]):
    """Registers the themes, and derives the tokens from the one in force.

    Attributes:
        follows_terminal: whether the theme is dark or light as the terminal is; not once chosen.
    """

    _has_themes = False

    @property
    def just_told(self) -> str:
        """What was said a moment ago, for a screen that opens over it; else nothing."""
        return ""

    def __init__(self) -> None:
        super().__init__()
        self.stylesheet = ThemedStylesheet()
        self.follows_terminal = True
        self.no_color = wants_no_colour()
        # Textual's own would make greys of the colours, which are colours too.
        theirs = [each for each in self._filters if not isinstance(each, Monochrome | NoColor)]
        self._filters[:] = [SafeLines(), *(_colourless() if self.no_color else theirs)]
        for theme in THEMES:
            self.register_theme(theme)
        self._has_themes = True
        self._start_with(self.usual_theme(dark=is_dark_terminal()))

    def usual_theme(self, *, dark: bool) -> Theme:
        """The theme where none was chosen.

        In sixteen colours those of another theme would nearly all be the same grey.
        """
        return default_theme(dark=dark, few_colours=self.console.color_system == "standard")

    def validate_theme(self, name: str) -> str:
        """Without colours there is one theme: its rows are told apart by weight and reverse."""
        return ANSI.name if self.no_color else name

    def _start_with(self, theme: Theme) -> None:
        """Set the first theme before anything is parsed; watchers would parse it all again."""
        theme = ANSI if self.no_color else theme
        self.set_reactive(App.theme, theme.name)
        self._refresh_truecolor_filter(self.ansi_theme)  # the terminal's own colours stay its own
        self.stylesheet.set_variables(self.get_css_variables())
        self.add_class(f"-theme-{theme.name}", "-dark-mode" if theme.dark else "-light-mode")

    def get_css_variables(self) -> dict[str, str]:
        if not self._has_themes:  # Textual asks too early: what it would get is thrown away
            return {}
        base = super().get_css_variables()
        self.theme_variables = base | self._own_tokens(base)
        return self.theme_variables

    def _own_tokens(self, base: dict[str, str]) -> dict[str, str]:
        theme, system = self.current_theme, self.console.color_system
        if theme.ansi or system not in ("256", "standard"):
            return tokens_of(theme, base)
        from agent_tui.ui.themes.few_colours import few_colour_tokens  # few need it

        return few_colour_tokens(theme, base, in_sixteen=system == "standard")
