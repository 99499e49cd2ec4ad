"""Two branches in one list: what they share, folded; then matching messages side by side."""

from __future__ import annotations

from typing import Literal, TypeAlias

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.text import first_line
from agent_tui.core.tree import Branch, Comparison
from agent_tui.history.tree.record_words import describe_record
from agent_tui.ui.widgets.lists.rows import Rows

Side: TypeAlias = Literal["left", "right"]

_BETWEEN = " │ "
_TOKENS_WIDTH = 7
_STYLES = {"user": "$user", "agent": "$assistant", "tool": "$tool", "summary": "$compaction"}


class Pairs(Rows):
    """The aligned messages; one side at a time where there is no room for both."""

    def __init__(self) -> None:
        super().__init__(empty=Content("Reading both branches…"), id="pairs")
        self._found: Comparison | None = None
        self._shown: list[int] = []  # pairs that have a row of their own
        self._folded = True
        self._is_split = True
        self._side: Side = "right"

    @property
    def side(self) -> Side | None:
        """The side that is shown alone, or None when both are."""
        return None if self._is_split else self._side

    def show_comparison(self, found: Comparison) -> None:
        """Show these branches, the cursor where they part."""
        self._found = found
        self.show_empty(Content("Neither branch holds a message."))
        self._refill(cursor=1 if self._hidden else 0)

    def split(self, *, both: bool) -> None:
        """Show both sides, or one."""
        if both != self._is_split:
            self._is_split = both
            self._refill(self.cursor)

    def turn_over(self) -> None:
        """Show the other side, where one is shown alone."""
        self._side = "left" if self._side == "right" else "right"
        self._refill(self.cursor)

    def fold(self) -> None:
        """Fold what both have in common, or open it."""
        self._folded = not self._folded
        self._refill()

    def _refill(self, cursor: int = 0) -> None:
        if self._found is None:
            return
        side = 0 if self._side == "left" else 1
        pairs = enumerate(self._found.pairs[self._hidden :], self._hidden)
        self._shown = [i for i, pair in pairs if self._is_split or pair[side] is not None]
        self.show_rows(len(self._shown) + (1 if self._hidden else 0), cursor=cursor)

    @property
    def _hidden(self) -> int:
        """Pairs that the first row stands for."""
        if self._found is None or not self._folded:
            return 0
        return self._found.common if self._found.common > 1 else 0

    def is_fold(self, row: int) -> bool:
        """Whether a row stands for what both have in common."""
        return row == 0 and self._hidden > 0

    def messages(self, row: int) -> tuple[Message | None, Message | None]:
        """What stands in a row at the left and at the right."""
        if self._found is None:
            return None, None
        left, right = self._pair(row)
        one = self._found.left.messages[left] if left is not None else None
        other = self._found.right.messages[right] if right is not None else None
        return one, other

    def _pair(self, row: int) -> tuple[int | None, int | None]:
        if self._found is None or not 0 <= row < self.count or self.is_fold(row):
            return None, None
        return self._found.pairs[self._shown[row - (1 if self._hidden else 0)]]

    def next_difference(self, step: int) -> None:
        """Go to the next (or previous) stretch in which the branches differ."""
        row = self.cursor + step
        while 0 <= row < self.count and not (self._differs(row) and not self._differs(row - 1)):
            row += step
        if 0 <= row < self.count:
            self.cursor = row

    def _differs(self, row: int) -> bool:
        if self._found is None or row < 0 or self.is_fold(row):
            return False
        return not self._found.is_same(self._pair(row))

    def headings(self, width: int) -> Content:
        """What stands over the columns."""
        if self._found is None:
            return Content("")
        left, right = self._found.left, self._found.right
        if not self._is_split:
            shown = left if self._side == "left" else right
            return _heading(shown, width, "◂ " if self._side == "right" else "▸ ")
        room = (width - len(_BETWEEN)) // 2
        return Content.assemble(
            _heading(left, room), (_BETWEEN, "$line"), _heading(right, width - room - 3)
        )

    def draw_row(self, index: int, width: int) -> Content:
        if self._found is None:
            return Content("")
        if self.is_fold(index):
            return self._draw_fold(width)
        left, right = self._pair(index)
        same = self._found.is_same((left, right))
        if not self._is_split:
            shown = left if self._side == "left" else right
            return self._draw_message(shown, self._side, width, same=same)
        room = (width - len(_BETWEEN)) // 2
        return Content.assemble(
            self._draw_message(left, "left", room, same=same),
            (_BETWEEN, "$line"),
            self._draw_message(right, "right", width - room - len(_BETWEEN), same=same),
        )

    def _draw_fold(self, width: int) -> Content:
        assert self._found is not None
        tokens = format_tokens(sum(self._found.left.counts[: self._found.common]))
        text = f" {format_count(self._found.common, 'message')} in common · {tokens} tokens "
        return Content.styled(f"──{text}".ljust(width, "─"), "$muted")

    def _draw_message(self, index: int | None, side: Side, width: int, *, same: bool) -> Content:
        if index is None or self._found is None:
            return Content.styled(set_cell_size("  ╌", width), "$line")
        branch = self._found.left if side == "left" else self._found.right
        who, text = _words(branch.messages[index])
        tokens = format_tokens(branch.counts[index]).rjust(_TOKENS_WIDTH)
        room = max(4, width - 2 - 8 - _TOKENS_WIDTH)
        sign, style = (" ", "$muted") if same else ("▌", "$attention" if side == "left" else "$ok")
        return Content.assemble(
            (f"{sign} ", style),
            (who.ljust(8), "$muted" if same else _STYLES.get(who, "")),
            (_cut(text, room), "$muted" if same else ""),
            (tokens, "$faint"),
        )


def _heading(branch: Branch, width: int, before: str = "") -> Content:
    facts = f"{format_count(len(branch.messages), 'message')} · {format_tokens(branch.tokens)}"
    title = first_line(branch.title, max(6, width - cell_len(facts) - 4))
    text = f"{before}{title}  {facts}"
    return Content.styled(_cut(text, width), "bold")


_SPEAKERS = {"compaction": "summary", "branch": "summary", "shell": "shell"}


def _words(message: Message) -> tuple[str, str]:
    """Who speaks, and what is said in one line."""
    match message:
        case UserMessage(origin=origin):
            who = _SPEAKERS.get(origin or "human", "user")
            return who, describe_record(message)
        case AssistantMessage():
            return "agent", describe_record(message)
        case ToolMessage():
            return "tool", describe_record(message)


def _cut(text: str, width: int) -> str:
    if cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    return set_cell_size(text, width)
