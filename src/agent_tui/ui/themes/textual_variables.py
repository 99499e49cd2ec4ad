"""Textual's own CSS variables, set from our tokens."""

from __future__ import annotations


def textual_variables(tokens: dict[str, str]) -> dict[str, str]:
    """What Textual's borders, bars, keys and cursors are drawn with, so that they match ours."""
    text, ground = tokens["foreground"], tokens["background"]
    return {
        "border": tokens["user"],
        "border-blurred": tokens["line"],
        "block-cursor-background": tokens["selected"],
        "block-cursor-foreground": text,
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": tokens["hover"],
        "block-cursor-blurred-foreground": text,
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": tokens["hover"],
        "input-cursor-background": text,
        "input-cursor-foreground": ground,
        "input-selection-background": tokens["selection"],
        "screen-selection-background": tokens["selection"],
        "scrollbar": tokens["line"],
        "scrollbar-hover": tokens["faint"],
        "scrollbar-active": tokens["muted"],
        "scrollbar-background": ground,
        "scrollbar-background-hover": ground,
        "scrollbar-background-active": ground,
        "scrollbar-corner-color": ground,
        "footer-background": ground,
        "footer-foreground": tokens["muted"],
        "footer-key-foreground": tokens["user"],
        "footer-key-background": ground,
        "footer-description-background": ground,
        "footer-description-foreground": tokens["muted"],
        "footer-item-background": ground,
        "link-color": tokens["user"],
        "link-style": "underline",
    }
