"""The answer that is being written: only its last piece is drawn again as it grows."""

from __future__ import annotations

import time
from time import monotonic

from rich.segment import Segment

from agent_tui.core.text import clean
from agent_tui.ui.blocks import AssistantBlock
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import assemble
from agent_tui.ui.renderers.lines import Line, Row, wrap_text
from agent_tui.ui.renderers.long_text import GLANCE_CHARS, MOST_CHARS, MOST_ROWS
from agent_tui.ui.renderers.markdown import MarkdownWriter
from agent_tui.ui.renderers.message import draw_thinking, join_answer

_LIVE_THINKING_ROWS = 6
_LIVE_THINKING_TEXT = 1_500
_FRAME_SECONDS = 0.010
_SLICE_CHARS = 2_000
_BACKLOG_CHARS = 64_000


class OpenAnswer:
    """Collects the pieces of an answer and keeps its rows, most of them final.

    ``advance`` draws what came since it was last called, as far as a frame has time; its cost
    does not grow with the answer. Of a flood only the end is drawn.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.expanded = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._thinking_since: float | None = None
        self._thought_seconds = 0.0
        self._held = ""
        self._canvas: Canvas | None = None
        self._width = 0
        self._writer: MarkdownWriter | None = None
        self._fed = 0
        self._final_lines = 0
        self._final_drawn = 0
        self._changed = False
        self._pending = ""
        self._length = 0
        self._skipped = False

    def add_text(self, text: str) -> None:
        """More of the answer."""
        self.end_thinking()
        self._text.append(text)
        self._length += len(text)
        self._changed = True

    def add_thinking(self, text: str) -> None:
        """More of the reasoning."""
        if self._thinking_since is None:
            self._thinking_since = monotonic()
        self._thinking.append(text)
        self._changed = True

    def end_thinking(self) -> None:
        """The reasoning ended: something else follows."""
        if self._thinking_since is not None:
            self._thought_seconds += monotonic() - self._thinking_since
            self._thinking_since = None

    @property
    def is_behind(self) -> bool:
        """Whether the rows are not those of the whole answer, nor soon could be."""
        waiting = len(self._pending) + sum(map(len, self._text[self._fed :]))
        is_long = self._length > MOST_CHARS or len(self.rows) > MOST_ROWS
        return self._skipped or is_long or waiting > GLANCE_CHARS

    @property
    def shows_its_end(self) -> bool:
        """Whether what is drawn, though it may not be all, reaches to the last word."""
        return not self._pending and self._fed == len(self._text)

    @property
    def block(self) -> AssistantBlock:
        """The answer so far."""
        text = "".join(self._text)
        if len(self._text) == self._fed > 1:  # an answer of megabytes is joined once
            self._text, self._fed = [text], 1
        seconds = round(self._thought_seconds)
        return AssistantBlock(text, self._whole_thinking(), thought_seconds=seconds)

    def place(self, canvas: Canvas, width: int, *, whole: bool = False) -> None:
        """Draw on this canvas from now on, starting over; ``whole``: all of it before returning."""
        self._canvas, self._width = canvas, width
        self._writer = MarkdownWriter(canvas)
        self._fed = self._final_lines = self._final_drawn = 0
        self._held = self._pending = ""
        self._skipped = False
        self.rows = []
        self._changed = True
        if whole and self._text and self._length <= MOST_CHARS:
            self._feed(float("inf"))
        self.advance()

    def advance(self) -> bool:
        """Draw what is new; False where nothing came."""
        if not self._changed or self._canvas is None or self._writer is None:
            return False
        self._changed = False
        if not self._text:
            self._draw_live_thinking(self._canvas)
            return True
        self._feed(time.perf_counter() + _FRAME_SECONDS)
        self._changed = bool(self._pending)
        tail = self._writer.preview()
        if not self._final_drawn:
            self._draw_all(self._canvas, [*self._writer.lines, *tail])
            self._final_lines = len(self._writer.lines)
            self._final_drawn = len(self.rows) - len(tail) if self._final_lines else 0
        else:
            self._draw_new(self._writer, tail)
        return True

    def finish(self) -> list[Row]:
        """The rows of the whole answer, drawn as any answer is."""
        if self._canvas is None or self._writer is None:
            return []
        if self._text:
            self._feed(float("inf"))
        lines = self._writer.finish()
        if self._final_drawn:
            self._draw_new(self._writer, [])
        else:
            self._draw_all(self._canvas, lines)
        return self.rows

    def _feed(self, until: float) -> None:
        """Let the writer read what came, until a time."""
        self._pending += "".join(self._text[self._fed :])
        self._fed = len(self._text)
        if len(self._pending) > _BACKLOG_CHARS and until != float("inf"):
            self._skip_to_the_end()
        assert self._writer is not None
        while self._pending:
            fresh = self._held + self._pending[:_SLICE_CHARS]
            self._pending = self._pending[_SLICE_CHARS:]
            self._held = "\r" if fresh.endswith("\r") else ""
            self._writer.feed(clean(fresh.removesuffix("\r")))
            if time.perf_counter() > until:
                break

    def _skip_to_the_end(self) -> None:
        """More came than can be drawn: continue with its end, below what was drawn so far."""
        assert self._canvas is not None
        self._pending = self._pending[-GLANCE_CHARS:].partition("\n")[2] or "…"
        self._writer = MarkdownWriter(self._canvas)
        self._skipped = True
        del self.rows[min(self._final_drawn, MOST_ROWS) :]
        note: Line = [Segment("…", self._canvas.palette.faint)]
        self.rows.extend(self._finish([[], note, []]))
        self._final_lines, self._final_drawn = 0, len(self.rows)

    def _draw_all(self, canvas: Canvas, lines: list[Line]) -> None:
        thinking = draw_thinking(
            self._whole_thinking(),
            canvas,
            expanded=self.expanded,
            seconds=round(self._thought_seconds),
        )
        drawing = join_answer(thinking, lines, canvas)
        self.rows = assemble(drawing, self._width, canvas.palette.base)

    def _whole_thinking(self) -> str:
        """All the reasoning, joined once however often it is asked for."""
        if len(self._thinking) > 1:
            self._thinking = ["".join(self._thinking)]
        return "".join(self._thinking)

    def _draw_new(self, writer: MarkdownWriter, tail: list[Line]) -> None:
        assert self._canvas is not None
        del self.rows[self._final_drawn :]
        self.rows.extend(self._finish(writer.lines[self._final_lines :]))
        self._final_lines = len(writer.lines)
        self._final_drawn = len(self.rows)
        self.rows.extend(self._finish(tail))

    def _finish(self, lines: list[Line]) -> list[Row]:
        assert self._canvas is not None
        drawing = join_answer([], lines, self._canvas)
        return assemble(drawing, self._width, self._canvas.palette.base)[drawing.space :]

    def _draw_live_thinking(self, canvas: Canvas) -> None:
        text = clean("".join(self._thinking[-_LIVE_THINKING_TEXT:])[-_LIVE_THINKING_TEXT:]).strip()
        style = canvas.palette.thinking
        rows: list[Line] = [
            [Segment(row, style)]
            for row in wrap_text(text, canvas.prose_width)[-_LIVE_THINKING_ROWS:]
        ]
        drawing = join_answer(rows if text else [], [], canvas)
        self.rows = assemble(drawing, self._width, canvas.palette.base)
