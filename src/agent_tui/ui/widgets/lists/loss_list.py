"""What was said in messages that go and is not in the summary, worst first."""

from __future__ import annotations

from textual.content import Content

from agent_tui.core.summary import Loss
from agent_tui.core.text import first_line, reveal, without_marks
from agent_tui.ui.widgets.lists.rows import Rows

_STYLES = {
    "request": "$user",
    "decision": "$attention",
    "error": "$danger",
    "file": "$tool",
    "command": "$code-string",
    "url": "$code-name",
    "number": "$muted",
}


class LossList(Rows):
    """The loss report; Enter on a line leads to its message."""

    def __init__(self) -> None:
        super().__init__(id="losses")
        self._losses: tuple[Loss, ...] = ()

    @property
    def loss(self) -> Loss | None:
        """The loss under the cursor."""
        return self._losses[self.cursor] if self._losses else None

    def loss_at(self, index: int) -> Loss:
        return self._losses[index]

    def show_losses(self, losses: tuple[Loss, ...], empty: str) -> None:
        """Show this report, or say why there is none."""
        self._losses = losses
        self.show_empty(Content.styled(empty, "$muted"))
        self.show_rows(len(losses))

    def draw_row(self, index: int, width: int) -> Content:
        loss = self._losses[index]
        place = f"message {loss.message + 1}" if width >= 60 else f"#{loss.message + 1}"
        room = max(8, width - 10 - len(place) - 2)
        seen = 2 * room  # marks are found with both of their ends
        text, line = reveal(first_line(loss.text, seen)), first_line(loss.line, seen)
        if loss.kind != "command":  # there the marks may be a part of it
            text, line = without_marks(text), without_marks(line)
        aside = "" if line == text or text in line[: len(text) + 2] else f"  {line}"
        shown = Content.assemble(text if aside else line or text, (aside, "$muted"))
        return Content.assemble(
            (f"{loss.kind:<9} ", _STYLES.get(loss.kind, "")),
            shown.truncate(room, ellipsis=True, pad=True),
            (f"  {place}", "$faint"),
        )
