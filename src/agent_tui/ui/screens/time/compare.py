"""Two branches side by side: an archive and the live log, or any two ends of the tree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.format import format_count
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message
from agent_tui.core.tree import Comparison
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, Panel
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.exchange_lines import Part, message_parts
from agent_tui.ui.widgets.panes.pairs import Pairs
from agent_tui.ui.widgets.panes.preview import Preview

_BOTH_SIDES = 72
"""Below this many cells one side is shown at a time."""
_READ_ON = 6
_LEAST_ROWS = 4


class CompareScreen(Panel[None]):
    """Shows a comparison.

    Args:
        load: makes it, for example ``lambda: session.compare_archive(3)``.
    """

    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/compare.tcss")]
    AUTO_FOCUS = "#pairs"
    BINDINGS = [
        Binding("enter", "read", "read", key_display="Enter"),
        Binding("right_square_bracket,n", "next_difference(1)", "differences", key_display="[ ]"),
        Binding("left_square_bracket,N", "next_difference(-1)", show=False),
        Binding("a", "fold", "all"),
        Binding("right,left", "other_side", "side", key_display="← →"),
    ]
    ABOUT_ROWS = frozenset({"read", "next_difference", "fold", "other_side"})

    def __init__(self, load: Callable[[], Awaitable[Comparison]]) -> None:
        super().__init__()
        self._load_comparison = load
        self.pairs = Pairs()
        self._left, self._right = Preview(), Preview()
        self._differs = True

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Static(id="columns")
        yield self.pairs
        yield Horizontal(self._left, self._right, id="both-sides")
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("Compare", "reading…")
        self._load()

    @work(exclusive=True, group="compare")
    async def _load(self) -> None:
        found = await self.attempt(self._load_comparison())
        if found is None:
            self.pairs.show_empty(Content("The branches could not be read."))
            self.show_heading("Compare")
            return
        both = sum(map(found.is_same, found.pairs))
        left, right = len(found.left.messages) - both, len(found.right.messages) - both
        self._differs = bool(left or right)
        parts = f"{left:,} only on the left, {right:,} only on the right"
        self.show_heading(
            "Compare",
            f"{format_count(both, 'message')} in both",
            parts if self._differs else "no differences",
        )
        self.pairs.show_comparison(found)
        self._fit_pairs()
        self.refresh_bindings()
        self._draw_columns()

    async def on_resize(self) -> None:
        self.pairs.split(both=self.size.width >= _BOTH_SIDES)
        self._draw_columns()
        self._show_sides()

    def _draw_columns(self) -> None:
        width = self.pairs.scrollable_content_region.width
        self.query_one("#columns", Static).update(self.pairs.headings(width))

    def has_rows(self) -> bool:
        return bool(self.pairs.count)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "other_side" and self.pairs.side is None:
            return False
        if action == "next_difference" and not self._differs:
            return False
        return super().check_action(action, parameters)

    def action_other_side(self) -> None:
        self.pairs.turn_over()
        self._draw_columns()
        self._show_sides()

    @on(Rows.Highlighted, "#pairs")
    def _show_sides(self) -> None:
        """Show how the messages of the row and of those below begin, each below its branch."""
        alone = self.pairs.side
        for pane, name, side in ((self._left, "left", 0), (self._right, "right", 1)):
            pane.display = alone in (None, name)
            pane.show_parts(self._read_on(side) if pane.display else ())

    def _read_on(self, side: int) -> list[Part]:
        """How the messages of one side begin, from the row on."""
        cursor = self.pairs.cursor
        parts: list[Part] = []
        for row in range(cursor, cursor + _READ_ON):
            if (message := self.pairs.messages(row)[side]) is not None:
                parts += [*message_parts(message), Content("")]
        return parts

    def _fit_pairs(self) -> None:
        """Give a short list the rows that it takes: what is said there has the others."""
        self.pairs.styles.max_height = max(_LEAST_ROWS, self.pairs.count)

    def action_fold(self) -> None:
        self.pairs.fold()
        self._fit_pairs()

    def action_next_difference(self, step: int) -> None:
        self.pairs.next_difference(step)

    @on(Rows.Chosen)
    def action_read(self) -> None:
        """Read the message of the row whole, or open what both have in common."""
        row = self.pairs.cursor
        if self.pairs.is_fold(row):
            self.action_fold()
            return
        left, right = self.pairs.messages(row)
        texts = [("left", left), ("right", right)]
        if self.pairs.side is not None:
            texts = [each for each in texts if each[0] == self.pairs.side]
        shown = [(name, _whole(message)) for name, message in texts if message is not None]
        if len(shown) == 2 and shown[0][1] == shown[1][1]:
            shown = [("both", shown[0][1])]
        if shown:
            body = "\n\n".join(f"── {name} ──\n{text}" for name, text in shown)
            note = " and ".join(name for name, _ in shown)
            self.app.push_screen(ReaderScreen("Message", note, body))


def _whole(message: Message) -> str:
    """A message as text, with what it calls."""
    text = text_of(message.content)
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    return "\n".join([text, *(f"{call.name} {call.arguments}" for call in calls)]).strip()
