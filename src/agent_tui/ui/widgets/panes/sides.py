"""Both sides of a compaction in one list: old messages at the left, the new context at the right.

The right side has the order of the log that is written: what no compaction touches, the summary,
then what is kept. The left side says of every message what becomes of it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from rich.segment import Segment
from rich.text import Text
from textual.content import Content

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.summary import AfterRow, CompactionReport, CompactionView, MessageFate
from agent_tui.core.text import clean, first_line, without_marks
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.markdown import draw_markdown
from agent_tui.ui.themes.palette import Palette, read_palette
from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.lists.fates import GLYPHS, PINNED, STYLES
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.alignment import Alignment

Side: TypeAlias = Literal["before", "after"]

_TOKENS_WIDTH = 6
_ROLE_WIDTHS = (80, 17), (44, 12), (0, 8)
"""From so many cells on, how many of them say who spoke: the names of tools want room."""
_LEAST_TEXT = 14
_ROLES = {
    "user": ("user", "$user"),
    "assistant": ("agent", "$assistant"),
    "tool": ("tool", "$tool"),
    "summary": ("summary", "$compaction"),
}
_NOTHING = Content("")
_MOST_DRAWN = 16_000
"""Characters of a summary that are drawn as Markdown, at most; about 30 ms."""
_BETWEEN = " │ "


class Sides(Rows):
    """The aligned list; where there is no room for both sides it shows one at a time."""

    def __init__(self) -> None:
        super().__init__(id="sides")
        self._view: CompactionView | None = None
        self._after: dict[int, AfterRow] = {}
        self._kept: list[int] = []
        self._untouched = 0
        self._summary = ""
        self._summary_tokens = 0
        self._lines: list[Content] = []
        self._aligned = Alignment(0, [], 0)
        self._aligned_width = 0
        self._is_split = True
        self._side: Side = "before"

    @property
    def message(self) -> MessageFate | None:
        """The old message in the row under the cursor, or else the kept one, if there is any."""
        if self._view is None or not self.count:
            return None
        index = self._aligned.old(self.cursor)
        index = self._aligned.new(self.cursor) if index is None else index
        return None if index is None else self._view.before[index]

    @property
    def is_on_summary(self) -> bool:
        """Whether the row under the cursor holds nothing but a line of the summary."""
        return self.message is None and self._aligned.line(self.cursor) is not None

    @property
    def side(self) -> Side | None:
        """The side that is shown alone, or None when both are."""
        return None if self._is_split else self._side

    def show_view(self, view: CompactionView, untouched: int) -> None:
        """Show both sides of this view, with so many tokens of what no compaction touches.

        The cursor stays on its message.
        """
        held = self.message
        self._view = view
        self._after = {row.before: row for row in view.after if row.before is not None}
        self._kept = list(self._after)
        self._untouched = untouched
        summaries = [row for row in view.after if row.before is None]
        if summaries:
            self._summary = view.summary
        self._summary_tokens = sum(row.tokens for row in summaries)
        self._align(held)

    def show_summary(self, text: str) -> None:
        """Show a summary that is still being written."""
        held = self.message
        self._summary = text
        self._align(held)

    def show_side(self, side: Side) -> None:
        """Choose the side for when there is no room for both."""
        held = self.message
        self._side = side
        self._align(held)

    def split(self, *, both: bool) -> None:
        """Show both sides next to each other, or one alone."""
        if both != self._is_split:
            held = self.message
            self._is_split = both
            self._align(held)

    def go_to(self, message: int) -> None:
        """Move the cursor to an old message."""
        self.show_side("before")
        self.cursor = self._aligned.row_of(message)
        top = max(0, self.cursor - self.size.height // 3)
        self.scroll_to(y=top, animate=False, immediate=True)
        self.redraw()

    def headings(self, width: int) -> Content:
        """What stands over the columns, in so many cells with the scroll bar's."""
        if self._view is None:
            return _NOTHING
        width -= self.scrollbar_size_vertical
        if self._is_split:
            left = _left_width(width)
            before = self._heading("before", left).truncate(left, pad=True)
            return Content.assemble(before, "   ", self._heading("after", width - left - 3))
        other: Side = "after" if self._side == "before" else "before"
        room = width - self._heading(other, 0).cell_length - 3
        return Content("   ").join(
            self._heading(side, room).stylize("bold $foreground")
            if side == self._side
            else self._heading(side, 0).stylize("$faint")
            for side in ("before", "after")
        )

    def _heading(self, side: Side, width: int) -> Content:
        """The tokens of a side, and as much of what it is made of as there is room for."""
        assert self._view is not None
        report = self._view.report
        if side == "before":
            title = f"Before · {format_tokens(report.tokens_before)}"
            parts = format_count(len(self._view.before), "message")
        else:
            title = f"After · {format_tokens(report.tokens_after, estimated=True)}"
            parts = self._parts_after(report)
        longer = (f"{title} tokens · {parts}", f"{title} · {parts}", title)
        return Content.styled(next((each for each in longer if len(each) <= width), title), "bold")

    def _parts_after(self, report: CompactionReport) -> str:
        """What the new context is made of; where only output is masked there is no summary."""
        kept = f"{len(self._kept):,} kept"
        if self._summary or report.summarised:
            return f"summary, then {kept}"
        return f"{kept}, {report.masked:,} of them masked" if report.masked else kept

    def _align(self, held: MessageFate | None) -> None:
        width = self.scrollable_content_region.width
        self._aligned_width = width
        if self._view is None or not width:
            return
        room = width - (_left_width(width) + len(_BETWEEN) if self._is_split else 0)
        palette = read_palette(self.app.theme_variables)
        self._lines = _draw_summary(self._summary, self._summary_tokens, room, palette)
        has_before = self._is_split or self._side == "before"
        has_after = self._is_split or self._side == "after"
        self._aligned = Alignment(
            count=len(self._view.before) if has_before else 0,
            kept=self._kept if has_after else [],
            lines=len(self._lines) if has_after else 0,
            head=1 if self._untouched else 0,
        )
        cursor = None if self.count else self._aligned.head
        if held is not None:
            cursor = self._aligned.row_of(held.index)
        self.show_rows(self._aligned.rows, cursor=cursor)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted and self._summary:
            self._align(self.message)

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._aligned_width:
            self._align(self.message)

    def draw_row(self, index: int, width: int) -> Content:
        if not self._is_split:
            draw = self._draw_old if self._side == "before" else self._draw_new
            return draw(index, width)
        left = _left_width(width)
        return Content.assemble(
            self._draw_old(index, left),
            (_BETWEEN, "$line"),
            self._draw_new(index, width - left - len(_BETWEEN)),
        )

    def _draw_old(self, row: int, width: int) -> Content:
        if row < self._aligned.head:
            return self._draw_untouched(width)
        index = self._aligned.old(row)
        if index is not None:
            return self._draw_message(index, width)
        rest = self._aligned.rest_below(row)
        told = f"  ↓ {format_count(rest, 'more message')}" if rest else ""
        return Content.styled(fit_cells(told, width), "$faint")

    def _draw_new(self, row: int, width: int) -> Content:
        if row < self._aligned.head:
            return self._draw_untouched(width)
        line = self._aligned.line(row)
        if line is not None:
            return self._lines[line]
        index = self._aligned.new(row)
        return _NOTHING if index is None else self._draw_message(index, width, self._after[index])

    def _draw_untouched(self, width: int) -> Content:
        text = fit_cells("system prompt and tools", max(1, width - 2 - _TOKENS_WIDTH))
        tokens = format_tokens(self._untouched).rjust(_TOKENS_WIDTH)
        return Content.styled(f"  {text}{tokens}", "$faint")

    def _draw_message(self, index: int, width: int, after: AfterRow | None = None) -> Content:
        assert self._view is not None
        message = self._view.before[index]
        glyph = PINNED if message.pinned else GLYPHS[message.fate]
        number = str(index + 1).rjust(len(str(len(self._view.before)))) + " "
        role_width = next(role for least, role in _ROLE_WIDTHS if width >= least)
        text_width = width - 2 - role_width - _TOKENS_WIDTH
        if text_width - len(number) < _LEAST_TEXT:
            number = ""
        text_width = max(4, text_width - len(number))
        shown = message if after is None else after
        text = first_line(shown.text, text_width * 2)
        if message.role != "tool":  # what a tool says is no Markdown
            text = without_marks(text)
        role, role_style = _ROLES.get(message.role, (message.role, ""))
        return Content.assemble(
            (f"{glyph} ", STYLES[message.fate]),
            (number, "$faint"),
            (fit_cells(clean(message.tool) or role, role_width - 1) + " ", role_style),
            (
                fit_cells(text or "(nothing)", text_width),
                "" if message.fate == "kept" else "$muted",
            ),
            (format_tokens(shown.tokens).rjust(_TOKENS_WIDTH), "$faint"),
        )


def _left_width(width: int) -> int:
    return (width - len(_BETWEEN)) // 2


def _draw_summary(summary: str, tokens: int, width: int, palette: Palette) -> list[Content]:
    """The summary under its heading; one that is very long as it was written, which is quick."""
    if not summary.strip():
        return []
    count = format_tokens(tokens) if tokens else "…"
    head = fit_cells("summary", max(1, width - 2 - _TOKENS_WIDTH))
    lines = [
        Content.assemble(
            ("◐ ", "$compaction"),
            (head, "bold $compaction"),
            (count.rjust(_TOKENS_WIDTH), "$faint"),
        )
    ]
    if len(summary) <= _MOST_DRAWN:
        canvas = Canvas(max(8, width - 2), palette, Languages())
        drawn = draw_markdown(clean(summary).strip("\n"), canvas)
        return [*lines, *(Content.assemble("  ", *map(_part_of, row)) for row in drawn)]
    for paragraph in clean(summary).expandtabs(4).split("\n"):
        style = "bold" if paragraph.startswith("#") else ""
        wrapped = Content.styled(paragraph, style).wrap(max(8, width - 2)) or [Content("")]
        lines += [Content.assemble("  ", line) for line in wrapped]
    return lines


def _part_of(segment: Segment) -> Content:
    return Content.from_rich_text(Text(segment.text, segment.style or ""))
