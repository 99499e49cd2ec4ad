"""The prompts that wait for the agent's next step, over the prompt; each can be withdrawn."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from agent_tui.core.text import first_line

_MOST_ROWS = 4
_REMOVE = " ✕  "


class PromptQueue(Widget, can_focus=False):
    """One row for each waiting prompt: a click edits it, a click on ✕ withdraws it."""

    ALLOW_SELECT = False

    @dataclass
    class Withdrawn(Message):
        """A queued prompt is withdrawn; ``edit``: it goes back into the prompt."""

        text: str
        edit: bool

    def __init__(self) -> None:
        super().__init__()
        self._prompts: list[str] = []
        self.display = False

    @property
    def prompts(self) -> tuple[str, ...]:
        """What waits, oldest first."""
        return tuple(self._prompts)

    def add(self, prompt: str) -> None:
        """Show one more."""
        self._prompts.append(prompt)
        self._show()

    def remove_prompt(self, prompt: str) -> bool:
        """Remove a prompt that was sent or withdrawn; False if none with this text waited."""
        if prompt not in self._prompts:
            return False
        self._prompts.remove(prompt)
        self._show()
        return True

    def take_last(self) -> None:
        """Ask for the prompt that was queued last, to edit it."""
        if self._prompts:
            self.post_message(self.Withdrawn(self._prompts[-1], edit=True))

    def _show(self) -> None:
        self.display = bool(self._prompts)
        self.styles.height = min(_MOST_ROWS, len(self._prompts))
        self.refresh(layout=True)

    @property
    def _hidden(self) -> int:
        """How many of the oldest are not shown, where there are too many."""
        extra = len(self._prompts) - _MOST_ROWS
        return extra + 1 if extra > 0 else 0

    def render(self) -> Content:
        width = self.size.width
        rows = [self._row(prompt, width) for prompt in self._prompts[self._hidden :]]
        if self._hidden:
            rows.insert(0, Content.styled(f"  … {self._hidden} more", "$faint"))
        return Content("\n").join(rows)

    def _row(self, prompt: str, width: int) -> Content:
        is_last = prompt is self._prompts[-1]
        hint = "↑ edit" if is_last and width >= 40 else ""
        room = max(4, width - len(_REMOVE) - cell_len(hint) - 12)
        text = first_line(prompt, room)
        left = Content.assemble(("  next  ", "$faint"), (text, "$muted"))
        gap = " " * max(1, width - left.cell_length - len(hint) - len(_REMOVE))
        return Content.assemble(left, gap, (hint, "$faint"), (_REMOVE, "$faint"))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        row = event.y - bool(self._hidden)
        shown = self._prompts[self._hidden :]
        if 0 <= row < len(shown):
            edit = event.x < self.size.width - len(_REMOVE)
            self.post_message(self.Withdrawn(shown[row], edit))
