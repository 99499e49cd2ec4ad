"""Lines of styled text: wrapping by terminal cells, and the last step to rows of the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agent_tui.core.text import clean

Line: TypeAlias = list[Segment]
Spans: TypeAlias = Sequence[Segment]
Row: TypeAlias = tuple[Segment, ...]
"""A line that is ready for the screen: padded, on its background, safe."""

_JOINERS = "\u200d\ufe0f"
_MOST_MARKS = 30
"""Accents and the like on one character; no writing of any language needs as many."""


def break_line(text: str, width: int) -> list[tuple[int, int]]:
    """Where a line of text breaks to fit ``width`` cells: (start, end) of each row.

    Words stay whole where they can; the spaces at a break are left out; a line that begins
    indented keeps its indent on the first row only.
    """
    if len(text) <= width and (text.isascii() or cell_len(text) <= width):
        return [(0, len(text))]
    return _break_ascii(text, width) if text.isascii() else _break_wide(text, width)


def _break_ascii(text: str, width: int) -> list[tuple[int, int]]:
    rows = []
    start, length = 0, len(text)
    while length - start > width:
        space = text.rfind(" ", start + 1, start + width + 1)
        if space <= start or not text[start:space].strip():
            end = following = start + width
        else:
            end, following = space, space + 1
            while following < length and text[following] == " ":
                following += 1
            while end > start and text[end - 1] == " ":
                end -= 1
        rows.append((start, end))
        start = following
    if start < length or not rows:
        rows.append((start, length))
    return rows


def _break_wide(text: str, width: int) -> list[tuple[int, int]]:
    """Like the ASCII way, measured in cells; wide characters may break between any two."""
    rows = []
    start = used = 0
    candidate = -1  # the last place where a break would not split a word
    index, length = 0, len(text)
    while index < length:
        character = text[index]
        cells = get_character_cell_size(character)
        if cells > 1 and index > start and text[index - 1] not in _JOINERS:
            candidate = index
        if used + cells > width and index > start and character not in _JOINERS:
            if character == " ":
                end = following = index
            elif candidate > start and text[start:candidate].strip():
                end = following = candidate
            else:
                end = following = index
            while end > start and text[end - 1] == " ":
                end -= 1
            while following < length and text[following] == " ":
                following += 1
            rows.append((start, end))
            start = index = following
            used, candidate = 0, -1
            continue
        used += cells
        if character == " ":
            candidate = index + 1
        index += 1
    if start < length or not rows:
        rows.append((start, length))
    return rows


def wrap_text(text: str, width: int) -> list[str]:
    """Plain text as rows of at most ``width`` cells; line breaks stay, tabs become spaces."""
    rows: list[str] = []
    for line in text.split("\n"):
        flat = line.expandtabs(4) if "\t" in line else line
        rows.extend(flat[start:end] for start, end in break_line(flat, width))
    return rows


def wrap_spans(spans: Spans, width: int) -> list[Line]:
    """Styled text without line breaks as rows of at most ``width`` cells."""
    text = "".join(span.text for span in spans)
    rows = break_line(text, width)
    if len(rows) == 1:
        return [list(spans)]
    return list(slice_spans(spans, rows))


def slice_spans(spans: Spans, cuts: Iterable[tuple[int, int]]) -> Iterator[Line]:
    """The styled characters from the one to the other place of each cut, in their order.

    What a cut has passed is not looked at for the next one: a line may have thousands of pieces.
    """
    index = position = 0
    for start, end in cuts:
        taken: Line = []
        while index < len(spans):
            text, style, _ = spans[index]
            if piece := text[max(0, start - position) : max(0, end - position)]:
                taken.append(Segment(piece, style))
            if position + len(text) > end:
                break
            position += len(text)
            index += 1
        yield taken


def split_spans(spans: Spans) -> list[Line]:
    """Styled text cut at its line breaks."""
    lines: list[Line] = [[]]
    for text, style, _ in spans:
        first, *rest = text.split("\n")
        if first:
            lines[-1].append(Segment(first, style))
        lines.extend([Segment(piece, style)] if piece else [] for piece in rest)
    return lines


def line_cells(line: Iterable[Segment]) -> int:
    """The width of a line in cells."""
    return sum(cell_len(segment.text) for segment in line)


def crop_text(text: str, width: int) -> str:
    """One row of text, cut with an ellipsis where it does not fit ``width`` cells."""
    if width <= 0:
        return ""
    if len(text) <= width and (text.isascii() or cell_len(text) <= width):
        return text
    kept, used = [], 0
    for character in text:
        used += get_character_cell_size(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def indent(lines: list[Line], margin: Line) -> list[Line]:
    """The lines with ``margin`` before each of them."""
    return [[*margin, *line] for line in lines]


def _thin(text: str) -> str:
    """The text without all the marks that are heaped on one character.

    They take no room, so that no width bounds them, and each drawing of the row counts all of them.
    """
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = 0 if get_character_cell_size(character) else marks + 1
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def finish_row(
    line: Iterable[Segment], width: int, base: Style, surface: Style | None = None
) -> Row:
    """One row of the screen, exactly ``width`` cells wide, pieces without a style in the base one.

    This is the choke point: whatever reached a segment, no control sequence leaves here.
    """
    texts: list[str] = []
    styles: list[Style] = []
    ground = base + surface if surface else base
    cells = 0
    for text, style, _ in line:
        if not text:
            continue
        safe = text if text.isprintable() else clean(text).replace("\n", " ").expandtabs(4)
        if len(safe) > width + _MOST_MARKS and not safe.isascii():
            safe = _thin(safe)
        cells += len(safe) if safe.isascii() else cell_len(safe)
        full = ground if style is None else style + surface if surface else style
        if styles and styles[-1] is full:
            texts[-1] += safe
        else:
            texts.append(safe)
            styles.append(full)
    if cells < width:
        if styles and styles[-1] is ground:
            texts[-1] += " " * (width - cells)
        else:
            texts.append(" " * (width - cells))
            styles.append(ground)
    row = tuple(map(Segment, texts, styles))
    if cells > width:
        return tuple(Strip(row, cells).crop(0, width).adjust_cell_length(width, ground))
    return row
