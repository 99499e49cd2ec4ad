"""Tool calls: one line that says what, then a few rows of what came of it."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style

from agent_tui.core.arguments import show_arguments
from agent_tui.core.format import format_count, format_exit
from agent_tui.core.messages import CommandDisplay, DiffDisplay
from agent_tui.core.shell import without_exit_line
from agent_tui.core.text import reveal
from agent_tui.core.words import INTERRUPTED, OUTCOMES
from agent_tui.ui.blocks import ToolBlock, ToolState
from agent_tui.ui.renderers.call_subject import describe_call
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.diff import count_changes, draw_changed, draw_diff
from agent_tui.ui.renderers.drawing import Drawing, Parts
from agent_tui.ui.renderers.lines import Line, wrap_text
from agent_tui.ui.renderers.long_text import shorten
from agent_tui.ui.renderers.output import NOT_SHOWN, Ends, count_lines, draw_output

_FOLDED = Ends(3, 1)
_FOLDED_COMMAND = Ends(1, 3)
"""What went wrong stands at the end."""
_FOLDED_DIFF = Ends(8, 4)
_OPEN_DIFF = Ends(1_000, 1_000)
_LONGEST_SUBJECT = 2_000
_NOTES: dict[ToolState, str] = {
    "pending": "writes",
    "queued": "waits its turn",
    "approval": "waits for your approval",
    "question": "waits for your answer",
    "running": "running",
    "interrupted": OUTCOMES["interrupted"],
    "rejected": OUTCOMES["rejected"],
}


def draw_tool(block: ToolBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    """A call with its state, its subject, and its result: folded to a few rows or whole."""
    head = _draw_head(block, canvas)
    body = _draw_arguments(block, canvas) if expanded else []
    body += _draw_result(block, canvas, expanded=expanded)
    rail = Segment("│" if body else " ", canvas.palette.line)
    return Drawing([head, *body], _sign(block, canvas), rail)


def _sign(block: ToolBlock, canvas: Canvas) -> Segment:
    palette = canvas.palette
    text, style = {
        "pending": ("○", palette.muted),
        "queued": ("○", palette.muted),
        "approval": ("?", palette.attention + Style(bold=True)),
        "question": ("?", palette.attention + Style(bold=True)),
        "running": ("◐", palette.tool),
        "ok": ("●", palette.ok),
        "error": ("✗", palette.danger),
        "interrupted": ("⊘", palette.attention),
        "rejected": ("⊗", palette.attention),
    }[block.state]
    match block.display:
        case CommandDisplay(exit_code=code) if code and block.state == "ok":
            style = palette.danger
    return Segment(text, style)


def _draw_head(block: ToolBlock, canvas: Canvas) -> Line:
    palette = canvas.palette
    name = Segment(f"{reveal(block.name)} ", palette.tool + Style(bold=True))
    about = describe_call(block.name, block.arguments)
    subject = " ".join(reveal(about[:_LONGEST_SUBJECT]).split())
    return Parts([name, Segment(subject, palette.text)], _facts(block, canvas)).fit(canvas.width)


def _facts(block: ToolBlock, canvas: Canvas) -> Line:
    """The result in two words, at the right edge."""
    palette = canvas.palette
    if block.state in _NOTES:
        quiet = {"pending": palette.muted, "queued": palette.muted, "running": palette.tool}
        style = quiet.get(block.state)
        written = format_count(block.written, "character")
        size = f" {written}" if block.state == "pending" else ""
        return [Segment(f" {_NOTES[block.state]}{size}", style or palette.attention)]
    if changed := draw_changed(block.changed, canvas):
        match block.display:
            case CommandDisplay(exit_code=code) if code:
                return [Segment(f" {format_exit(code)}", palette.danger), *changed]
        return changed
    match block.display:
        case DiffDisplay(_, diff):
            added, removed = count_changes(diff)
            return [Segment(f" +{added}", palette.added), Segment(f" -{removed}", palette.removed)]
        case CommandDisplay(exit_code=code) if code:
            return [Segment(f" {format_exit(code)}", palette.danger)]
    if block.state == "error":
        return [Segment(" failed", palette.danger)]
    return [Segment(f" {format_count(count_lines(_printed(block)), 'line')}", palette.faint)]


def _draw_arguments(block: ToolBlock, canvas: Canvas) -> list[Line]:
    """Every field of an opened call; a command whole, a diff in its own rows instead."""
    if isinstance(block.display, DiffDisplay):
        return []
    palette = canvas.palette
    if isinstance(block.display, CommandDisplay) and block.display.command:
        rows = wrap_text(reveal(block.display.command), canvas.width - 2)
        mark = [Segment("$ ", palette.faint)]
        lines = [
            [*(mark if not n else [Segment("  ")]), Segment(row, palette.text)]
            for n, row in enumerate(rows)
        ]
        return [*lines, []] if block.output.strip() else lines
    fields = show_arguments(block.arguments)
    if not fields:
        return [
            [Segment(row, palette.muted)]
            for row in wrap_text(reveal(shorten(block.arguments)), canvas.width)
        ]
    lines = []
    for key, value in fields.items():
        head = f"{reveal(key)}: "
        rows = wrap_text(reveal(shorten(value)), max(8, canvas.width - len(head)))
        for number, row in enumerate(rows):
            lead = Segment(" " * len(head) if number else head, palette.faint)
            lines.append([lead, Segment(row, palette.muted)])
    return [*lines, []] if block.output.strip() else lines


def _draw_result(block: ToolBlock, canvas: Canvas, *, expanded: bool) -> list[Line]:
    palette = canvas.palette
    if block.state == "approval" and not block.output and not expanded:
        return []  # the question below shows it whole; here is room for what led to it
    if isinstance(block.display, DiffDisplay) and block.state != "error":
        ends, hint = (_OPEN_DIFF, NOT_SHOWN) if expanded else (_FOLDED_DIFF, "")
        return draw_diff(block.display.path, block.display.diff, canvas, ends, hint)
    output = block.output.rstrip() if expanded else _printed(block)
    if not output.strip():
        return []
    return draw_output(
        output,
        palette.danger if block.state == "error" else palette.muted,
        canvas,
        folded=_FOLDED_COMMAND if isinstance(block.display, CommandDisplay) else _FOLDED,
        expanded=expanded,
        is_growing=block.state in ("running", "approval"),
    )


def _printed(block: ToolBlock) -> str:
    """What came of the call, without what only the model need be told: its row says it."""
    match block.display:
        case CommandDisplay(exit_code=int(code)):
            return without_exit_line(block.output, code)
    output = block.output.rstrip()
    return output.removesuffix(INTERRUPTED).rstrip() if block.state == "interrupted" else output
