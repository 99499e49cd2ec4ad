"""The last line of defence: no line that is drawn makes the terminal do anything."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from agent_tui.core.text import clean


class SafeLines(LineFilter):
    """Shows control characters and bidi controls instead of sending them, whatever drew them.

    Texts from outside are cleaned where they come in. This is for the one that was forgotten, so
    it counts characters, not cells: such a line may be cut or too short.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments, unless one of them holds what must not reach a terminal."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [
            segment if segment.control or segment.text.isprintable() else _cleaned(segment)
            for segment in segments
        ]


def _cleaned(segment: Segment) -> Segment:
    text = clean(segment.text).replace("\n", "␊").replace("\t", " ")
    return Segment(text, segment.style)
