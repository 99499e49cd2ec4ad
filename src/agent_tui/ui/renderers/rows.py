"""Rows across the screen: checkpoints and other markers, damage, notices, unknown records."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agent_tui.core.format import format_clock, format_count, format_tokens
from agent_tui.core.text import clean
from agent_tui.core.words import describe_compaction, describe_revert, describe_switch
from agent_tui.ui.blocks import (
    BranchBlock,
    CheckpointBlock,
    CompactionBlock,
    DamageBlock,
    LabelBlock,
    NoticeBlock,
    RevertBlock,
    UnknownBlock,
)
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import GUTTER, MARGIN_RIGHT, Drawing, Parts
from agent_tui.ui.renderers.lines import Line, crop_text, wrap_text

_IN_TREE = "see it in the tree"
_RULE_CELLS = 5 + MARGIN_RIGHT - GUTTER
"""The cells of its row that a rule takes at least, beside its label and its note."""


def draw_checkpoint(block: CheckpointBlock, canvas: Canvas, *, active: bool) -> Drawing:
    """A rule before a prompt; inside a turn a note at the right edge, until it is pointed at."""
    palette = canvas.palette
    facts = [format_clock(block.at)]
    if block.tokens is not None:
        facts.insert(0, f"{format_tokens(block.tokens, estimated=block.estimated)} tokens")
    note = " · ".join(fact for fact in facts if fact)
    if block.step and not active:
        quiet = [Segment(f"◇ {block.id}", palette.faint)]
        return Drawing([Parts([], quiet).fit(canvas.width)], space=0)
    if active:
        bold = palette.checkpoint + Style(bold=True)
        label = [Segment(f"◆ {block.id} ", bold), Segment("revert here ", palette.checkpoint)]
        if sum(cell_len(part.text) for part in label) + cell_len(note) > canvas.width - _RULE_CELLS:
            note = format_clock(block.at)  # what a click does is never cut off
        row = _rule(label, note, canvas, palette.checkpoint)
    else:
        row = _rule([Segment(f"◇ {block.id} ", palette.checkpoint)], note, canvas, palette.line)
    return Drawing([row], space=0 if block.step else 1, wide=True)


def draw_compaction(block: CompactionBlock, canvas: Canvas, *, active: bool) -> Drawing:
    """What a compaction did, in one row; it opens both sides."""
    palette = canvas.palette
    style = palette.compaction + Style(bold=active)
    label = [Segment("≡ ", style)]
    if block.archive:
        done = describe_compaction(block.tokens_before, block.tokens_after)
        label.append(Segment(f"{done} ", style))
    else:
        label.append(Segment(f"compacting {format_tokens(block.tokens_before)} tokens … ", style))
    if block.fallback:
        label.append(Segment("by the fallback ", palette.attention))
    gone = [
        f"{block.summarised} summarised" if block.summarised else "",
        f"{block.dropped} dropped" if block.dropped else "",
    ]
    lost = format_count(block.losses, "loss", "losses") if block.losses else ""
    notes = ["open before/after"] if active and block.archive else gone
    note = " · ".join(filter(None, (*notes, lost)))
    return Drawing([_rule(label, note, canvas, style if active else palette.line)], wide=True)


def draw_revert(block: RevertBlock, canvas: Canvas, *, active: bool) -> Drawing:
    """Where the log went back, and which archive holds what left."""
    palette = canvas.palette
    done = clean(describe_revert(block.reason, block.checkpoint, block.of))
    style = palette.checkpoint + Style(bold=active)
    label = [Segment(f"↶ {done} ", style)]
    archive, again = f"archive {block.archive}", _tell_repeats(block)
    note = f"open {archive}" if active else " · ".join(filter(None, (again, archive)))
    rule_style = style if active else palette.line
    return Drawing([_rule(label, note, canvas, rule_style)], wide=True)


def draw_branch(block: BranchBlock, canvas: Canvas, *, active: bool) -> Drawing:
    """Where another branch was left for this one; the tree shows both."""
    palette = canvas.palette
    deed = describe_switch(block.reason)
    style = palette.checkpoint + Style(bold=active)
    facts = (_tell_repeats(block), format_clock(block.at))
    note = _IN_TREE if active else " · ".join(filter(None, facts))
    rule = _rule([Segment(f"↳ {deed} ", style)], note, canvas, style if active else palette.line)
    return Drawing([rule], wide=True)


def _tell_repeats(block: RevertBlock | BranchBlock) -> str:
    """How often an operation was undone and redone, or how often an undo or a redo was made."""
    if not block.repeats:
        return ""
    if block.reason in ("undo", "redo"):
        return f"{block.repeats + 1} times"
    times = f" {block.repeats} times" if block.repeats > 1 else ""
    return f"undone and redone{times}"


def draw_label(block: LabelBlock, canvas: Canvas, *, active: bool) -> Drawing:
    """A label was given: a note at the right edge, until it is pointed at."""
    palette = canvas.palette
    deed = f"labelled “{clean(block.label)}”" if block.label else "label removed"
    if active:
        style = palette.checkpoint + Style(bold=True)
        row = _rule([Segment(f"{deed} ", style)], _IN_TREE, canvas, palette.checkpoint)
        return Drawing([row], space=0, wide=True)
    quiet = [Segment(crop_text(deed, max(1, canvas.width - 8)), palette.faint)]
    return Drawing([Parts([], quiet).fit(canvas.width)], space=0)


def draw_damage(block: DamageBlock, canvas: Canvas) -> Drawing:
    """How many lines of the log are not shown because they cannot be read."""
    text = f"{format_count(block.lines, 'damaged line')} hidden here (kept on disk)"
    style = canvas.palette.attention
    rows: list[Line] = [[Segment(row, style)] for row in wrap_text(text, canvas.prose_width)]
    return Drawing(rows, Segment("!", style))


def draw_notice(block: NoticeBlock, canvas: Canvas) -> Drawing:
    """A sentence of the program."""
    palette = canvas.palette
    sign, style = {
        "info": ("·", palette.muted),
        "warning": ("!", palette.attention),
        "error": ("✗", palette.danger),
    }[block.level]
    rows: list[Line] = [
        [Segment(row, style)] for row in wrap_text(clean(block.text), canvas.prose_width)
    ]
    return Drawing(rows, Segment(sign, style))


def draw_unknown(block: UnknownBlock, canvas: Canvas, *, expanded: bool) -> Drawing:
    """A record of another program's: its role, and its fields when opened."""
    palette = canvas.palette
    head = Segment(f"record “{clean(block.role)}” ", palette.muted)
    text = clean(block.text)
    if not expanded:
        return Drawing(
            [Parts([head, Segment(text, palette.faint)]).fit(canvas.width)], _unknown(canvas)
        )
    body: list[Line] = [[Segment(row, palette.faint)] for row in wrap_text(text, canvas.width)]
    return Drawing([[head], *body], _unknown(canvas))


def _unknown(canvas: Canvas) -> Segment:
    return Segment("?", canvas.palette.faint)


def _rule(label: Line, note: str, canvas: Canvas, style: Style) -> Line:
    """A line across the screen with a label near its left end and a note near its right end."""
    palette = canvas.palette
    width = canvas.width + GUTTER - 1
    right = [Segment(f" {note} ", palette.faint)] if note else []
    first, tail = Segment("─ ", style), Segment("─" * MARGIN_RIGHT, style)
    return Parts([first, *label], [*right, tail]).fit(width, Segment("─", style))
