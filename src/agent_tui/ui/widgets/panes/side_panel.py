"""The panel beside a wide conversation: todo list, changed files, checkpoints, context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from agent_tui.core.changes import FileDiff
from agent_tui.core.format import format_clock, format_tokens
from agent_tui.core.summary import CheckpointSummary
from agent_tui.core.text import first_line, reveal
from agent_tui.core.todo import TodoItem
from agent_tui.core.usage import Gauge
from agent_tui.ui.commands import key_label
from agent_tui.ui.commands.table import BY_NAME
from agent_tui.ui.widgets.bars.gauge import EMPTY
from agent_tui.ui.widgets.bars.shares import share_style, shares_by_kind
from agent_tui.ui.widgets.panes.todo_panel import MARKS, STYLES

_Command = tuple[str, str]
_NOTHING = Content("")
_NO_COMMAND: _Command = ("", "")


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of the panel, and the command with its argument that a click on it gives."""

    left: Content
    right: Content = _NOTHING
    command: _Command = _NO_COMMAND


class SidePanel(Widget, can_focus=False):
    """Lists, the newest first, each with as many rows as there is room for; the context below."""

    ALLOW_SELECT = False

    @dataclass
    class Chosen(Message):
        """A row was clicked that stands for a command."""

        name: str
        argument: str

    def __init__(self) -> None:
        super().__init__()
        self._todo: tuple[TodoItem, ...] = ()
        self._files: tuple[FileDiff, ...] = ()
        self._checkpoints: tuple[CheckpointSummary, ...] = ()
        self._gauge = EMPTY
        self._commands: list[_Command] = []

    def show_todo(self, items: Sequence[TodoItem]) -> None:
        """Show this list of things to do."""
        self._todo = tuple(items)
        self.refresh()

    def show_facts(
        self, files: Sequence[FileDiff], checkpoints: Sequence[CheckpointSummary]
    ) -> None:
        """Show these changed files, and these checkpoints of turns, the newest first."""
        self._files, self._checkpoints = tuple(files), tuple(checkpoints)
        self.refresh()

    def show_gauge(self, gauge: Gauge) -> None:
        """Show what fills the context."""
        self._gauge = gauge
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self._commands):
            name, argument = self._commands[offset.y]
            if name:
                self.post_message(self.Chosen(name, argument))

    def render(self) -> Content:
        width, height = self.content_size
        lists = [each for each in (self._to_do(), self._changes(), self._past()) if each]
        fill = _shortened(self._fill(), max(3, height // (len(lists) + 1) - 1))
        lines: list[_Line] = []
        for place, section in enumerate(lists):
            left = len(lists) - place
            free = height - len(fill) - len(lines)
            if free < 3:  # a heading, a row and the empty one below
                break
            room = min(free - 1, max(3, free // left - 1))
            lines += [*_shortened(section, room), _Line(_NOTHING)]
        # What fills the context stands at the bottom, beside the gauge: what grows is above.
        lines += [_Line(_NOTHING)] * (height - len(lines) - len(fill)) + fill
        self._commands = [line.command for line in lines]
        return Content("\n").join([_lay(line, width) for line in lines[:height]])

    def _to_do(self) -> list[_Line]:
        if not self._todo:
            return []
        done = sum(item.state == "done" for item in self._todo)
        head = _head("To do", f"{done} of {len(self._todo)}")
        rows = [
            _Line(
                Content.assemble(
                    (f"{MARKS[item.state]} ", "$ok"),
                    (first_line(item.text, 200), STYLES[item.state]),
                )
            )
            for item in self._todo
        ]
        return [head, *rows]

    def _changes(self) -> list[_Line]:
        head = _head("Changed files", key_label(self.app, BY_NAME["changes"]), ("changes", ""))
        if not self._files:
            return [head, _Line(Content.styled("none so far", "$muted"))]
        return [head, *(_file_line(file, self.content_size.width) for file in self._files)]

    def _past(self) -> list[_Line]:
        head = _head("Checkpoints", key_label(self.app, BY_NAME["revert"]), ("revert", ""))
        rows = [
            _Line(
                Content.assemble(
                    (f"◇ {one.id} ", "$checkpoint"), first_line(one.prompt, 200) or "(start)"
                ),
                Content.styled(format_clock(one.at), "$faint"),
                ("revert", str(one.id)),
            )
            for one in self._checkpoints
        ]
        return [head, *rows] if rows else []

    def _fill(self) -> list[_Line]:
        kinds = shares_by_kind(self._gauge.shares)
        rows = [
            _Line(
                Content.assemble(("■ ", share_style(kind)), kind.replace("_", " ")),
                Content.styled(format_tokens(tokens), "$muted"),
                ("tokens", ""),
            )
            for kind, tokens in kinds
        ]
        if rows and self._gauge.trigger_at:
            at = Content.styled(format_tokens(self._gauge.trigger_at), "$muted")
            rows.append(
                _Line(Content.styled("┃ compacts at", "$gauge-trigger"), at, ("compact", ""))
            )
        return [_head("Context", "F8", ("tokens", "")), *rows] if rows else []


def _head(title: str, hint: str, command: _Command = _NO_COMMAND) -> _Line:
    return _Line(Content.styled(title, "$user bold"), Content.styled(hint, "$muted"), command)


def _file_line(file: FileDiff, width: int) -> _Line:
    counts = [(f"+{file.added}", "$diff-added"), (f" -{file.removed}", "$diff-removed")]
    right = Content.assemble(*counts) if file.added or file.removed else Content(file.kind)
    path, room = reveal(file.path), max(8, width - right.cell_length - 1)
    if cell_len(path) > room:  # the name says more than the folders
        path = "…" + set_cell_size(path[::-1], room - 1)[::-1]
    return _Line(Content(path), right, ("changes", ""))


def _shortened(section: list[_Line], room: int) -> list[_Line]:
    if len(section) <= room:
        return section
    more = len(section) - room + 1
    return [*section[: room - 1], _Line(Content.styled(f"… {more} more", "$faint"))]


def _lay(line: _Line, width: int) -> Content:
    """The left of a row cut where its right begins."""
    room = width - line.right.cell_length - bool(line.right)
    left = line.left.truncate(max(0, room), ellipsis=True)
    return Content.assemble(
        left, " " * (width - left.cell_length - line.right.cell_length), line.right
    )
