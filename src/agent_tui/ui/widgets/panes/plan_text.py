"""A plan that waits for approval: every character of its Markdown, easier to read."""

from __future__ import annotations

import re

from textual.content import Content

_STYLES = (
    (re.compile(r"^#{1,6} .*"), "$user bold"),
    (re.compile(r"^\s*(?:[-*+]|\d+[.)]) "), "$muted"),
    (re.compile(r"`[^`]+`"), "$tool"),
    (re.compile(r"\*\*[^*]+\*\*"), "bold"),
)


def break_at_words(text: str, width: int) -> str:
    """The text with its long lines broken at spaces; a word that is too long is left whole."""
    rows: list[str] = []
    for line in text.split("\n"):
        rest = line
        while len(rest) > width:
            cut = rest.rfind(" ", 0, width + 1)
            if cut <= 0 or not rest[:cut].strip() or rest[cut - 1] == " ":
                break  # a run of blanks is named as it is where it is folded
            rows.append(rest[:cut])
            rest = rest[cut + 1 :]
        rows.append(rest)
    return "\n".join(rows)


def mark_up_plan(content: Content, start: int, text: str) -> Content:
    """A row in the styles of its Markdown, whose signs stay: nothing that is approved is hidden."""
    for pattern, style in _STYLES:
        for found in pattern.finditer(text):
            content = content.stylize(style, start + found.start(), start + found.end())
    return content
