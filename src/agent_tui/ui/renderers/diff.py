"""Unified diffs with line numbers and the colours of their language: what left and what came."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from rich.segment import Segment
from rich.style import Style

from agent_tui.core.dataclass import dataclass
from agent_tui.core.format import format_count
from agent_tui.core.text import reveal
from agent_tui.ui.blocks import Changed
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.code import colour_lines, lay_on_surface
from agent_tui.ui.renderers.languages import language_of
from agent_tui.ui.renderers.lines import Line, wrap_spans
from agent_tui.ui.renderers.output import Ends
from agent_tui.ui.themes.palette import Palette

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_HEADINGS = ("--- ", "+++ ")
_LONGEST_LINE = 2_000
_LEAD = 16
"""Lines from before the end of a diff that are looked at to colour it: a text may begin there."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a unified diff: its kind, its number, and where its text is in the diff.

    The kind is ``+``, ``-`` or a space; ``@`` between hunks; empty for a remark.
    """

    kind: str
    number: int
    start: int
    end: int


def read_diff(diff: str) -> Iterator[DiffLine]:
    """The lines of a unified diff without its headings; read no further than they are asked for."""
    old = new = 0
    is_inside = False
    position = 0
    while position < len(diff):
        end = diff.find("\n", position)
        end = len(diff) if end < 0 else end
        start, position = position, end + 1
        kind = diff[start] if start < end else " "
        if hunk := _HUNK.match(diff, start, end):
            if is_inside:
                yield DiffLine("@", 0, end, end)
            old, new, is_inside = int(hunk[1]), int(hunk[2]), True
        elif not is_inside and diff.startswith(_HEADINGS, start):
            continue
        elif is_inside and kind in "+- ":
            yield DiffLine(kind, old if kind == "-" else new, min(start + 1, end), end)
            old, new = old + (kind != "+"), new + (kind != "-")
        elif start < end:
            yield DiffLine("", 0, start, end)


def count_changes(diff: str) -> tuple[int, int]:
    """How many lines a unified diff adds and removes."""
    added = removed = 0
    for line in read_diff(diff):
        added += line.kind == "+"
        removed += line.kind == "-"
    return added, removed


def last_number(diff: str) -> int:
    """The greatest line number that a diff shows, or a little more."""
    start = diff.rfind("\n@@ ") + 1
    hunk = _HUNK.match(diff, start)
    if hunk is None:
        return 1
    lines = diff.count("\n", start)
    return max(int(hunk[1]), int(hunk[2])) + lines


def draw_diff(
    path: str, diff: str, canvas: Canvas, ends: Ends | None = None, hint: str = ""
) -> list[Line]:
    """The rows of a file's diff; invisible characters are spelled out.

    With ``ends`` those of about so many rows from above and from below, and in the place of the
    others how many lines they are; ``hint`` follows that.
    """
    drawing = _Drawing(language_of(path), diff, len(str(last_number(diff))), canvas)
    if ends is None:
        return _joined(drawing.draw(list(read_diff(diff))))
    most = ends.head + ends.tail + 1  # the note would take the row of one more
    known, hidden = _read_ends(diff, most, ends.tail + _LEAD)
    whole = drawing.draw(known) if not hidden and len(known) <= most else []
    if whole and sum(map(len, whole)) <= most:
        return _joined(whole)
    head = _fitting(drawing.draw(known[: ends.head]), ends.head)
    drawn = drawing.draw(known[-ends.tail - _LEAD :])  # the first of them only for the colours
    last = min(ends.tail, len(known) - len(head))
    tail = _fitting(drawn[: -last - 1 : -1], ends.tail)[::-1]
    while head and known[len(head) - 1].kind == "@":
        head.pop()  # the note stands between hunks as well
    while tail and known[-len(tail)].kind == "@":
        tail.pop(0)
    between = known[len(head) : len(known) - len(tail)]
    hidden += sum(line.kind != "@" for line in between)
    note = f"… {format_count(hidden, 'line')}{hint}" if hidden else "…"
    return [*_joined(head), [Segment(note, canvas.palette.faint)], *_joined(tail)]


def _read_ends(diff: str, first: int, last: int) -> tuple[list[DiffLine], int]:
    """The first lines of a diff, and the last of those that follow; how many are between them."""
    lines = read_diff(diff)
    head = list(islice(lines, first))
    tail: deque[DiffLine] = deque(maxlen=last)
    between = 0
    for line in lines:
        between += len(tail) == last and tail[0].kind != "@"
        tail.append(line)
    return [*head, *tail], between


def _fitting(lines: list[list[Line]], most: int) -> list[list[Line]]:
    """Lines whose rows are no more than that; of the first what fits."""
    fitting: list[list[Line]] = []
    room = most
    for rows in lines:
        if len(rows) > room and fitting:
            break
        fitting.append(rows[:room])
        room -= len(fitting[-1])
    return fitting


def _joined(lines: list[list[Line]]) -> list[Line]:
    return [row for rows in lines for row in rows]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How the lines of one diff are drawn, by parts of it."""

    language: str
    diff: str
    digits: int
    canvas: Canvas

    def draw(self, lines: list[DiffLine]) -> list[list[Line]]:
        """The rows of each of some lines that follow each other."""
        texts = (
            (line.kind, reveal(self.diff[line.start : min(line.end, line.start + _LONGEST_LINE)]))
            for line in lines
        )
        coloured = colour_diff(self.canvas, self.language, texts)
        return [
            _draw_line(line, spans, self.digits, self.canvas)
            for line, spans in zip(lines, coloured, strict=True)
        ]


def has_diff_grounds(variables: Mapping[str, str]) -> bool:
    """Whether a theme has grounds for the lines of a diff; else the colour of a text is its kind.

    There are none in sixteen colours, nor where both would be the same of 256.
    """
    return variables["diff-added-surface"] != variables["background"]


def colour_diff(canvas: Canvas, language: str, lines: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """Lines of a diff (kind and text) as styled pieces, the old and the new text each by itself.

    They are plain, in the colour of their kind, while the language is not known, and where a theme
    has no backgrounds to tell the kinds apart.
    """
    palette = canvas.palette
    is_plain = palette.added_surface.bgcolor == palette.base.bgcolor
    known = not is_plain and bool(language) and canvas.languages.find(language) is not None
    old, new = ["root"], ["root"]
    for kind, text in lines:
        flat = text.expandtabs(4)
        if kind == "@":
            old, new = ["root"], ["root"]
        if not known or kind not in ("+", "-", " "):
            yield [Segment(flat, _styles(palette, kind)[0])]
            continue
        yield colour_lines(canvas, language, [flat], old if kind == "-" else new)[0]
        if kind == " ":
            old = list(new)


def _styles(palette: Palette, kind: str) -> tuple[Style, Style | None]:
    """How a kind of line is written, and on what."""
    match kind:
        case "+":
            return palette.added, palette.added_surface
        case "-":
            return palette.removed, palette.removed_surface
        case _:
            return palette.muted, None


def _draw_line(line: DiffLine, spans: Line, digits: int, canvas: Canvas) -> list[Line]:
    palette = canvas.palette
    if line.kind == "@":
        return [[Segment(f"{'⋮':>{digits}}", palette.faint)]]
    style, surface = _styles(palette, line.kind)
    rows: list[Line] = []
    for piece in wrap_spans(spans, max(8, canvas.width - digits - 4)):
        label = "" if rows or not line.kind else str(line.number)
        mark = " " if rows else line.kind or " "
        head = Segment(f"{label:>{digits}} ", palette.faint)
        row: Line = [head, Segment(f"{mark} ", style), *piece]
        rows.append(lay_on_surface(row, canvas.width, surface) if surface else row)
    return rows


def draw_changed(changed: Changed | None, canvas: Canvas) -> Line:
    """``+12 -3 in 2 files``, or ``2 files changed`` of no text; empty where nothing changed."""
    palette = canvas.palette
    if changed is None:
        return []
    if changed.why:
        return [Segment(" files not captured here", palette.attention)]
    if not changed.files:
        return []
    files = format_count(changed.files, "file")
    if not (changed.added or changed.removed):
        return [Segment(f" {files} changed", palette.faint)]
    return [
        Segment(f" +{changed.added}", palette.added),
        Segment(f" -{changed.removed}", palette.removed),
        Segment(f" in {files}", palette.faint),
    ]
