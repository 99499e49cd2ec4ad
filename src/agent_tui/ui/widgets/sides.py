"""Both sides of a compaction in one list: old messages at the left, the new context at the right.

The summary stands beside the longest run of messages that it replaces; every kept message stands
beside itself. A row is found by arithmetic, so that ten thousand messages cost nothing to align.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal, TypeAlias

from textual.content import Content

from agent_tui.core.summary import CompactionView, MessageFate
from agent_tui.core.text import clean, first_line
from agent_tui.ui.format import format_count, format_tokens
from agent_tui.ui.widgets.fates import GLYPHS, PINNED, STYLES
from agent_tui.ui.widgets.rows import Rows, fit_cells

Side: TypeAlias = Literal["before", "after"]

_TOKENS_WIDTH = 6
_ROLE_WIDTH = 8
_ROLES = {
    "user": ("user", "$user"),
    "assistant": ("agent", "$assistant"),
    "tool": ("tool", "$tool"),
    "summary": ("summary", "$compaction"),
}
_NOTHING = Content("")


class Sides(Rows):
    """The aligned list; below ``wide`` it shows one side at a time."""

    def __init__(self) -> None:
        super().__init__(id="sides")
        self._view: CompactionView | None = None
        self._summary = ""
        self._summary_tokens = 0
        self._lines: list[Content] = []
        self._lines_width = 0
        self._start = 0
        self._run = 0
        self._is_split = True
        self._side: Side = "before"
        self._kept: list[int] = []

    @property
    def message(self) -> MessageFate | None:
        """The old message under the cursor, if there is one in that row."""
        index = self._message_in(self.cursor)
        return self._view.before[index] if self._view is not None and index >= 0 else None

    @property
    def side(self) -> Side | None:
        """The side that is shown alone, or None when both are."""
        return None if self._is_split else self._side

    def show_view(self, view: CompactionView) -> None:
        """Show both sides of this view; the cursor stays on its message."""
        held = self.message
        self._view = view
        self._start, self._run = _longest_gone_run(view)
        self._summary = view.summary or self._summary
        self._summary_tokens = sum(row.tokens for row in view.after if row.before is None)
        self._align(held.index if held is not None else None)

    def show_summary(self, text: str) -> None:
        """Show a summary that is still being written."""
        held = self.message
        self._summary = text
        self._align(held.index if held is not None else None)

    def show_side(self, side: Side) -> None:
        """Choose the side for when there is no room for both."""
        held = self.message
        self._side = side
        self._align(held.index if held is not None else None)

    def split(self, *, both: bool) -> None:
        """Show both sides next to each other, or one alone."""
        held = self.message
        self._is_split = both
        self._align(held.index if held is not None else None)

    def go_to(self, message: int) -> None:
        """Move the cursor to an old message."""
        self.show_side("before")
        self.cursor = self._row_of(message)
        top = max(0, self.cursor - self.size.height // 3)
        self.scroll_to(y=top, animate=False, immediate=True)
        self.redraw()

    def headings(self, width: int) -> Content:
        """What stands over the columns."""
        if self._view is None:
            return _NOTHING
        before, after = self._heading("before"), self._heading("after")
        if not self._is_split:
            marked = [(before, "before"), (after, "after")]
            return Content("   ").join(
                [
                    text.stylize("bold $foreground" if side == self._side else "$faint")
                    for text, side in marked
                ]
            )
        left = _left_width(width)
        return Content.assemble(before.truncate(left, pad=True), ("   ", "$line"), after)

    def _heading(self, side: Side) -> Content:
        assert self._view is not None
        view = self._view
        count = len(view.before) if side == "before" else view.report.kept + 1
        report = view.report
        tokens = report.tokens_before if side == "before" else report.tokens_after
        text = f"{side.title()} · {format_tokens(tokens, estimated=side == 'after')}"
        if self.size.width >= 56:
            text += f" tokens · {format_count(count, 'message')}"
        return Content.styled(text, "bold")

    def _align(self, message: int | None) -> None:
        width = self.scrollable_content_region.width
        if self._view is None or not width:
            return
        self._lines_width = width
        room = width - (_left_width(width) + 3 if self._is_split else 0)
        self._lines = _wrap_summary(self._summary, self._summary_tokens, room)
        self._kept = [each.index for each in self._view.before if each.fate == "kept"]
        rows = len(self._kept) + len(self._lines)
        if self._shows_before:
            rows = len(self._view.before) + self._extra
        self.show_rows(rows, cursor=None if message is None else self._row_of(message))

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._lines_width:
            held = self.message
            self._align(held.index if held is not None else None)
        super().on_resize()

    @property
    def _shows_before(self) -> bool:
        return self._is_split or self._side == "before"

    @property
    def _extra(self) -> int:
        """Rows in which only the summary stands, because it is longer than what it replaces."""
        return max(0, len(self._lines) - self._run) if self._is_split else 0

    def _row_of(self, message: int) -> int:
        if self._shows_before:
            return message if message < self._start + self._run else message + self._extra
        place = bisect_left(self._kept, message)
        return place if message < self._start else place + len(self._lines)

    def _message_in(self, row: int) -> int:
        """The index of the old message in a row, or -1."""
        if self._view is None:
            return -1
        if self._shows_before:
            if row < self._start + self._run:
                return row
            return -1 if row < self._start + self._run + self._extra else row - self._extra
        place = row if row < self._first_line else row - len(self._lines)
        is_line = self._first_line <= row < self._first_line + len(self._lines)
        return -1 if is_line or place >= len(self._kept) else self._kept[place]

    @property
    def _first_line(self) -> int:
        """The row in which the summary begins."""
        return self._start if self._is_split else bisect_left(self._kept, self._start)

    def draw_row(self, index: int, width: int) -> Content:
        if not self._is_split:
            draw = self._draw_before if self._side == "before" else self._draw_after
            return draw(index, width)
        left = _left_width(width)
        return Content.assemble(
            self._draw_before(index, left),
            (" │ ", "$line"),
            self._draw_after(index, width - left - 3),
        )

    def _draw_before(self, row: int, width: int) -> Content:
        index = self._message_in(row)
        if index < 0 or self._view is None:
            return Content(" " * width)
        message = self._view.before[index]
        glyph = PINNED if message.pinned else GLYPHS[message.fate]
        return _draw_message(message, glyph, STYLES[message.fate], width)

    def _draw_after(self, row: int, width: int) -> Content:
        line = row - self._first_line
        if 0 <= line < len(self._lines):
            return self._lines[line]
        index = self._message_in(row)
        if index < 0 or self._view is None or self._view.before[index].fate != "kept":
            return _NOTHING
        return _draw_message(self._view.before[index], GLYPHS["kept"], STYLES["kept"], width)


def _left_width(width: int) -> int:
    return (width - 3) // 2


def _draw_message(message: MessageFate, glyph: str, style: str, width: int) -> Content:
    text_width = max(4, width - 2 - _ROLE_WIDTH - _TOKENS_WIDTH)
    text = first_line(message.text, text_width * 2) or "(nothing)"
    role, role_style = _ROLES.get(message.role, (message.role, ""))
    return Content.assemble(
        (f"{glyph} ", style),
        (role[: _ROLE_WIDTH - 1].ljust(_ROLE_WIDTH), role_style),
        (fit_cells(text, text_width), "" if message.fate == "kept" else "$muted"),
        (format_tokens(message.tokens).rjust(_TOKENS_WIDTH), "$faint"),
    )


def _longest_gone_run(view: CompactionView) -> tuple[int, int]:
    """Where the longest run of messages that go begins, and how long it is."""
    best = (0, 0)
    start = 0
    for index, message in enumerate((*view.before, None)):
        if message is None or message.fate == "kept":
            if index - start > best[1]:
                best = (start, index - start)
            start = index + 1
    return best


def _wrap_summary(summary: str, tokens: int, width: int) -> list[Content]:
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
    for paragraph in clean(summary).expandtabs(4).split("\n"):
        style = "bold" if paragraph.startswith("#") else ""
        wrapped = Content.styled(paragraph, style).wrap(max(8, width - 2)) or [Content("")]
        lines += [Content.assemble("  ", line) for line in wrapped]
    return lines
