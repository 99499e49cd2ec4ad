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
from agent_tui.ui.themes.sixteen import sixteen_tokens
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


def default_theme(*, dark: bool = True) -> Theme:
    """The theme of those who chose none, for a dark or a light terminal."""
    return DARK if dark else LIGHT


def tokens_of(theme: Theme, base: Mapping[str, str]) -> dict[str, str]:
    """Every token, and Textual's own variables drawn from them.

    Args:
        theme: the theme in force.
        base: what Textual makes of it: ``theme.to_color_system().generate()``.
    """
    return sixteen_tokens(dark=theme.dark) if theme.ansi else _tokens(theme, base)


def _tokens(theme: Theme, base: Mapping[str, str]) -> dict[str, str]:

    def given(name: str) -> Color:
        return Color.parse(base[name])

    ground, text = given("background"), given("foreground")
    text = readable(Color(*text.rgb), [ground], 7.0 if theme.dark else TEXT)
    accent, second = given("primary"), given("secondary")
    signals = {"ok": given("success"), "attention": given("warning"), "danger": given("error")}

    def lifted(share: float) -> Color:
        return ground.blend(text, share)

    surfaces = {
        "hover": lifted(0.05),
        "popup": lifted(0.045),
        "code-surface": lifted(0.035),
        "cursor": ground.blend(accent, 0.2),
        "selected": lifted(0.045).blend(accent, 0.25),
        "selection": ground.blend(accent, 0.32),
        "user-surface": ground.blend(accent, 0.07),
        "danger-surface": ground.blend(signals["danger"], 0.12),
        "diff-added-surface": ground.blend(signals["ok"], 0.13),
        "diff-removed-surface": ground.blend(signals["danger"], 0.13),
    }
    # Never below these, whatever is the ground: rows, popups, code.
    common = [ground, *(surfaces[name] for name in ("popup", "code-surface", "user-surface"))]
    rows = [*common, *(surfaces[name] for name in ("hover", "cursor", "selected"))]
    every = [*rows, *(surfaces[n] for n in surfaces if n.endswith("-surface"))]

    def on(colour: Color, grounds: list[Color], ratio: float = TEXT) -> str:
        return readable(colour, grounds, ratio).hex

    quiet = {"muted": lifted(0.72), "faint": lifted(0.6)}
    tokens = {name: colour.hex for name, colour in surfaces.items()}
    tokens |= {name: on(colour, every) for name, colour in quiet.items()}
    tokens |= {name: on(colour, rows) for name, colour in signals.items()}
    tokens |= {
        "foreground": on(text, [*every, surfaces["selection"]]),
        "background": ground.hex,
        "surface": surfaces["popup"].hex,
        "panel": lifted(0.08).hex,
        "line": lifted(0.16).hex,
        "edge": lifted(0.32).hex,
        "user": on(accent, rows),
        "assistant": on(second, rows),
        "thinking": on(lifted(0.6), every),
        "tool": on(second, rows),
        "checkpoint": on(lifted(0.72), every),
        "compaction": on(second, rows),
        "diff-added": on(signals["ok"], [ground, surfaces["diff-added-surface"]]),
        "diff-removed": on(signals["danger"], [ground, surfaces["diff-removed-surface"]]),
        "gauge-low": on(lifted(0.72), common),
        "gauge-middle": on(signals["attention"], common),
        "gauge-high": on(signals["danger"], common),
        "gauge-track": lifted(0.13).hex,
        "gauge-trigger": on(text, [lifted(0.13)], MARK),
        "fate-kept": on(signals["ok"], rows),
        "fate-summarised": on(second, rows),
        "fate-dropped": on(lifted(0.6), every),
        "code-keyword": on(second, common),
        "code-name": on(accent, common),
        "code-string": on(signals["ok"], common),
        "code-number": on(signals["attention"], common),
        "code-comment": on(lifted(0.6), every),
        "code-operator": on(lifted(0.72), common),
    }
    tokens |= {
        f"share-{number}": on(ground.blend(colour, share), [ground], MARK)
        for number, (colour, share) in enumerate(
            [(accent, 1.0), (accent, 0.72), (accent, 0.5), (text, 0.7), (text, 0.5)], 1
        )
    }
    return tokens | textual_variables(tokens)
