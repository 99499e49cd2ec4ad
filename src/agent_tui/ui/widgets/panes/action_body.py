"""What an action will do, whole: every line of a command, a diff or a call's arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile

from rich.cells import cell_len, chop_cells
from textual.content import Content

from agent_tui.core.events import ApprovalRequest
from agent_tui.core.messages import CommandDisplay, DiffDisplay
from agent_tui.core.text import reveal
from agent_tui.ui.format import format_count
from agent_tui.ui.widgets.lists.rows import Rows

_CONTINUED = "┊"


@dataclass(frozen=True, slots=True)
class Action:
    """The text of one action as it is, and a word on what kind of text that is."""

    text: str
    kind: str
    where: str = ""

    @property
    def hides_characters(self) -> bool:
        """Whether it holds characters that nobody could see."""
        return reveal(self.text) != self.text.replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        """Its lines as they may be shown; a newline at the very end adds none."""
        return reveal(self.text).removesuffix("\n").expandtabs(4).split("\n")

    @property
    def facts(self) -> str:
        """Length and place in words."""
        if self.kind == "diff":
            added, removed = self._count("+"), self._count("-")
            return f"{format_count(added, 'line')} added, {removed:,} removed"
        size = f"{format_count(len(self.lines), 'line')} · {len(self.text):,} characters"
        return f"{size} · in {self.where}" if self.where else size

    def _count(self, sign: str) -> int:
        """Lines of a diff that begin with a sign, below its headings."""
        hunks = dropwhile(lambda line: not line.startswith("@@"), self.lines)
        return sum(line.startswith(sign) for line in hunks)


def action_of(request: ApprovalRequest) -> Action:
    """The action that a request asks for."""
    match request.display:
        case CommandDisplay(command=command, cwd=cwd):
            return Action(command, "command", reveal(cwd))
        case DiffDisplay(diff=diff):
            return Action(diff, "diff")
        case None:
            return Action(request.call.arguments or "(no arguments)", "arguments")


class ActionBody(Rows, can_focus=True):
    """The lines of an action, numbered or coloured, folded so that nothing is cut off."""

    def __init__(self, action: Action) -> None:
        super().__init__(has_cursor=False)
        self._action = action
        self._lines = action.lines
        self._folded: list[Content] = []
        self._folded_width = 0

    @property
    def last_line(self) -> Content:
        """How the action ends."""
        return Content.styled(self._lines[-1].strip(), self._style(self._lines[-1]))

    def rows_at(self, width: int) -> int:
        """How many rows the action takes in ``width`` cells."""
        if width != self._folded_width and width > 4:
            self._folded_width = width
            self._folded = list(self._fold(width))
            self.show_rows(len(self._folded))
        return len(self._folded)

    def on_resize(self) -> None:
        self.rows_at(self.scrollable_content_region.width)
        super().on_resize()

    def draw_row(self, index: int, width: int) -> Content:
        if width < self._folded_width:
            # Nothing of an action may be cut off: fold again before the next frame.
            self.call_later(self.rows_at, width)
        return self._folded[index]

    def _fold(self, width: int) -> Iterator[Content]:
        numbered = self._action.kind == "command" and len(self._lines) > 1
        digits = len(str(len(self._lines))) if numbered else 0
        blank = _CONTINUED.rjust(digits or 1)
        room = max(1, width - len(blank) - 1)
        for number, line in enumerate(self._lines, 1):
            style = self._style(line)
            lead = str(number).rjust(digits) if numbered else " " * len(blank)
            pieces = [line] if _fits(line, room) else chop_cells(line, room)
            for place, piece in enumerate(pieces):
                margin = blank if place else lead
                fill = " " * (room - cell_len(piece)) if style else ""
                yield Content.assemble((f"{margin} ", "$faint"), (piece + fill, style))

    def _style(self, line: str) -> str:
        if self._action.kind != "diff":
            return ""
        if line.startswith("@@"):
            return "$muted"
        if line.startswith("+") and not line.startswith("+++"):
            return "$diff-added on $diff-added-surface"
        if line.startswith("-") and not line.startswith("---"):
            return "$diff-removed on $diff-removed-surface"
        return ""


def _fits(line: str, room: int) -> bool:
    return len(line) * 2 <= room or (len(line) <= room and cell_len(line) <= room)
