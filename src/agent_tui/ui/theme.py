"""The colours of every screen: themes for dark, light and 16-colour terminals, and their tokens.

A token is a CSS variable of our own (``$user``, ``$checkpoint``, ``$fate-kept`` ...). The themes
define all of them; ``token_defaults`` lends them to the themes that Textual ships.
"""

from __future__ import annotations

from textual.theme import Theme

_DARK_TOKENS = {
    # Text, from loud to quiet, and the lines between things.
    "muted": "#a5adbb",
    "faint": "#8b93a3",
    "line": "#2e333d",
    "hover": "#20242b",
    "cursor": "#262b35",
    "selection": "#31456a",
    # Who speaks.
    "user": "#86b3f5",
    "user-surface": "#1c212b",
    "assistant": "#c9b3f5",
    "thinking": "#8b93a7",
    "tool": "#6cbfc5",
    "checkpoint": "#d3a75f",
    "compaction": "#c497e0",
    "code-surface": "#1a1d23",
    # How it went.
    "ok": "#7fc58f",
    "attention": "#e3b565",
    "danger": "#ee7f84",
    "danger-surface": "#2b1c20",
    # Changes of files.
    "diff-added": "#8fd19e",
    "diff-added-surface": "#18271e",
    "diff-removed": "#ef9297",
    "diff-removed-surface": "#2d1c20",
    # The token gauge and what a compaction does with a message.
    "gauge-low": "#7fb58f",
    "gauge-middle": "#d3a75f",
    "gauge-high": "#ee7f84",
    "gauge-track": "#2b303a",
    "gauge-trigger": "#c497e0",
    "fate-kept": "#7fc58f",
    "fate-summarised": "#c497e0",
    "fate-dropped": "#8f94a1",
    # Code.
    "code-keyword": "#c39ae6",
    "code-name": "#86b3f5",
    "code-string": "#9bc98a",
    "code-number": "#e0a878",
    "code-comment": "#8b93a3",
    "code-operator": "#98a6bd",
}

_LIGHT_TOKENS = {
    "muted": "#535a67",
    "faint": "#616672",
    "line": "#dad7ce",
    "hover": "#f1efe8",
    "cursor": "#e9e6dc",
    "selection": "#c6dafa",
    "user": "#1f5cb3",
    "user-surface": "#eff2f7",
    "assistant": "#6a45b0",
    "thinking": "#5f6573",
    "tool": "#0d6f7b",
    "checkpoint": "#8a5a08",
    "compaction": "#853fa3",
    "code-surface": "#f3f1ea",
    "ok": "#23743f",
    "attention": "#8a5a08",
    "danger": "#b22a3a",
    "danger-surface": "#fbebea",
    "diff-added": "#1c6636",
    "diff-added-surface": "#e5f3e6",
    "diff-removed": "#a32434",
    "diff-removed-surface": "#fae7e6",
    "gauge-low": "#2f7d49",
    "gauge-middle": "#a06c0c",
    "gauge-high": "#b22a3a",
    "gauge-track": "#e0ddd3",
    "gauge-trigger": "#853fa3",
    "fate-kept": "#23743f",
    "fate-summarised": "#853fa3",
    "fate-dropped": "#5f6572",
    "code-keyword": "#853fa3",
    "code-name": "#1f5cb3",
    "code-string": "#2d6b28",
    "code-number": "#96500c",
    "code-comment": "#616672",
    "code-operator": "#4d5663",
}

# Sixteen colours: the terminal's own palette decides, so nothing relies on a background of ours.
_ANSI_TOKENS = {
    "muted": "ansi_default",
    "faint": "ansi_bright_black",
    "line": "ansi_bright_black",
    "hover": "ansi_default",
    "cursor": "ansi_default",
    "selection": "ansi_blue",
    "user": "ansi_blue",
    "user-surface": "ansi_default",
    "assistant": "ansi_magenta",
    "thinking": "ansi_bright_black",
    "tool": "ansi_cyan",
    "checkpoint": "ansi_yellow",
    "compaction": "ansi_magenta",
    "code-surface": "ansi_default",
    "ok": "ansi_green",
    "attention": "ansi_yellow",
    "danger": "ansi_red",
    "danger-surface": "ansi_default",
    "diff-added": "ansi_green",
    "diff-added-surface": "ansi_default",
    "diff-removed": "ansi_red",
    "diff-removed-surface": "ansi_default",
    "gauge-low": "ansi_green",
    "gauge-middle": "ansi_yellow",
    "gauge-high": "ansi_red",
    "gauge-track": "ansi_bright_black",
    "gauge-trigger": "ansi_magenta",
    "fate-kept": "ansi_green",
    "fate-summarised": "ansi_magenta",
    "fate-dropped": "ansi_bright_black",
    "code-keyword": "ansi_magenta",
    "code-name": "ansi_blue",
    "code-string": "ansi_green",
    "code-number": "ansi_yellow",
    "code-comment": "ansi_bright_black",
    "code-operator": "ansi_default",
}


def _textual_tokens(tokens: dict[str, str], background: str, foreground: str) -> dict[str, str]:
    """Textual's own variables, drawn from ours so that borders, bars and keys match."""
    return {
        "border": tokens["user"],
        "border-blurred": tokens["line"],
        "block-cursor-background": tokens["cursor"],
        "block-cursor-foreground": foreground,
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": tokens["hover"],
        "block-cursor-blurred-foreground": foreground,
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": tokens["hover"],
        "input-cursor-background": foreground,
        "input-cursor-foreground": background,
        "input-selection-background": tokens["selection"],
        "screen-selection-background": tokens["selection"],
        "scrollbar": tokens["line"],
        "scrollbar-hover": tokens["faint"],
        "scrollbar-active": tokens["muted"],
        "scrollbar-background": background,
        "scrollbar-background-hover": background,
        "scrollbar-background-active": background,
        "scrollbar-corner-color": background,
        "footer-background": background,
        "footer-foreground": tokens["muted"],
        "footer-key-foreground": tokens["user"],
        "footer-key-background": background,
        "footer-description-background": background,
        "footer-description-foreground": tokens["muted"],
        "footer-item-background": background,
        "link-color": tokens["user"],
        "link-style": "underline",
    }


DARK = Theme(
    name="agent-dark",
    dark=True,
    primary="#86b3f5",
    secondary="#6cbfc5",
    accent="#d3a75f",
    warning="#e3b565",
    error="#ee7f84",
    success="#7fc58f",
    foreground="#d9dce3",
    background="#14161b",
    surface="#1a1d23",
    panel="#22262e",
    variables=_DARK_TOKENS | _textual_tokens(_DARK_TOKENS, "#14161b", "#d9dce3"),
)

LIGHT = Theme(
    name="agent-light",
    dark=False,
    primary="#1f5cb3",
    secondary="#0d6f7b",
    accent="#8a5a08",
    warning="#8a5a08",
    error="#b22a3a",
    success="#23743f",
    foreground="#24272d",
    background="#fbfaf7",
    surface="#f5f3ed",
    panel="#ebe8df",
    variables=_LIGHT_TOKENS | _textual_tokens(_LIGHT_TOKENS, "#fbfaf7", "#24272d"),
)

ANSI = Theme(
    name="agent-16",
    dark=True,
    ansi=True,
    primary="ansi_blue",
    secondary="ansi_cyan",
    accent="ansi_yellow",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables=_ANSI_TOKENS
    | _textual_tokens(_ANSI_TOKENS, "ansi_default", "ansi_default")
    | {
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        "block-cursor-text-style": "reverse",
        "input-cursor-text-style": "reverse",
        "footer-foreground": "ansi_default",
    },
)

THEMES = (DARK, LIGHT, ANSI)
"""The themes to register in the app's ``__init__``, the default first."""


def token_defaults(*, dark: bool) -> dict[str, str]:
    """Values of our tokens for a theme that does not define them (one of Textual's own).

    The app returns this from ``get_theme_variable_defaults()``; themes of ours override all of it.
    """
    return dict(_DARK_TOKENS if dark else _LIGHT_TOKENS)
