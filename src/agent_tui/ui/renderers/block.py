"""The one place that knows which renderer draws which block."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    BranchBlock,
    CheckpointBlock,
    CompactionBlock,
    DamageBlock,
    EarlierBlock,
    EarlierHeadBlock,
    LabelBlock,
    NoticeBlock,
    RevertBlock,
    ShellBlock,
    ToolBlock,
    UnknownBlock,
    UserBlock,
)
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.drawing import Drawing
from agent_tui.ui.renderers.message import draw_assistant, draw_user
from agent_tui.ui.renderers.rows import (
    draw_branch,
    draw_checkpoint,
    draw_compaction,
    draw_damage,
    draw_label,
    draw_notice,
    draw_revert,
    draw_unknown,
)


def draw_block(
    block: Block, canvas: Canvas, *, expanded: bool, active: bool, glance: bool = False
) -> Drawing:
    """Draw a block.

    ``expanded``: opened by the user; ``active``: under the pointer or cursor; ``glance``: of a long
    answer only the ends, because somebody waits.
    """
    match block:
        case UserBlock():
            return draw_user(block, canvas, expanded=expanded)
        case AssistantBlock():
            return draw_assistant(block, canvas, expanded=expanded, glance=glance)
        case ToolBlock():
            from agent_tui.ui.renderers.tool import draw_tool  # not for the first answer

            return draw_tool(block, canvas, expanded=expanded)
        case ShellBlock():
            from agent_tui.ui.renderers.shell import draw_shell  # nor this

            return draw_shell(block, canvas, expanded=expanded)
        case CheckpointBlock():
            return draw_checkpoint(block, canvas, active=active)
        case CompactionBlock():
            return draw_compaction(block, canvas, active=active)
        case RevertBlock():
            return draw_revert(block, canvas, active=active)
        case BranchBlock():
            return draw_branch(block, canvas, active=active)
        case LabelBlock():
            return draw_label(block, canvas, active=active)
        case DamageBlock():
            return draw_damage(block, canvas)
        case NoticeBlock():
            return draw_notice(block, canvas)
        case EarlierHeadBlock():
            from agent_tui.ui.renderers.earlier import draw_earlier_head

            return draw_earlier_head(block, canvas, active=active)
        case EarlierBlock(inner):
            plain = replace(canvas, pictures=None)  # dimmed, a picture would be a grey field
            drawn = draw_block(inner, plain, expanded=expanded, active=active, glance=glance)
            from agent_tui.ui.renderers.earlier import dim

            return dim(drawn, canvas)
        case UnknownBlock():
            return draw_unknown(block, canvas, expanded=expanded)
        case _:
            assert_never(block)
