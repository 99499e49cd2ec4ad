"""A command that a person ran: its own mark, what it printed, and how it ended."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style

from agent_tui.core.format import format_count, format_exit
from agent_tui.core.shell import SHELL_INTERRUPTED, without_exit_line
from agent_tui.core.text import reveal
from agent_tui.core.words import OUTCOMES
from agent_tui.ui.blocks import ShellBlock
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.diff import draw_changed
from agent_tui.ui.renderers.drawing import Drawing, Parts
from agent_tui.ui.renderers.lines import Line, wrap_text
from agent_tui.ui.renderers.output import Ends, count_lines, draw_output

_FOLDED = Ends(2, 6)


def draw_shell(block: ShellBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    """The command, then the first and last rows that it printed; all of them when opened."""
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
            count = count_lines(_printed(block))
            changed = draw_changed(block.changed, canvas)
            return changed or [Segment(f" {format_count(count, 'line')}", palette.faint)]


def _body(block: ShellBlock, canvas: Canvas, *, expanded: bool) -> list[Line]:
    output = block.output.rstrip() if expanded else _printed(block)
    if not output.strip():
        return []
    return draw_output(
        output,
        canvas.palette.muted,
        canvas,
        folded=_FOLDED,
        expanded=expanded,
        is_growing=block.state == "running",
    )


def _printed(block: ShellBlock) -> str:
    """What the command printed, without the line that says how it ended: its row does."""
    if block.state == "interrupted":
        return block.output.rstrip().removesuffix(SHELL_INTERRUPTED).rstrip()
    return without_exit_line(block.output, block.exit_code)
