"""Messages: what was said to the agent, what it thought, and what it answered."""

from __future__ import annotations

from dataclasses import replace

from rich.segment import Segment

from agent_tui.core.format import format_duration
from agent_tui.core.text import clean, first_line
from agent_tui.ui.blocks import AssistantBlock, UserBlock
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import NOTHING, Drawing, Parts
from agent_tui.ui.renderers.lines import Line, line_cells, wrap_text
from agent_tui.ui.renderers.long_text import draw_text, fold, shorten

_PROMPT_HEAD = 16
_PROMPT_TAIL = 8
"""Who pastes a file asks about it below."""
_GONE = "answer summarised"
_SUMMARY_ROWS = 6
_LABELS = {
    "steer": "sent while the agent worked",
    "compaction": "summary of what came before",
    "branch": "summary of another branch",
    "checkpoint": "checkpoint notice",
    "reminder": "Told the agent",
    "agent": "from another agent",
    "import": "imported",
}


def draw_user(block: UserBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    """A prompt on its surface; what a program said in a person's name stays small."""
    if block.origin == "dmail":
        return _draw_dmail(block, canvas, expanded=expanded)
    if block.origin in ("reminder", "checkpoint"):
        return _draw_aside(block, canvas, expanded=expanded)
    if block.origin in ("compaction", "branch"):
        return _draw_summary(block, canvas, expanded=expanded)
    palette = canvas.palette
    text = clean(shorten(block.text.rstrip())) or ("" if block.media else "(empty)")
    rows: list[Line] = [[Segment(row, palette.text)] for row in wrap_text(text, canvas.prose_width)]
    rows = rows if text else []
    rows = fold(rows, _PROMPT_HEAD, canvas, expanded=expanded, tail=_PROMPT_TAIL)
    rows += _draw_media(block, canvas, expanded=expanded)
    label = _LABELS.get(block.origin, "")
    if block.lost_its_answer and rows:
        gone = [Segment(_GONE, palette.faint)]
        fits = line_cells(rows[0]) + len(_GONE) < canvas.width
        rows[0] = Parts(rows[0], gone).fit(canvas.width) if fits else rows[0]
    if label:
        rows.append([Segment(label, palette.faint)])
    bar = Segment("▌", palette.user)
    return Drawing(rows, bar, bar, palette.user_surface)


def _draw_aside(block: UserBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    palette = canvas.palette
    sign = Segment("·", palette.faint)
    if expanded:
        rows: list[Line] = [
            [Segment(row, palette.muted)]
            for row in wrap_text(clean(shorten(block.text)), canvas.width)
        ]
        return Drawing([*rows, *_draw_media(block, canvas, expanded=True)], sign)
    line = f"{_LABELS[block.origin]}: {first_line(block.text, canvas.width)}"
    said = Parts([Segment(line, palette.faint)]).fit(canvas.width)
    return Drawing([said, *_draw_media(block, canvas, expanded=False)], sign)


def _draw_media(block: UserBlock, canvas: Canvas, *, expanded: bool) -> list[Line]:
    if not block.media:
        return []
    from agent_tui.ui.renderers.media import draw_media  # few conversations have any

    return draw_media(block.media, canvas, expanded=expanded)


def _draw_dmail(block: UserBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    """A D-Mail's text; the row above says which checkpoint it went to."""
    palette = canvas.palette
    at = "" if block.checkpoint is None else f" at checkpoint {block.checkpoint}"
    head = Segment(f"D-Mail to itself{at}: ", palette.checkpoint)
    sign, rail = Segment("✉", palette.checkpoint), Segment(" ")
    if not expanded:
        said = Segment(first_line(block.text, canvas.width), palette.muted)
        return Drawing([Parts([head, said]).fit(canvas.width)], sign, rail)
    rows: list[Line] = [
        [Segment(row, palette.muted)]
        for row in wrap_text(clean(shorten(block.text)), canvas.prose_width)
    ]
    return Drawing([[head], *rows], sign, rail)


def _draw_summary(block: UserBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    palette = canvas.palette
    rail = Segment("│", palette.compaction)
    rows, _ = draw_text(block.text.strip(), canvas, glance=not expanded)
    if not expanded:
        rows = [row for row in rows if any(segment.text.strip() for segment in row)]
    rows = fold(rows, _SUMMARY_ROWS, canvas, expanded=expanded)
    return Drawing([[Segment(_LABELS[block.origin], palette.compaction)], *rows], rail, rail)


def draw_assistant(
    block: AssistantBlock, canvas: Canvas, *, expanded: bool, glance: bool = False
) -> Drawing:
    """An answer in Markdown, under one line about the thinking that led to it.

    ``glance``: only the ends of a long one, because somebody waits.
    """
    answer: list[Line] = []
    gap = -1
    if block.text and not block.text.isspace():
        answer, gap = draw_text(block.text, canvas, glance=glance)
    thinking = draw_thinking(
        block.thinking, canvas, expanded=expanded, seconds=block.thought_seconds
    )
    drawing = join_answer(thinking, answer, canvas)
    if gap >= 0:
        drawing = replace(drawing, gap=gap + len(drawing.rows) - len(answer))
    if block.calls:
        from agent_tui.ui.renderers.tool import draw_tool  # not for the first answer

        for call in block.calls:
            room = replace(canvas, width=canvas.width - 2) if drawing.rows else canvas
            drawing = _add_call(drawing, draw_tool(call, room, expanded=expanded))
    return drawing


def join_answer(thinking: list[Line], answer: list[Line], canvas: Canvas) -> Drawing:
    """Thinking and answer as one block."""
    if not thinking and not answer:
        return NOTHING
    if not thinking:
        return Drawing(answer)
    rows = [*thinking, [], *answer] if answer else thinking
    return Drawing(rows, Segment("✻", canvas.palette.thinking))


def _add_call(drawing: Drawing, call: Drawing) -> Drawing:
    """An unanswered call below the text; its sign moves into its row, the gutter is taken."""
    head, *body = call.rows
    marked = [call.sign, Segment(" "), *head]
    if not drawing.rows:
        return call
    return replace(drawing, rows=[*drawing.rows, [], marked, *body])


def draw_thinking(thinking: str, canvas: Canvas, *, expanded: bool, seconds: int = 0) -> list[Line]:
    """One line once it is done, with how long it took; all of it when opened."""
    if not thinking or thinking.isspace():
        return []
    style, faint = canvas.palette.thinking, canvas.palette.faint
    label = f"thought for {format_duration(seconds)}" if seconds else "thought"
    if expanded:
        rows = wrap_text(clean(shorten(thinking)).strip(), canvas.prose_width)
        lines: list[Line] = [[Segment(row, style)] for row in rows]
        return [[Segment(label, faint)], *lines] if seconds else lines
    glance = first_line(thinking, canvas.prose_width)
    return [Parts([Segment(f"{label}  ", faint), Segment(glance, style)]).fit(canvas.prose_width)]
