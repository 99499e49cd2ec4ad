"""The compaction pane: before and after side by side, with what the summary does not mention."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Literal, TypeAlias, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.summary import CompactionView
from agent_tui.core.text import clean
from agent_tui.core.words import describe_strategy, describe_trigger
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, Panel
from agent_tui.ui.screens.dialogs.reader import ReaderScreen
from agent_tui.ui.widgets.lists.fates import Balance, draw_counts
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.lists.loss_list import LossList
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.sides import Side, Sides

_BOTH_SIDES_WIDTH = 76

Result = TypeVar("Result")
PastChoice: TypeAlias = tuple[Literal["undo", "open"], int]
"""``("undo", archive)`` or ``("open", archive)``; None when only looked at."""


class CompactionPane(Panel[Result], Generic[Result]):
    """What the preview and the look back share: two sides over the loss report."""

    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/compaction.tcss")]
    AUTO_FOCUS = "#sides"
    BINDINGS = [
        Binding("tab", "switch", "losses", key_display="Tab"),
        Binding("right,left", "other_side", "side", key_display="←→"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.sides = Sides()
        self.losses = LossList()
        self._view: CompactionView | None = None
        self._balance: Balance | None = None
        self._is_final = False

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Fitted(self._draw_balance, id="balance")
        notice = Static(id="notice")
        notice.display = False
        yield notice
        yield Fitted(self.sides.headings, id="columns")
        yield self.sides
        yield Fitted(self._draw_losses_heading, id="losses-heading")
        yield self.losses
        yield self.key_hints()

    @property
    def has_room_for_both(self) -> bool:
        """Whether both sides stand next to each other; else one is shown at a time."""
        return self.app.size.width >= _BOTH_SIDES_WIDTH

    async def on_resize(self) -> None:
        self.sides.split(both=self.has_room_for_both)

    def show_view(self, view: CompactionView, *, final: bool) -> None:
        """Show both sides; ``final`` when the summary is complete and losses are known."""
        self._view = view
        self._is_final = final
        self.set_class(not final, "-writing")
        self._balance = Balance(view)
        self.sides.show_view(view, self._balance.untouched)
        empty = "No losses found." if final else ""
        self.losses.show_losses(
            view.losses, empty or "Losses are listed once the summary is complete."
        )
        if self.focused is self.losses and not self.check_action("switch", ()):
            self.sides.focus()  # nothing there shows where the keys are
        for drawn in self.query(Fitted):
            drawn.refresh()

    def show_notice(self, text: str, style: str = "$attention") -> None:
        """Say something about the whole compaction in a line of its own, or take it away."""
        notice = self.query_one("#notice", Static)
        notice.display = bool(text)
        notice.update(Content.styled(clean(text), style))

    def _draw_balance(self, width: int) -> Content:
        if self._balance is None:
            return Content("")
        return self._balance.draw(width, final=self._is_final)

    def _draw_losses_heading(self, _width: int) -> Content:
        count = len(self._view.losses) if self._view is not None else 0
        lost = format_count(count, "thing") + " the summary does not mention"
        return Content.styled(lost if count else "Losses", "bold")

    def heading_facts(self) -> tuple[str, ...]:
        """For the heading: the fates in numbers, the files that were added, what was retried."""
        if self._view is None:
            return ()
        report = self._view.report
        files = f"with {', '.join(report.files)}" if report.files else ""
        retries = format_count(report.retries, "retry", "retries") if report.retries else ""
        index = (
            f"name index: {format_tokens(report.index_tokens)} tokens"
            if report.index_tokens
            else ""
        )
        usage = report.usage
        cost = f"writing it used {format_tokens(usage.total_tokens)} tokens" if usage else ""
        masked = f"{format_tokens(report.masked_tokens)} masked" if report.masked else ""
        return draw_counts(self._view).plain, masked, index, files, retries, cost

    def action_switch(self) -> None:
        to_losses = not self.losses.has_focus
        self.set_class(to_losses, "-losses")
        (self.losses if to_losses else self.sides).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "other_side":
                return not self.has_room_for_both
            case "switch":  # on a low screen the list has a page of its own, which says so
                return bool(self.losses.count) or self.has_class("-low")
            case _:
                return True

    def word_of(self, action: str) -> str:
        """Tab leads back from the losses."""
        return "messages" if action == "switch" and self.focused is self.losses else ""

    def action_other_side(self) -> None:
        self.show_side("after" if self.sides.side == "before" else "before")

    def show_side(self, side: Side) -> None:
        """Show this side where there is room for one only."""
        self.sides.show_side(side)
        self.query_one("#columns").refresh()

    @on(Rows.Chosen, "#losses")
    def _go_to_message(self, event: Rows.Chosen) -> None:
        message = self.losses.loss_at(event.index).message
        self.remove_class("-losses")
        self.sides.focus()
        self.call_after_refresh(self._reveal, message)

    def _reveal(self, message: int) -> None:
        self.sides.go_to(message)
        self.query_one("#columns").refresh()

    @on(Rows.Chosen, "#sides")
    def _read(self, event: Rows.Chosen) -> None:
        message = self.sides.message
        if self._view is not None and self.sides.is_on_summary:
            self.app.push_screen(ReaderScreen("Summary", "", self._view.summary, markdown=True))
        if message is None:
            return
        who = clean(message.tool) or message.role
        note = f"{who} · {message.tokens:,} tokens · {message.fate}"
        title, is_answer = f"Message {message.index + 1}", message.role == "assistant"
        self.app.push_screen(ReaderScreen(title, note, message.text, markdown=is_answer))


class PastCompactionScreen(CompactionPane[PastChoice]):
    """A compaction that was made.

    Args:
        archive: the archive that holds what was there before.
        load: gives both sides, for example ``lambda: session.view_compaction(archive)``.
        can_undo: whether ``u`` is offered.
    """

    BINDINGS = [
        Binding("u", "undo", "undo"),
        Binding("o", "open_archive", "open previous log", key_display="o"),
    ]

    def __init__(
        self, archive: int, load: Callable[[], Awaitable[CompactionView]], *, can_undo: bool = True
    ) -> None:
        super().__init__()
        self._archive = archive
        self._load_view = load
        self._can_undo = can_undo

    def on_mount(self) -> None:
        self.show_heading("Compaction", "reading and counting losses…")
        self._load()

    @work(exclusive=True, group="compaction")
    async def _load(self) -> None:
        view = await self.attempt(self._load_view())
        if view is None:
            self.show_heading("Compaction", "could not be read")
            return
        self.show_view(view, final=True)
        report = view.report
        made = describe_trigger(report.trigger), describe_strategy(report.strategy)
        archive = f"archive {self._archive}"
        self.show_heading("Compaction", archive, *made, *self.heading_facts())
        if report.fallback:
            self.show_notice("No model could summarise; the fallback kept the newest messages.")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._can_undo if action == "undo" else super().check_action(action, parameters)

    def action_undo(self) -> None:
        self.dismiss(("undo", self._archive))

    def action_open_archive(self) -> None:
        self.dismiss(("open", self._archive))
