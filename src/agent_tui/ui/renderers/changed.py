"""What a call or a command really changed on disk, in a few words."""

from __future__ import annotations

from rich.segment import Segment

from agent_tui.core.format import format_count
from agent_tui.ui.blocks import Changed
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.lines import Line


def draw_changed(changed: Changed | None, canvas: Canvas) -> Line:
    """``+12 -3 in 2 files``; empty where nothing changed."""
    palette = canvas.palette
    if changed is None:
        return []
    if changed.why:
        return [Segment(" files not covered here", palette.attention)]
    if not changed.files:
        return []
    return [
        Segment(f" +{changed.added}", palette.added),
        Segment(f" -{changed.removed}", palette.removed),
        Segment(f" in {format_count(changed.files, 'file')}", palette.faint),
    ]
