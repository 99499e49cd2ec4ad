"""Unified diffs with line numbers: what was taken away and what came."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.segment import Segment

from agent_tui.core.text import reveal
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.code import lay_on_surface
from agent_tui.ui.renderers.lines import Line, wrap_text

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_LONGEST_LINE = 2_000


def count_changes(diff: str) -> tuple[int, int]:
    """How many lines a unified diff adds and removes."""
    added = removed = 0
    for kind, _, _ in _read_diff(diff):
        added += kind == "+"
        removed += kind == "-"
    return added, removed


def line_count(diff: str) -> int:
    """How many rows a unified diff takes where no line is folded."""
    return sum(1 for _ in _read_diff(diff))


def draw_diff(diff: str, canvas: Canvas, limit: int | None = None) -> list[Line]:
    """The rows of a unified diff; invisible characters are spelled out. At most about ``limit``."""
    lines = _read_diff(diff)
    digits = len(str(_last_number(diff)))
    rows: list[Line] = []
    for kind, number, text in lines:
        rows.extend(_draw_line(kind, number, text, digits, canvas))
        if limit is not None and len(rows) > limit:
            break
    return rows


def _last_number(diff: str) -> int:
    """The greatest line number that a diff shows."""
    start = diff.rfind("\n@@ ") + 1
    hunk = _HUNK.match(diff, start)
    if hunk is None:
        return 1
    lines = diff.count("\n", start)
    return max(int(hunk[1]), int(hunk[2])) + lines


def _read_diff(diff: str) -> Iterator[tuple[str, int, str]]:
    """(kind, line number, text); kind is one of ``+``, ``-``, space, and ``@`` between hunks."""
    old = new = 0
    inside = False
    for line in diff.split("\n"):
        if hunk := _HUNK.match(line):
            if inside:
                yield "@", 0, ""
            old, new, inside = int(hunk[1]), int(hunk[2]), True
        elif inside and line[:1] == "+":
            yield "+", new, line[1:]
            new += 1
        elif inside and line[:1] == "-":
            yield "-", old, line[1:]
            old += 1
        elif inside and line[:1] == " ":
            yield " ", new, line[1:]
            old, new = old + 1, new + 1


def _draw_line(kind: str, number: int, text: str, digits: int, canvas: Canvas) -> list[Line]:
    palette = canvas.palette
    if kind == "@":
        return [[Segment(f"{'⋮':>{digits}}", palette.faint)]]
    style, surface = {
        "+": (palette.added, palette.added_surface),
        "-": (palette.removed, palette.removed_surface),
        " ": (palette.muted, None),
    }[kind]
    room = max(8, canvas.width - digits - 4)
    rows: list[Line] = []
    for piece in wrap_text(reveal(text[:_LONGEST_LINE]), room):
        label = "" if rows else str(number)
        mark = " " if rows else kind
        head = Segment(f"{label:>{digits}} ", palette.faint)
        line: Line = [head, Segment(f"{mark} ", style), Segment(piece, style)]
        rows.append(lay_on_surface(line, canvas.width, surface) if surface else line)
    return rows
