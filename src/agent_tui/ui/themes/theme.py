"""The colours of every screen: themes, and the tokens that are derived from whichever is in force.

A token is a CSS variable of our own (``$user``, ``$checkpoint``, ``$fate-kept`` ...). All of them
follow from a theme's ground, text, two accents and three signals, so that a change of theme leaves
no colour behind; each is made as light or dark as it must be to be read where it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


class Terminal:
    """What a terminal makes of colours: this one shows each as it is."""

    def shown(self, colour: Color) -> Color:
        """The colour that is shown for one; each token is such a colour."""
        return colour

    def ground(self, colour: Color) -> Color:
        """What is shown for one that things stand on."""
        return self.shown(colour)

    def readable(self, colour: Color, grounds: Sequence[Color], ratio: float = TEXT) -> Color:
        """The nearest of its colours that can be read on these grounds."""
        return readable(colour, grounds, ratio, self.shown)


_EVERY_COLOUR = Terminal()


def tokens_of(
    theme: Theme, base: Mapping[str, str], terminal: Terminal = _EVERY_COLOUR
) -> dict[str, str]:
    """Every token, and Textual's own variables drawn from them.

    Args:
        theme: the theme in force.
        base: what Textual makes of it: ``theme.to_color_system().generate()``.
        terminal: what shows the colours.
    """
    if theme.ansi:
        from agent_tui.ui.themes.sixteen import sixteen_tokens  # few need it

        return sixteen_tokens(dark=theme.dark)
    return _tokens(theme, base, terminal)


class _Ink:
    """The colours that a theme gives, each as it can be read on the surfaces made of them."""

    def __init__(self, theme: Theme, base: Mapping[str, str], terminal: Terminal) -> None:
        def given(name: str) -> Color:
            return Color.parse(base[name])

        self._terminal = terminal
        self._given = given("background")
        self.ground = terminal.shown(self._given)
        text = Color(*given("foreground").rgb)
        self.text = terminal.readable(text, [self.ground], 7.0 if theme.dark else TEXT)
        self.accent, self.second = given("primary"), given("secondary")
        self.ok, self.attention, self.danger = given("success"), given("warning"), given("error")
        self.surfaces = {name: terminal.ground(colour) for name, colour in self._surfaces().items()}
        self.surfaces |= self._told_apart()
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
        return self._terminal.shown(self._given.blend(self.text, share))

    def raised(self, share: float) -> Color:
        """The same, further where it would be shown as the ground is."""
        shares = (share * step for step in range(1, round(1 / share)))
        return next((each for each in map(self.lifted, shares) if each != self.ground), self.text)

    def _surfaces(self) -> dict[str, Color]:
        ground, lifted, raised = self._given, self.lifted, self.raised
        return {
            "hover": raised(0.05),
            "popup": raised(0.045),
            "code-surface": raised(0.035),
            "cursor": ground.blend(self.accent, 0.2),
            "selected": lifted(0.045).blend(self.accent, 0.25),
            "selection": ground.blend(self.accent, 0.32),
            "user-surface": ground.blend(self.accent, 0.07),
            "danger-surface": ground.blend(self.danger, 0.12),
            "diff-added-surface": ground.blend(self.ok, 0.13),
            "diff-removed-surface": ground.blend(self.danger, 0.13),
        }

    def _told_apart(self) -> dict[str, Color]:
        """The grounds of what came and of what left: the ground itself, unless each has a hue."""
        names = ("diff-added-surface", "diff-removed-surface")
        added, removed = self._named(*names)
        is_told = added != removed and all(len(set(each.rgb)) > 1 for each in (added, removed))
        return {} if is_told else dict.fromkeys(names, self.ground)

    def _named(self, *names: str) -> list[Color]:
        return [self.surfaces[name] for name in names]

    def on(self, colour: Color, grounds: list[Color], ratio: float = TEXT) -> str:
        """The colour as it can be read on these grounds."""
        return self._terminal.readable(colour, grounds, ratio).hex


def _tokens(theme: Theme, base: Mapping[str, str], terminal: Terminal) -> dict[str, str]:
    ink = _Ink(theme, base, terminal)
    tokens = {name: colour.hex for name, colour in ink.surfaces.items()}
    tokens |= _frame_tokens(ink) | _row_tokens(ink) | _gauge_tokens(ink) | _code_tokens(ink)
    return tokens | textual_variables(tokens)


def _frame_tokens(ink: _Ink) -> dict[str, str]:
    """Grounds, lines, and text that may stand anywhere."""
    return {
        "foreground": ink.on(ink.text, [*ink.every, ink.surfaces["selection"]]),
        "background": ink.ground.hex,
        "surface": ink.surfaces["popup"].hex,
        "panel": ink.lifted(0.08).hex,
        "line": ink.lifted(0.16).hex,
        "edge": ink.lifted(0.32).hex,
        "muted": ink.on(ink.lifted(0.72), ink.every),
        "faint": ink.on(ink.lifted(0.6), ink.every),
    }


def _row_tokens(ink: _Ink) -> dict[str, str]:
    """What the rows of the conversation and of lists say."""
    added, removed = ink.surfaces["diff-added-surface"], ink.surfaces["diff-removed-surface"]
    return {
        "ok": ink.on(ink.ok, ink.rows),
        "attention": ink.on(ink.attention, ink.rows),
        "danger": ink.on(ink.danger, ink.rows),
        "user": ink.on(ink.accent, ink.rows),
        "assistant": ink.on(ink.second, ink.rows),
        "thinking": ink.on(ink.lifted(0.6), ink.every),
        "tool": ink.on(ink.second, ink.rows),
        "checkpoint": ink.on(ink.lifted(0.72), ink.every),
        "compaction": ink.on(ink.second, ink.rows),
        "diff-added": ink.on(ink.ok, [ink.ground, added]),
        "diff-removed": ink.on(ink.danger, [ink.ground, removed]),
        "fate-kept": ink.on(ink.ok, ink.rows),
        "fate-summarised": ink.on(ink.second, ink.rows),
        "fate-dropped": ink.on(ink.lifted(0.6), ink.every),
    }


def _gauge_tokens(ink: _Ink) -> dict[str, str]:
    """How full the context is, and what fills it."""
    tokens = {
        "gauge-low": ink.on(ink.lifted(0.72), ink.common),
        "gauge-middle": ink.on(ink.attention, ink.common),
        "gauge-high": ink.on(ink.danger, ink.common),
        "gauge-track": ink.lifted(0.13).hex,
        "gauge-trigger": ink.on(ink.text, [ink.lifted(0.13)], MARK),
    }
    shares = [(ink.accent, 1.0), (ink.accent, 0.72), (ink.accent, 0.5), (ink.text, 0.7)]
    for number, (colour, share) in enumerate([*shares, (ink.text, 0.5)], 1):
        tokens[f"share-{number}"] = ink.on(ink.ground.blend(colour, share), [ink.ground], MARK)
    return tokens


def _code_tokens(ink: _Ink) -> dict[str, str]:
    grounds = [*ink.common, *ink.diffs]
    return {
        "code-keyword": ink.on(ink.second, grounds),
        "code-name": ink.on(ink.accent, grounds),
        "code-string": ink.on(ink.ok, grounds),
        "code-number": ink.on(ink.attention, grounds),
        "code-comment": ink.on(ink.lifted(0.6), ink.every),
        "code-operator": ink.on(ink.lifted(0.72), grounds),
    }
