"""The first line of a panel: what it shows, and how much of it."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from agent_tui.core.text import clean

_LEAST_TITLE = 24
_GAP = "  "


class Heading(Widget):
    """A title and notes behind it; where room is short, the title is cut, then whole notes go."""

    def __init__(self) -> None:
        super().__init__(id="heading")
        self._title = ""
        self._notes: tuple[str, ...] = ()

    def show(self, title: str, *notes: str) -> None:
        """Say what is shown; empty notes are left out."""
        self._title, self._notes = clean(title), tuple(clean(note) for note in notes if note)
        self.refresh()

    def render(self) -> Content:
        notes = [Content.styled(note, "$muted") for note in self._notes]
        title = Content.styled(self._title, "bold $foreground")
        least = min(_LEAST_TITLE, title.cell_length)
        room = self.size.width - sum(note.cell_length + len(_GAP) for note in notes)
        while room < least and len(notes) > 1:
            room += notes.pop().cell_length + len(_GAP)
        shown = title.truncate(max(_LEAST_TITLE, room), ellipsis=True)
        return Content(_GAP).join([shown, *notes])
