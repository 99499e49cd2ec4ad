"""Texts too long to be drawn at once: their two ends, and a row that says what is between."""

from __future__ import annotations

import time

from rich.segment import Segment

from agent_tui.core.dataclass import dataclass
from agent_tui.core.format import format_count
from agent_tui.core.text import clean
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.lines import Line
from agent_tui.ui.renderers.markdown import MarkdownWriter, draw_markdown

GLANCE_CHARS = 8_000
"""What is drawn of a text while one waits for a key; about 15 ms."""

_GLANCE_LINES = 800
"""Lines of such a text, at most: each takes as long as some words."""

MOST_CHARS = 128_000
"""What is drawn of a text at all."""

MOST_ROWS = 5_000
_HASTY_CHARS = 1_000_000
_SLICE_CHARS = 2_000
_BREATH_SECONDS = 0.001
_FENCE = "\n```"


@dataclass(frozen=True, slots=True)
class Ends:
    """The beginning and the end of a text, and how many characters are between them."""

    head: str
    tail: str
    hidden: int


def cut_ends(text: str, most: int, *, hasty: bool = False) -> Ends:
    """The two ends of a text that is longer than ``most``, cut between paragraphs or lines.

    A fence that is open at a cut is closed by the end of the head, and opened again by the tail;
    who is ``hasty`` does not look for one in megabytes.
    """
    half = most // 2
    end = _last_break(text, half)
    start = _first_break(text, len(text) - half)
    head, tail = text[:end], text[start:]
    if hasty and len(text) > _HASTY_CHARS:
        return Ends(head, tail, start - end)
    if text.count(_FENCE, 0, start) % 2 != text.startswith(_FENCE[1:]):
        tail = f"{_FENCE[1:]}\n{tail}"
    return Ends(head, tail, start - end)


def _last_break(text: str, place: int) -> int:
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, place // 2, place)
        if found > 0:
            return found
    return place


def _first_break(text: str, place: int) -> int:
    for mark in ("\n\n", "\n", " "):
        found = text.find(mark, place, place + (len(text) - place) // 2)
        if found > 0:
            return found + len(mark)
    return place


def is_long(text: str) -> bool:
    """Whether only the ends of a text are drawn while one waits for a key."""
    return len(text) > GLANCE_CHARS or text.count("\n") > _GLANCE_LINES


def _glance_chars(text: str) -> int:
    half = GLANCE_CHARS // 2
    lines = text.count("\n", 0, half) + text.count("\n", max(half, len(text) - half))
    return GLANCE_CHARS * _GLANCE_LINES // max(lines, _GLANCE_LINES)


def shorten(text: str) -> str:
    """The ends of a text that is too long to be drawn at once; any other as it is."""
    if len(text) <= MOST_CHARS:
        return text
    ends = cut_ends(text, MOST_CHARS)
    return f"{ends.head}\n\n… {format_count(ends.hidden, 'character')} not shown\n\n{ends.tail}"


def draw_text(text: str, canvas: Canvas, *, glance: bool) -> tuple[list[Line], int]:
    """Markdown as rows; of a long text its ends.

    With it the number of the row that stands for what is left out; -1 where nothing is.
    """
    most = _glance_chars(text) if glance else MOST_CHARS
    if len(text) <= most:
        return _bounded(_draw(text, canvas), canvas)
    ends = cut_ends(text, most, hasty=glance)
    head, tail = _draw(ends.head, canvas), _draw(ends.tail, canvas)
    if not glance:
        head, tail = head[: MOST_ROWS // 2], tail[-MOST_ROWS // 2 :]
    note = f"… {format_count(ends.hidden, 'character')} not shown: /export to write all of it"
    gap = [Segment("…" if glance else note, canvas.palette.faint)]
    return [*head, [], gap, [], *tail], len(head) + 1


def _draw(text: str, canvas: Canvas) -> list[Line]:
    """Markdown as rows; a long text is drawn in a thread, which lets others run now and then."""
    text = clean(text).strip("\n")
    if len(text) <= GLANCE_CHARS:
        return draw_markdown(text, canvas)
    writer = MarkdownWriter(canvas)
    for start in range(0, len(text), _SLICE_CHARS):
        writer.feed(text[start : start + _SLICE_CHARS])
        time.sleep(_BREATH_SECONDS)
    return writer.finish()


def _bounded(rows: list[Line], canvas: Canvas) -> tuple[list[Line], int]:
    hidden = len(rows) - MOST_ROWS
    if hidden <= 0:
        return rows, -1
    note = f"… {format_count(hidden, 'row')} not shown: /export to write all of it"
    half = MOST_ROWS // 2
    return [*rows[:half], [Segment(note, canvas.palette.faint)], *rows[-half:]], half


def fold(
    rows: list[Line], head: int, canvas: Canvas, *, expanded: bool, tail: int = 0
) -> list[Line]:
    """The first rows, and the last ones, and a row that says how many more there are."""
    hidden = len(rows) - head - tail
    if expanded or hidden <= 1:
        return rows
    told = format_count(hidden, "line" if tail else "more line")
    note: Line = [Segment(f"… {told}", canvas.palette.faint)]
    return [*rows[:head], note, *rows[len(rows) - tail :]]
