"""What is on screen but no longer in the context: the same drawing, without its colours."""

from __future__ import annotations

from dataclasses import replace

from rich.segment import Segment

from agent_tui.core.format import format_count
from agent_tui.ui.blocks import EarlierHeadBlock
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import Drawing, Parts
from agent_tui.ui.renderers.lines import Line


def draw_earlier_head(block: EarlierHeadBlock, canvas: Canvas, *, active: bool) -> Drawing:
    """One row that says what is below it, and folds it."""
    palette = canvas.palette
    sign = "▸" if block.folded else "▾"
    count = format_count(block.messages, "message")
    label = [
        Segment(f"{sign} {count} from before the compaction, not in the context", palette.muted)
    ]
    note = [Segment("show" if block.folded else "fold", palette.muted)] if active else []
    return Drawing([Parts(label, note).fit(canvas.width)])


def dim(drawing: Drawing, canvas: Canvas) -> Drawing:
    """A drawing in the quietest colour."""
    faint, line = canvas.palette.faint, canvas.palette.line

    def quiet(segment: Segment) -> Segment:
        if segment.style == line:
            return segment  # a rule is quieter still
        return Segment(segment.text, faint if segment.style is None else segment.style + faint)

    rows: list[Line] = [[quiet(segment) for segment in row] for row in drawing.rows]
    return replace(
        drawing, rows=rows, sign=quiet(drawing.sign), rail=quiet(drawing.rail), surface=None
    )
