"""Every place to return to, newest first: choose one to revert to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.format import format_age, format_count
from agent_tui.core.summary import ArchiveSummary, CheckpointSummary
from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.commands.table import name_keys_of_hint
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, WITH_PREVIEW, Panel, tell_order
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.preview import PastPreview, ReadExchanges

_WITH_COUNTS = 60


class CheckpointsScreen(Panel[int | Literal["archives"]]):
    """The checkpoints of one session; dismissed with the id of the chosen one, or ``archives``.

    Checkpoints before a prompt lead; those between the steps of a turn are quieter.

    Args:
        checkpoints: those of the log, oldest first.
        compacted: the archive that the newest compaction left, if there was one: it holds the
            checkpoints that are missing here.
        preview: gives what was said last before a checkpoint.
    """

    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/preview.tcss"),
        stylesheet("screens/checkpoints.tcss"),
    ]
    AUTO_FOCUS = "#past-rows"
    HORIZONTAL_BREAKPOINTS = WITH_PREVIEW
    BINDINGS = [
        Binding("enter", "choose", "preview revert", key_display="Enter"),
        Binding("a", "list_archives", "archives", key_display="a"),
    ]
    ABOUT_ROWS = frozenset({"choose"})

    def __init__(
        self,
        checkpoints: Sequence[CheckpointSummary],
        compacted: ArchiveSummary | None = None,
        preview: ReadExchanges | None = None,
    ) -> None:
        super().__init__()
        self._compacted = compacted
        self._checkpoints = list(reversed(checkpoints))
        self._preview = PastPreview(preview)
        self._rows = Rows(
            self._draw, id="past-rows", empty=Content("No checkpoint yet. Send a prompt first.")
        )

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Fitted(self._draw_heads, id="heads")
        yield Horizontal(self._rows, self._preview, id="beside")
        if self._compacted is not None:
            count = format_count(self._compacted.checkpoints, "checkpoint")
            said = f"{count} before the compaction: archive {self._compacted.number}"
            key = name_keys_of_hint(self.app, " ({checkpoints-list-archives:a})")
            yield Static(Content.styled(said + key, "$compaction"), id="compacted")
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("Checkpoints", tell_order(len(self._checkpoints)))
        self._rows.show_rows(len(self._checkpoints), cursor=self._first_prompt())

    def _first_prompt(self) -> int:
        """The newest checkpoint before a prompt: usually the one meant."""
        prompts = (i for i, summary in enumerate(self._checkpoints) if not summary.step)
        return next(prompts, 0)

    def _draw(self, index: int, width: int) -> Content:
        summary = self._checkpoints[index]
        leads = not summary.step
        step = f"  step {summary.step}  {clean(summary.then) or '(no answer)'}"
        words = clean(summary.prompt) or self._without_prompt(summary) if leads else step
        text = Content.assemble(
            (f"\u25c7 {summary.id:>4}  " if leads else f"\u00b7 {summary.id:>4}  ", "$muted"),
            (words, "" if leads else "$faint"),
        )
        if width < _WITH_COUNTS:
            return text
        figures = f"{summary.messages_before:>8,}{format_age(summary.at):>9}"
        room = width - len(figures)
        text = text.truncate(room, ellipsis=True)
        return Content.assemble(text.pad_right(room - text.cell_length), (figures, "$muted"))

    def _without_prompt(self, summary: CheckpointSummary) -> str:
        is_start = self._compacted is not None and not summary.messages_before
        return "(start, before the summary: empty context)" if is_start else "(no prompt)"

    async def on_resize(self) -> None:
        await super().on_resize()
        self.call_after_refresh(self.draw_heads)  # the rows have a width then

    def _draw_heads(self, width: int) -> Content:
        width = self._rows.scrollable_content_region.width or width
        if width < _WITH_COUNTS or not self._checkpoints:
            return Content("")
        return Content(f"{'     #  BEFORE':<{width - 17}}{'MESSAGES':>8}{'WHEN':>9}")

    @on(Rows.Highlighted, "#past-rows")
    def _follow_cursor(self) -> None:
        if self._checkpoints:
            number = self._checkpoints[self._rows.cursor].id
            self._preview.show_place(number, Content.styled(f"Before \u25c7 {number}", "bold"))

    def has_rows(self) -> bool:
        return bool(self._checkpoints)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "list_archives":
            return self._compacted is not None
        return super().check_action(action, parameters)

    def action_list_archives(self) -> None:
        """See where the checkpoints before the compaction went."""
        self.dismiss("archives")

    @on(Rows.Chosen)
    def action_choose(self) -> None:
        if self._checkpoints:
            self.dismiss(self._checkpoints[self._rows.cursor].id)
