"""Markdown as it streams in: each finished piece is drawn once, only the last one is open.

The reader goes line by line (the blocks of CommonMark that models write: headings, paragraphs,
lists, quotes, fences, tables, rules). Line breaks inside a paragraph are kept. What it draws
depends on the text alone, never on how it was cut into chunks: stream and reload look the same.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rich.segment import Segment

from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.code import CodeWriter
from agent_tui.ui.renderers.lines import Line, indent
from agent_tui.ui.renderers.paragraph import ParagraphWriter
from agent_tui.ui.renderers.table import TableWriter, is_table_rule

_FENCE = re.compile(r"( *)(`{3,}|~{3,})\s*([^`]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})\s*")
_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})")
_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +|$)(.*)")
_TASK = re.compile(r"\[([ xX])\] +")
_QUOTE = re.compile(r" {0,3}>")
_HELD = re.compile(r"\s*(?:`{1,2}|~{1,2}|[-*+=_]{1,2}|#{1,6}|\d{1,3}[.)]?|>+|\|.*)?\s*")
_LONGEST_LINE = 4_000
_BULLETS = "•◦▪"

_Writer = ParagraphWriter | CodeWriter | TableWriter


class MarkdownWriter:
    """Draws Markdown text that arrives in pieces.

    Attributes:
        lines: rows that are final; only ever appended to.
    """

    def __init__(self, canvas: Canvas) -> None:
        self.lines: list[Line] = []
        self._canvas = canvas
        self._unread = ""
        self._open: _Writer | None = None
        self._prefix: Line = []
        self._fence = ""
        self._fence_indent = 0
        self._quotes = 0
        self._items: list[tuple[int, int]] = []  # (column where its text begins, cells drawn)
        self._gap = False
        self._blank = True
        self._left_quote = False

    def feed(self, text: str) -> None:
        """Take more text; whole lines become final rows as soon as they can."""
        self._unread += text
        if "\n" in text:
            *whole, self._unread = self._unread.split("\n")
            for line in whole:
                self._read_long(line)
        while len(self._unread) > _LONGEST_LINE and not self._fence:
            self._unread = self._cut(self._unread)

    def finish(self) -> list[Line]:
        """All rows, the text being complete."""
        self._read_long(self._unread)
        self._unread = ""
        self._close()
        return self.lines

    def preview(self) -> list[Line]:
        """The rows after the final ones, as they look with the text so far."""
        ahead = MarkdownWriter(self._canvas)
        ahead.__dict__.update(self.__dict__, lines=[], _items=list(self._items))
        ahead._open = self._open.fork() if self._open else None
        held = self._open is None or not isinstance(self._open, TableWriter)
        if self._unread and not (held and _HELD.fullmatch(self._unread)):
            ahead._read(self._unread)
        ahead._close()
        return ahead.lines

    def _read_long(self, line: str) -> None:
        while len(line) > _LONGEST_LINE and not self._fence:
            line = self._cut(line)
        self._read(line)

    def _cut(self, line: str) -> str:
        """Read the first part of an endless line; returns the rest."""
        space = line.rfind(" ", 1, _LONGEST_LINE * 3 // 4)
        end = space if space > 0 else _LONGEST_LINE * 3 // 4
        self._read(line[:end])
        return line[end:].lstrip(" ")

    def _read(self, line: str) -> None:
        if self._fence:
            self._read_code(line)
            return
        line = line.expandtabs(4)
        depth, body = _strip_quotes(line)
        if depth != self._quotes:
            self._close()
            self._items.clear()
            self._quotes, self._left_quote = depth, True
        if not body.strip():
            self._close()
            self._gap = True
            return
        if isinstance(self._open, TableWriter):
            if "|" in body:
                self._emit(self._open.feed(body))
                return
            self._close()
        self._read_text(body)

    def _read_text(self, body: str) -> None:
        """A line that is not blank, outside fences and tables."""
        paragraph = self._open if isinstance(self._open, ParagraphWriter) else None
        if paragraph and paragraph.single and self._read_underline(paragraph.single, body):
            return
        if (fence := _FENCE.fullmatch(body)) and (len(fence[1]) < 4 or self._items):
            self._open_fence(fence)
        elif (heading := _HEADING.fullmatch(body)) and self._leave_items(body):
            self._write_heading(len(heading[1]), heading[2])
        elif _RULE.fullmatch(body):
            self._write_rule(body)
        elif (item := _ITEM.fullmatch(body)) and (len(item[1]) < 4 or self._items):
            self._open_item(item)
        elif paragraph:
            self._emit(paragraph.feed(body.strip()))
        else:
            self._open_paragraph(body)

    def _read_underline(self, above: str, body: str) -> bool:
        """A line that turns the line above it into a heading or a table's head."""
        if is_table_rule(body) and "|" in above:
            self._open = None
            self._space(always=True)
            self._open = TableWriter(self._inner(), above, body)
            return True
        if not self._items and (mark := _SETEXT.fullmatch(body)):
            self._open = None
            self._write_heading(1 if mark[1][0] == "=" else 2, above)
            return True
        return False

    def _read_code(self, line: str) -> None:
        assert isinstance(self._open, CodeWriter)
        close = line.strip()
        if self._quotes:
            depth, line = _strip_quotes(line)
            close = line.strip()
            if depth < self._quotes:
                self._fence = ""
                self._close()
                self._read(line)
                return
        if close.startswith(self._fence) and not close.strip(self._fence[0]):
            self._fence = ""
            self._close()
            self._gap = True
            return
        lead = len(line) - len(line.lstrip(" "))
        self._emit(self._open.feed(line[min(lead, self._fence_indent) :]))

    def _open_fence(self, fence: re.Match[str]) -> None:
        self._close()
        self._leave_items(fence.group())
        self._prefix = self._margin()
        self._space(always=not self._items)
        self._fence, self._fence_indent = fence[2], len(fence[1])
        language = fence[3].split()[0].strip("{}.") if fence[3].strip() else ""
        writer = CodeWriter(self._inner(), language)
        self._open = writer
        self._emit(writer.head())

    def _open_item(self, item: re.Match[str]) -> None:
        self._close()
        column, mark, text = len(item[1]), item[2], item[4]
        while self._items and column < self._items[-1][0]:
            self._items.pop()
        before = self._margin()
        palette = self._canvas.palette
        sign = mark if mark[0].isdigit() else _BULLETS[len(self._items) % len(_BULLETS)]
        if task := _TASK.match(text):
            sign, text = ("☐" if task[1] == " " else "☑"), text[task.end() :]
        self._space()
        begins = column + len(mark) + (len(item[3]) if 1 <= len(item[3]) <= 4 else 1)
        self._items.append((begins, len(sign) + 1))
        self._prefix = self._margin()
        first = [*before, Segment(f"{sign} ", palette.muted)]
        self._open = ParagraphWriter(self._text_canvas(), palette.text, first, self._prefix)
        self._emit(self._open.feed(text))

    def _open_paragraph(self, body: str) -> None:
        self._close()
        self._leave_items(body)
        self._prefix = self._margin()
        self._space()
        palette = self._canvas.palette
        style = palette.muted if self._quotes else palette.text
        self._open = ParagraphWriter(self._text_canvas(), style, self._prefix, self._prefix)
        self._emit(self._open.feed(body.strip()))

    def _write_heading(self, level: int, text: str) -> None:
        self._close()
        self._items.clear()
        self._prefix = self._margin()
        self._space(always=True)
        palette = self._canvas.palette
        style = palette.heading + (palette.assistant if level <= 2 else palette.text)
        prefix = [*self._prefix]
        if level >= 4:
            style = palette.muted + palette.heading.without_color
        writer = ParagraphWriter(self._text_canvas(), style, prefix, prefix)
        self._emit([*writer.feed(text), *writer.finish()])
        self._gap = level <= 2

    def _write_rule(self, body: str) -> None:
        self._close()
        self._leave_items(body)
        self._prefix = self._margin()
        self._space()
        width = min(self._inner().width, self._text_canvas().width)
        self._emit([[*self._prefix, Segment("─" * width, self._canvas.palette.line)]])

    def _leave_items(self, body: str) -> bool:
        """Leave the list items that a line at this indent no longer belongs to."""
        column = len(body) - len(body.lstrip(" "))
        while self._items and column < self._items[-1][0]:
            self._items.pop()
        return True

    def _margin(self) -> Line:
        """What stands left of a line: bars of quotes, then the indent of its list item."""
        quote = [Segment("▎ ", self._canvas.palette.faint)] * self._quotes
        if not self._items:
            return quote
        return [*quote, Segment(" " * sum(cells for _, cells in self._items))]

    def _inner(self) -> Canvas:
        taken = sum(len(segment.text) for segment in self._prefix)
        return replace(self._canvas, width=max(8, self._canvas.width - taken))

    def _text_canvas(self) -> Canvas:
        return replace(self._canvas, width=self._canvas.prose_width)

    def _space(self, *, always: bool = False) -> None:
        """An empty row before the next piece, where the text had one or the piece wants one."""
        if not self._blank and (self._gap or always):
            self.lines.append(self._margin() if self._quotes and not self._left_quote else [])
            self._blank = True
        self._gap = self._left_quote = False

    def _emit(self, rows: list[Line]) -> None:
        if self._prefix and not isinstance(self._open, ParagraphWriter) and self._open:
            rows = indent(rows, self._prefix)
        if rows:
            self.lines.extend(rows)
            self._blank = False

    def _close(self) -> None:
        if self._open is not None:
            self._emit(self._open.finish())
            if isinstance(self._open, TableWriter):
                self._gap = True
        self._open = None


def _strip_quotes(line: str) -> tuple[int, str]:
    depth = 0
    while mark := _QUOTE.match(line):
        depth += 1
        line = line[mark.end() :].removeprefix(" ")
    return depth, line


def draw_markdown(text: str, canvas: Canvas) -> list[Line]:
    """A whole Markdown text as rows."""
    writer = MarkdownWriter(canvas)
    writer.feed(text)
    return writer.finish()
