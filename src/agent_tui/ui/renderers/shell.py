"""A command that a person ran: its own mark, what it printed, and how it ended."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style

from agent_tui.core.format import format_count, format_exit
from agent_tui.core.shell import SHELL_INTERRUPTED
from agent_tui.core.text import clean, reveal
from agent_tui.core.words import OUTCOMES
from agent_tui.ui.blocks import ShellBlock
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.diff import draw_changed
from agent_tui.ui.renderers.drawing import Drawing, Parts
from agent_tui.ui.renderers.lines import Line, wrap_text
from agent_tui.ui.renderers.long_text import fold

_FOLDED_ROWS = 8
_MOST_LINES = 2_000
_LONGEST_LINE = 20_000


def draw_shell(block: ShellBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    """The command, then the last rows that it printed; all of them when opened."""
    palette = canvas.palette
    failed = block.state in ("error", "interrupted")
    colour = palette.danger if failed else palette.attention
    body = _body(block, canvas, expanded=expanded)
    rail = Segment("│" if body else " ", palette.line)
    command = Segment(" ".join(reveal(block.command).split()), palette.text + Style(bold=True))
    head = Parts([command], _facts(block, canvas)).fit(canvas.width)
    whole = [head] if not expanded else _whole(block, canvas)
    return Drawing([*whole, *body], Segment("!", colour + Style(bold=True)), rail)


def _whole(block: ShellBlock, canvas: Canvas) -> list[Line]:
    style = canvas.palette.text + Style(bold=True)
    return [[Segment(row, style)] for row in wrap_text(reveal(block.command), canvas.width)]


def _facts(block: ShellBlock, canvas: Canvas) -> Line:
    palette = canvas.palette
    match block.state:
        case "running":
            return [Segment(" running", palette.attention)]
        case "interrupted":
            return [Segment(f" {OUTCOMES[block.state]}", palette.danger)]
        case "error":
            code = "" if block.exit_code is None else f" {format_exit(block.exit_code)}"
            return [Segment(code or f" {OUTCOMES[block.state]}", palette.danger)]
        case _:
            output = block.output.rstrip()
            count = output.count("\n") + 1 if output else 0
            changed = draw_changed(block.changed, canvas)
            return changed or [Segment(f" {format_count(count, 'line')}", palette.faint)]


def _body(block: ShellBlock, canvas: Canvas, *, expanded: bool) -> list[Line]:
    output = block.output.rstrip()
    if block.state == "interrupted" and not expanded:  # the row says so
        output = output.removesuffix(SHELL_INTERRUPTED).rstrip()
    if not output.strip():
        return []
    lines = output.split("\n")
    rows: list[Line] = [
        [Segment(row, canvas.palette.muted)]
        for line in lines[-_MOST_LINES:]
        for row in wrap_text(clean(line[:_LONGEST_LINE]), canvas.width)
    ]
    return fold(rows, _FOLDED_ROWS, canvas, expanded=expanded, tail=True)
