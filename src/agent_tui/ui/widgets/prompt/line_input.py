"""A one-line field into which nothing invisible can be pasted."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.prompt.pastes import literal_paste


class LineInput(Input):
    """Textual's Input without markup in its placeholder and with cleaned pastes."""

    def __init__(
        self,
        placeholder: str = "",
        *,
        value: str = "",
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(value=value, placeholder=placeholder, compact=True, id=id)
        self._invitation = placeholder

    def on_resize(self) -> None:
        """Cut what stands in the empty field where it has no room, with a mark."""
        self.placeholder = fit_cells(self._invitation, self.content_size.width).rstrip()

    async def _on_key(self, event: events.Key) -> None:
        """A key with Alt types nothing, though terminals send its character with it."""
        if event.key.startswith("alt+"):
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace_selected(" ".join(literal_paste(event.text).split("\n")).strip())

    def action_paste(self) -> None:
        self.replace_selected(" ".join(literal_paste(self.app.clipboard).split("\n")).strip())

    def replace_selected(self, text: str) -> None:
        """Put text in place of the selection."""
        start, end = sorted(self.selection)
        self.replace(text, start, end)
