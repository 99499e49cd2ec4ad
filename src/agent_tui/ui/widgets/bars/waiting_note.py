"""The row over an open screen which says that the agent asks something, once that is closed."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

_REST = " · it waits until you close this"


class WaitingNote(Widget):
    """Stands in the first row of a screen; the question is cut where room is short.

    Args:
        question: what the agent asks.
    """

    ALLOW_SELECT = False

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def show(self, question: str) -> None:
        """Show another question."""
        if question != self._question:
            self._question = question
            self.refresh()

    def render(self) -> Content:
        words = Content(f"The agent asks: {self._question}")
        room = max(0, self.size.width - len(_REST))
        return words.truncate(room, ellipsis=True) + Content(_REST)
