"""A summary being edited by hand."""

from __future__ import annotations

from textual.content import Content

from agent_tui.core.text import clean
from agent_tui.ui.widgets.prompt.pastes import literal_paste
from agent_tui.ui.widgets.prompt.prompt import Prompt


class SummaryEditor(Prompt):
    """A framed text field that begins with the summary as it is."""

    def __init__(self, summary: str) -> None:
        super().__init__(lambda _key: False, self._take_literally)
        self.text = self._begun = self._discardable = clean(summary)

    def on_mount(self) -> None:
        self.border_title = Content("Summary")

    def may_close(self) -> bool:
        """Whether nothing would be lost by closing it, or this was asked just before."""
        may, self._discardable = self.text in (self._begun, self._discardable), self.text
        return may

    def _take_literally(self, text: str) -> None:
        self.replace(literal_paste(text), *self.selection)
