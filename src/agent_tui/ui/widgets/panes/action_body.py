"""What an action will do, whole: every line of a command, a diff or a call's arguments."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip

from agent_tui.core.arguments import read_arguments
from agent_tui.core.events import ApprovalRequest
from agent_tui.core.format import format_count
from agent_tui.core.messages import CommandDisplay, DiffDisplay
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.core.text import hides_characters, reveal
from agent_tui.ui.renderers.diff import last_number
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.action_colours import DiffColours, lay_diff_row
from agent_tui.ui.widgets.panes.action_fold import ActionFold, FoldedRow, last_words
from agent_tui.ui.widgets.panes.plan_text import break_at_words, mark_up_plan

_CONTINUED = "┊"
_FIRST_ROWS = 300
_MANY_ROWS = 1_000_000
_LONGEST_PLAN = 100_000
_SLICE_SECONDS = 0.008
_CHANGE = re.compile(r"(?P<removed>-*)[-+]\+*")
_SPELLED = re.compile(r"<U\+[0-9A-F]{4,6}>")
_NAMED = re.compile(r"<U\+[0-9A-F]+>|<[\d,]+ blanks>|<[\d,]+ blank lines>")


@dataclass(frozen=True, slots=True)
class Action:
    """The text of one action as it is, and a word on what kind of text that is."""

    text: str
    kind: str
    where: str = ""

    @property
    def is_diff(self) -> bool:
        return self.kind == "diff"

    @property
    def line_count(self) -> int:
        """How many lines it has; a newline at the very end adds none."""
        return self.text.count("\n", 0, len(self.text) - 1) + 1

    @property
    def warning(self) -> str:
        """What about it cannot be seen as it is; empty when all can."""
        hidden = hides_characters(self.text) or _SPELLED.search(self.text)
        return "Invisible characters, shown as <U+…>. " if hidden else ""

    @property
    def facts(self) -> str:
        """Length and place in words."""
        if self.is_diff:
            return f"{format_count(self._count('+'), 'line')} added, {self._count('-'):,} removed"
        size = (
            f"{format_count(self.line_count, 'line')} · {format_count(len(self.text), 'character')}"
        )
        return f"{size} · in {self.where}" if self.where else size

    def _count(self, sign: str) -> int:
        """Lines of a diff that begin with a sign, below its headings."""
        return self.text.count(f"\n{sign}", max(0, self.text.find("\n@@")))


def action_of(request: ApprovalRequest) -> Action:
    """The action that a request asks for."""
    match request.display:
        case CommandDisplay(command=command, cwd=cwd):
            return Action(command, "command", reveal(cwd))
        case DiffDisplay(path=path, diff=diff):
            return Action(diff, "diff", path)
        case None if request.call.name == PRESENT_PLAN:
            return Action(read_arguments(request.call.arguments).get("plan", ""), "plan")
        case None:
            return Action(request.call.arguments or "(no arguments)", "arguments")


class ActionBody(Rows, can_focus=True):
    """The lines of an action, numbered or coloured, folded so that nothing is cut off.

    Only what is looked at is folded: an action of any size is on the screen at once.
    """

    def __init__(self, action: Action) -> None:
        super().__init__(has_cursor=False)
        self._action = action
        self._is_numbered = action.is_diff or (action.kind == "command" and action.line_count > 1)
        # Cells of the line numbers, or of the sign that a line continues.
        self._digits = len(str(_last_number(action))) if self._is_numbered else 1
        self._margin = self._digits + 2 * action.is_diff
        self._colours = DiffColours(action.where) if action.is_diff else None
        self._fold = ActionFold("", 1)
        self._folded_width = 0
        self.drawn_width = 0
        """The width in which it was drawn last; 0 before that."""
        self._begins_at = 0

    def last_words(self, width: int) -> str:
        """How the action ends."""
        return last_words(self._action.text, width)

    def show_first_change(self) -> None:
        """Bring the first change of a diff into view, unless somebody has scrolled.

        It scrolls no farther than it must: the lines before the change stay where there is room.
        Of a change that is too high for that, its first added line is brought into view.
        """
        if round(self.scroll_y) != self._begins_at:
            return
        kinds = "".join(row.kind or " " for row in self._fold.rows[:_FIRST_ROWS])
        if self._action.is_diff and (change := _CHANGE.search(kinds)):
            height = self.scrollable_content_region.height
            is_low = len(change[0]) <= height
            last = change.end() if is_low else change.end("removed") + 1
            begins_at = max(0, min(change.start(), last - height))
            # At once: what is on its way yet would look as if somebody had scrolled.
            self.scroll_to(y=begins_at, animate=False, force=True, immediate=True)
            self._begins_at = round(self.scroll_y)

    def rows_at(self, width: int) -> int:
        """How many rows the action takes in ``width`` cells; of a long one, the first of them."""
        if width != self._folded_width and width > 4:
            self._folded_width = width
            room = width - self._margin - 1
            text = self._action.text
            if self._action.kind == "plan" and len(text) <= _LONGEST_PLAN:
                text = break_at_words(text, room)
            self._fold = ActionFold(text, room, is_diff=self._action.is_diff)
            self._fold.ensure(_FIRST_ROWS)
            self._forget_colours()
            self.show_rows(len(self._fold.rows))
        return len(self._fold.rows)

    def _fold_more(self, count: int, seconds: float = 1e9) -> None:
        self._fold.ensure(count, seconds)
        if len(self._fold.rows) != self.count:
            self.show_rows(len(self._fold.rows))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._fold_more(round(new_value) + _FIRST_ROWS)

    def action_page(self, direction: int) -> None:
        self._fold_more(round(self.scroll_y) + 2 * self.size.height + _FIRST_ROWS)
        super().action_page(direction)

    def action_jump(self, index: int) -> None:
        if index < 0 and not self._fold.is_whole:
            self._fold_more(self.count + _MANY_ROWS, _SLICE_SECONDS)
            self.set_timer(_SLICE_SECONDS, lambda: self.action_jump(index))
        super().action_jump(index)

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        """Fold for its new size at once: what was laid out is drawn before Resize is handled."""
        is_resized = super()._size_updated(size, virtual_size, container_size, layout)
        if is_resized:
            self.rows_at(self.scrollable_content_region.width)
            self.show_first_change()
        return is_resized

    def render_line(self, y: int) -> Strip:
        """One line of the view; a row from the cache is drawn as well as a new one."""
        self.drawn_width = self.scrollable_content_region.width
        return super().render_line(y)

    def draw_row(self, index: int, width: int) -> Content:
        row = self._fold.rows[index]
        lead = Content.styled(f"{self._number(row)} ", "$faint")
        if self._colours is None:
            content = Content.assemble(lead, row.text)
            if self._action.kind == "plan":
                content = mark_up_plan(content, self._margin + 1, row.text)
        else:
            variables = self.app.theme_variables
            text = self._colours.row(self._fold.rows, index, variables)
            content = lay_diff_row(lead, row, text, width, variables)
        for named in _NAMED.finditer(row.text):
            start = self._margin + 1 + named.start()
            content = content.stylize("$danger bold", start, start + len(named[0]))
        return content

    def _number(self, row: FoldedRow) -> str:
        if not row.begins:
            return _CONTINUED.rjust(self._digits)
        if row.kind == "@":
            return "⋮".rjust(self._digits)
        return (str(row.line) if self._is_numbered and row.line else "").rjust(self._digits)

    def on_mount(self) -> None:
        super().on_mount()
        if self._colours is not None:
            self.run_worker(self._load_colours(self._colours), exit_on_error=False)

    async def _load_colours(self, colours: DiffColours) -> None:
        if await asyncio.to_thread(colours.load):
            self._forget_colours()
            self.redraw()

    def notify_style_update(self) -> None:
        self._forget_colours()
        super().notify_style_update()

    def _forget_colours(self) -> None:
        if self._colours is not None:
            self._colours.forget()


def _last_number(action: Action) -> int:
    return last_number(action.text) if action.is_diff else action.line_count
