"""The colours of every screen: themes, and the tokens that are derived from whichever is in force.

A token is a CSS variable of our own (``$user``, ``$checkpoint``, ``$fate-kept`` ...). All of them
follow from a theme's ground, text, two accents and three signals, so that a change of theme leaves
no colour behind; each is made as light or dark as it must be to be read where it stands.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.color import Color
from textual.theme import Theme

from agent_tui.ui.themes.contrast import MARK, TEXT, readable
from agent_tui.ui.themes.textual_variables import textual_variables

DARK = Theme(
    name="agent-dark",
    dark=True,
    primary="#86b3f5",
    secondary="#c9b3f5",
    warning="#e3b565",
    error="#ee7f84",
    success="#7fc58f",
    accent="#86b3f5",
    foreground="#d9dce3",
    background="#14161b",
    surface="#1a1d23",
    panel="#22262e",
)

LIGHT = Theme(
    name="agent-light",
    dark=False,
    primary="#1f5cb3",
    secondary="#6a45b0",
    warning="#8a5a08",
    error="#b22a3a",
    success="#23743f",
    accent="#1f5cb3",
    foreground="#24272d",
    background="#fbfaf7",
    surface="#f5f3ed",
    panel="#ebe8df",
)

CONTRAST = Theme(
    name="high-contrast",
    dark=True,
    primary="#7cc7ff",
    secondary="#ffd166",
    warning="#ffd166",
    error="#ff8a8a",
    success="#7ff29b",
    accent="#7cc7ff",
    foreground="#ffffff",
    background="#000000",
    surface="#0a0a0a",
    panel="#161616",
)

ANSI = Theme(
    name="agent-16",
    dark=True,
    ansi=True,
    primary="ansi_bright_cyan",
    secondary="ansi_bright_magenta",
    accent="ansi_bright_cyan",
    warning="ansi_bright_yellow",
    error="ansi_bright_red",
    success="ansi_bright_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
)

ANSI_LIGHT = Theme(
    name="agent-16-light",
    dark=False,
    ansi=True,
    primary="ansi_blue",
    secondary="ansi_magenta",
    accent="ansi_blue",
    warning="ansi_magenta",
    error="ansi_red",
    success="ansi_default",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
)

THEMES = (DARK, LIGHT, CONTRAST, ANSI, ANSI_LIGHT)
"""The themes to register in the app's ``__init__``, the default first."""

OFFERED = (
    *("agent-dark", "agent-light", "high-contrast"),
    *("catppuccin-mocha", "catppuccin-latte", "dracula", "gruvbox", "monokai", "nord"),
    *("rose-pine", "rose-pine-dawn", "solarized-dark", "solarized-light", "tokyo-night"),
    *("agent-16", "agent-16-light"),
)
"""The themes to choose from, by name; the others that Textual ships work as well."""


def default_theme(*, dark: bool = True, few_colours: bool = False) -> Theme:
    """The theme of those who chose none, for a dark or a light terminal, of sixteen colours too."""
    if few_colours:
        return ANSI if dark else ANSI_LIGHT
    return DARK if dark else LIGHT


def tokens_of(theme: Theme, base: Mapping[str, str]) -> dict[str, str]:
    """Every token, and Textual's own variables drawn from them.

    Args:
        theme: the theme in force.
        base: what Textual makes of it: ``theme.to_color_system().generate()``.
    """
    if theme.ansi:
        from agent_tui.ui.themes.sixteen import sixteen_tokens  # few need it

        return sixteen_tokens(dark=theme.dark)
    return _tokens(theme, base)


class _Ink:
    """The colours that a theme gives, each as it can be read on the surfaces made of them."""

    def __init__(self, theme: Theme, base: Mapping[str, str]) -> None:
        def given(name: str) -> Color:
            return Color.parse(base[name])

        self.ground = given("background")
        text = Color(*given("foreground").rgb)
        self.text = readable(text, [self.ground], 7.0 if theme.dark else TEXT)
        self.accent, self.second = given("primary"), given("secondary")
        self.ok, self.attention, self.danger = given("success"), given("warning"), given("error")
        self.surfaces = self._surfaces()
        # Never below these, whatever is the ground: rows, popups, code.
        self.common = [self.ground, *self._named("popup", "code-surface", "user-surface")]
        self.diffs = self._named("diff-added-surface", "diff-removed-surface")
        self.rows = [*self.common, *self._named("hover", "cursor", "selected")]
        self.every = [
            *self.rows,
            *self._named(*(name for name in self.surfaces if name.endswith("-surface"))),
        ]

    def lifted(self, share: float) -> Color:
        """The ground, moved towards the text."""
        return self.ground.blend(self.text, share)

    def _surfaces(self) -> dict[str, Color]:
        ground, lifted = self.ground, self.lifted
        return {
            "hover": lifted(0.05),
            "popup": lifted(0.045),
            "code-surface": lifted(0.035),
            "cursor": ground.blend(self.accent, 0.2),
            "selected": lifted(0.045).blend(self.accent, 0.25),
            "selection": ground.blend(self.accent, 0.32),
            "user-surface": ground.blend(self.accent, 0.07),
            "danger-surface": ground.blend(self.danger, 0.12),
            "diff-added-surface": ground.blend(self.ok, 0.13),
            "diff-removed-surface": ground.blend(self.danger, 0.13),
        }

    def _named(self, *names: str) -> list[Color]:
        return [self.surfaces[name] for name in names]


def _tokens(theme: Theme, base: Mapping[str, str]) -> dict[str, str]:
    ink = _Ink(theme, base)
    tokens = {name: colour.hex for name, colour in ink.surfaces.items()}
    tokens |= _frame_tokens(ink) | _row_tokens(ink) | _gauge_tokens(ink) | _code_tokens(ink)
    return tokens | textual_variables(tokens)


def _on(colour: Color, grounds: list[Color], ratio: float = TEXT) -> str:
    return readable(colour, grounds, ratio).hex


def _frame_tokens(ink: _Ink) -> dict[str, str]:
    """Grounds, lines, and text that may stand anywhere."""
    return {
        "foreground": _on(ink.text, [*ink.every, ink.surfaces["selection"]]),
        "background": ink.ground.hex,
        "surface": ink.surfaces["popup"].hex,
        "panel": ink.lifted(0.08).hex,
        "line": ink.lifted(0.16).hex,
        "edge": ink.lifted(0.32).hex,
        "muted": _on(ink.lifted(0.72), ink.every),
        "faint": _on(ink.lifted(0.6), ink.every),
    }


def _row_tokens(ink: _Ink) -> dict[str, str]:
    """What the rows of the conversation and of lists say."""
    added, removed = ink.surfaces["diff-added-surface"], ink.surfaces["diff-removed-surface"]
    return {
        "ok": _on(ink.ok, ink.rows),
        "attention": _on(ink.attention, ink.rows),
        "danger": _on(ink.danger, ink.rows),
        "user": _on(ink.accent, ink.rows),
        "assistant": _on(ink.second, ink.rows),
        "thinking": _on(ink.lifted(0.6), ink.every),
        "tool": _on(ink.second, ink.rows),
        "checkpoint": _on(ink.lifted(0.72), ink.every),
        "compaction": _on(ink.second, ink.rows),
        "diff-added": _on(ink.ok, [ink.ground, added]),
        "diff-removed": _on(ink.danger, [ink.ground, removed]),
        "fate-kept": _on(ink.ok, ink.rows),
        "fate-summarised": _on(ink.second, ink.rows),
        "fate-dropped": _on(ink.lifted(0.6), ink.every),
    }


def _gauge_tokens(ink: _Ink) -> dict[str, str]:
    """How full the context is, and what fills it."""
    tokens = {
        "gauge-low": _on(ink.lifted(0.72), ink.common),
        "gauge-middle": _on(ink.attention, ink.common),
        "gauge-high": _on(ink.danger, ink.common),
        "gauge-track": ink.lifted(0.13).hex,
        "gauge-trigger": _on(ink.text, [ink.lifted(0.13)], MARK),
    }
    shares = [(ink.accent, 1.0), (ink.accent, 0.72), (ink.accent, 0.5), (ink.text, 0.7)]
    for number, (colour, share) in enumerate([*shares, (ink.text, 0.5)], 1):
        tokens[f"share-{number}"] = _on(ink.ground.blend(colour, share), [ink.ground], MARK)
    return tokens


def _code_tokens(ink: _Ink) -> dict[str, str]:
    grounds = [*ink.common, *ink.diffs]
    return {
        "code-keyword": _on(ink.second, grounds),
        "code-name": _on(ink.accent, grounds),
        "code-string": _on(ink.ok, grounds),
        "code-number": _on(ink.attention, grounds),
        "code-comment": _on(ink.lifted(0.6), ink.every),
        "code-operator": _on(ink.lifted(0.72), grounds),
    }
