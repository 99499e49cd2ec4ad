"""What came along with a message: named, and drawn where it is a picture and there are colours."""

from __future__ import annotations

from rich.segment import Segment

from agent_tui.core.format import format_size
from agent_tui.core.messages import MediaPart
from agent_tui.core.text import clean
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.lines import Line
from agent_tui.ui.renderers.pictures import ground_of

_FOLDED = (48, 10)
_WHOLE = (10_000, 40)


def draw_media(media: tuple[MediaPart, ...], canvas: Canvas, *, expanded: bool) -> list[Line]:
    """What came along with a message: each named, and a picture drawn below its name."""
    rows: list[Line] = []
    for part in media:
        rows.append([Segment(f"▣ {name_medium(part)}", canvas.palette.muted)])
        if canvas.pictures is not None and part.url.startswith("data:image/"):
            columns, height = _WHOLE if expanded else _FOLDED
            width = min(columns, canvas.width)
            rows += canvas.pictures.find(part.url, width, height, ground_of(canvas.palette.base))
    return rows


def name_medium(part: MediaPart) -> str:
    """What a part is, and how large or where."""
    kind = part.kind.removesuffix("_url").replace("image", "picture")
    head, _, data = part.url.partition(",")
    if not head.startswith("data:"):
        return clean(f"{kind} {part.url[:200]}")
    form = head.removeprefix("data:").partition(";")[0].rpartition("/")[2].upper()
    return clean(f"{kind}, {form[:12] or 'unknown'}, {format_size(len(data) * 3 // 4)}")
