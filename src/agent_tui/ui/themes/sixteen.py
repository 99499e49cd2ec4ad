"""The tokens of terminals with sixteen colours: the terminal's own palette decides.

No background is ours, so that the selected row is shown reversed; only those of the sixteen are
used that can be read on black (or, in the light theme, on white) in the usual palettes.
"""

from __future__ import annotations

from agent_tui.ui.themes.textual_variables import textual_variables

_DEFAULT = "ansi_default"

_ACCENT, _SECOND, _OK, _ATTENTION, _DANGER, _QUIET = range(6)
_COLOURS = {
    True: ("bright_cyan", "bright_magenta", "bright_green", "bright_yellow", "bright_red", "white"),
    False: ("blue", "magenta", "default", "magenta", "red", "default"),
}
_ROLES = {
    "muted": _QUIET,
    "faint": _QUIET,
    "line": _QUIET,
    "edge": _QUIET,
    "user": _ACCENT,
    "assistant": _SECOND,
    "thinking": _QUIET,
    "tool": _SECOND,
    "checkpoint": _QUIET,
    "compaction": _SECOND,
    "ok": _OK,
    "attention": _ATTENTION,
    "danger": _DANGER,
    "diff-added": _OK,
    "diff-removed": _DANGER,
    "gauge-low": _QUIET,
    "gauge-middle": _ATTENTION,
    "gauge-high": _DANGER,
    "gauge-trigger": _SECOND,
    "fate-kept": _OK,
    "fate-summarised": _SECOND,
    "fate-dropped": _QUIET,
    "code-keyword": _SECOND,
    "code-name": _ACCENT,
    "code-string": _OK,
    "code-number": _ATTENTION,
    "code-comment": _QUIET,
    "code-operator": _QUIET,
    "share-1": _ACCENT,
    "share-2": _OK,
    "share-3": _SECOND,
    "share-4": _ATTENTION,
    "share-5": _QUIET,
}
_GROUNDS = (
    *("background", "foreground", "surface", "panel", "hover", "popup", "cursor", "selected"),
    *("code-surface", "user-surface", "danger-surface"),
    *("diff-added-surface", "diff-removed-surface"),
)


def sixteen_tokens(*, dark: bool) -> dict[str, str]:
    """Every token in the terminal's colours."""
    colours = _COLOURS[dark]
    tokens = {name: f"ansi_{colours[role]}" for name, role in _ROLES.items()}
    tokens |= dict.fromkeys(_GROUNDS, _DEFAULT)
    tokens |= {
        "gauge-track": "ansi_bright_black" if dark else "ansi_white",
        "selection": "ansi_blue" if dark else "ansi_cyan",
    }
    return (
        tokens
        | textual_variables(tokens)
        | {
            "ansi-background": "ansi_black" if dark else "ansi_bright_white",
            "ansi-foreground": "ansi_white" if dark else "ansi_black",
            "block-cursor-text-style": "reverse",
            "input-cursor-text-style": "reverse",
        }
    )
