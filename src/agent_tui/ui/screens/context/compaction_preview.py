"""A compaction before it is made: watch the summary come, steer it, then apply it or not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from textual import on, work
from textual.binding import Binding
from textual.timer import Timer
from textual.worker import Worker

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.summary import (
    CompactionReport,
    CompactionRequest,
    CompactionView,
    DraftSummary,
    Loss,
    StrategySummary,
)
from agent_tui.core.text import clean
from agent_tui.core.words import describe_strategy
from agent_tui.resources import stylesheet
from agent_tui.ui.commands.table import name_keys_of_hint
from agent_tui.ui.screens.context.compaction import CompactionPane
from agent_tui.ui.screens.context.summary_edits import SummaryEdits, keep_by_hand
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.widgets.bars.key_hints import KeyHints
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.summary_editor import SummaryEditor
from agent_tui.ui.widgets.prompt.line_input import LineInput

_FRAME_SECONDS = 1 / 15
_DISCARDS = "Press {compaction-preview-leave:Esc} again to discard your changes."


class Compacting(Protocol):
    """What the preview needs of an open session; drafts are the session's own."""

    @property
    def strategies(self) -> Sequence[StrategySummary]: ...
    async def draft(
        self,
        request: CompactionRequest,
        *,
        on_plan: Callable[[CompactionView], None] | None,
        on_text: Callable[[str], None] | None,
    ) -> DraftSummary: ...
    async def revise(
        self, draft_id: str, *, summary: str | None = None, pins: frozenset[str] | None = None
    ) -> DraftSummary: ...
    async def apply(self, draft_id: str) -> CompactionReport: ...


class CompactionPreviewScreen(CompactionPane[CompactionReport]):
    """Is dismissed with the report when applied, with None when cancelled.

    Until it is applied the log has not changed.

    Args:
        compacting: the open session's compactions.
        focus: what the summary should keep above all.
        strategy: a strategy's name, empty for the session's own.
    """

    CSS_PATH = [*CompactionPane.CSS_PATH, stylesheet("widgets/summary_editor.tcss")]
    BINDINGS = [
        Binding("a", "apply", "apply"),
        Binding("e", "edit", "edit"),
        Binding("p,space", "pin", "pin", key_display="p"),
        Binding("k", "keep", "keep", key_display="k"),
        Binding("f", "focus_on", "focus"),
        Binding("s", "strategy", "strategy"),
        Binding("ctrl+s", "save", "save", key_display="Ctrl+S"),
        Binding("enter", "summarise_again", "summarise again", key_display="Enter"),
        Binding("escape", "leave", "back", key_display="Esc"),
    ]

    def __init__(self, compacting: Compacting, focus: str = "", strategy: str = "") -> None:
        super().__init__()
        self._compacting = compacting
        self._focus_text = focus
        self._strategy = strategy
        self._pins: frozenset[str] = frozenset()
        self._first_pins = self._pins  # those that were pinned before
        self._planned_pins = self._drafted_pins = self._pins
        self._knows_pins = False
        self._draft: DraftSummary | None = None
        self._last: tuple[DraftSummary, str, str] | None = None
        self._summary = ""  # of the draft, with every edit up to now
        self._edits = SummaryEdits()
        self._streamed: list[str] = []
        self._has_streamed = False
        self._timer: Timer | None = None
        self._is_applying = False
        self._is_possible = True
        self._was_warned = False
        self._followed: Loss | None = None
        self._one_by_one = asyncio.Lock()
        self._field: SummaryEditor | LineInput | None = None

    def on_mount(self) -> None:
        self._timer = self.set_interval(_FRAME_SECONDS, self._show_stream, pause=True)
        self._begin()

    def _begin(self) -> None:
        """Work out a draft from the beginning; pins and edits by hand are carried over."""
        self._draft = None
        self._streamed, self._has_streamed = [], False
        self._set_possible(possible=True)
        self.sides.show_summary("")
        self.show_notice("")
        self._head("reading the context…")
        self._write_draft()

    @work(exclusive=True, group="compaction")
    async def _write_draft(self) -> None:
        assert self._timer is not None
        self._timer.resume()
        pins = self._pins if self._knows_pins else None  # None: those of the compaction before
        try:
            draft = await self._compacting.draft(
                CompactionRequest("manual", self._strategy, self._focus_text, pins),
                on_plan=self._take_plan,
                on_text=self._streamed.append,
            )
        except AgentTuiError as error:
            self._give_up(str(error))
            return
        finally:
            self._timer.pause()
        self._drafted_pins = self._planned_pins
        self._take_draft(draft)
        self._summary = self._edits.carry_into(draft.view.summary)
        if self._edits.added:
            self.tell("Your edits were added to the new summary.")
        self._revise()

    def _give_up(self, reason: str) -> None:
        """Say why there is no draft; where there was one before, it stands again."""
        if self._last is None:
            self._set_possible(possible=False)
            self._head("not possible")
            self.show_notice(reason, "$danger")
            return
        draft, self._focus_text, self._strategy = self._last
        self._take_draft(draft)
        self._revise()
        self.tell(reason, is_error=True)

    def _set_possible(self, *, possible: bool) -> None:
        """Offer only keys that can do something: without a draft nothing can be applied or kept."""
        self._is_possible = possible
        self.set_class(not possible, "-impossible")
        self.refresh_bindings()

    def _take_plan(self, view: CompactionView) -> None:
        self._planned_pins = frozenset(each.key for each in view.before if each.pinned)
        if not self._knows_pins:
            self._knows_pins = True
            self._pins = self._first_pins = self._planned_pins
        self.show_view(view, final=False)
        self._head("the summary is being written…", *self.heading_facts())

    def _show_stream(self) -> None:
        if self._streamed and self._draft is None:
            self.sides.show_summary("".join(self._streamed))
            if not self._has_streamed:
                self._has_streamed = True
                self.show_side("after")

    def _take_draft(self, draft: DraftSummary) -> None:
        self._draft = draft
        self.refresh_bindings()
        self._last = (draft, self._focus_text, self._strategy)
        self.show_view(draft.view, final=True)
        self._head(describe_strategy(draft.view.report.strategy), *self.heading_facts())
        if draft.refusal:
            self.show_notice(draft.refusal, "$danger")
        elif draft.failure and draft.view.report.fallback:
            self.show_notice(f"No summary by the model: {draft.failure}")
        else:
            self.show_notice("")

    def _head(self, *notes: str) -> None:
        focus = f"focus: {self._focus_text}" if self._focus_text else ""
        self.show_heading("Compaction preview", *notes, focus)

    @work(group="compaction-apply")
    async def action_apply(self) -> None:
        if self._is_applying:
            return
        self._is_applying = True
        try:
            async with self._one_by_one:
                await self._apply()
        finally:
            self._is_applying = False

    async def _apply(self) -> None:
        draft = self._draft
        if draft is None:
            self.tell("The summary is not complete yet.")
            return
        if draft.refusal:
            self.tell(draft.refusal, is_error=True)
            return
        report = await self.attempt(self._compacting.apply(draft.id))
        if report is not None:
            self.dismiss(report)

    def action_leave(self) -> None:
        if isinstance(self._field, SummaryEditor) and not self._field.may_close():
            self.tell(name_keys_of_hint(self.app, _DISCARDS))
        elif self._field is not None:
            self._close_field()
        elif self._is_applying:
            return
        elif not self._was_warned and self._has_changes:
            self._was_warned = True
            self.tell(name_keys_of_hint(self.app, _DISCARDS))
        else:
            self.workers.cancel_node(self)
            self.dismiss(None)

    @property
    def _has_changes(self) -> bool:
        return self._pins != self._first_pins or self._edits != SummaryEdits()

    def action_pin(self) -> None:
        """Pin the highlighted message, or unpin it."""
        message = self.sides.message
        if self.losses.has_focus and self.losses.loss is not None and self._view is not None:
            message = self._view.before[self.losses.loss.message]
        if message is None:
            return
        self._pins = self._pins ^ {message.key}
        self._was_warned = False
        if self._draft is None:
            self.tell("The pin applies once the summary is ready.")
        self._revise()

    def action_keep(self) -> None:
        """Write the highlighted loss into the summary, word for word."""
        loss = self._chosen_loss
        if loss is None or self._draft is None:
            key = name_keys_of_hint(self.app, "Press {compaction-pane-switch:Tab} for the list.")
            self.tell(f"Choose a loss first. {key}")
            return
        line = f"- {clean(loss.line.strip() or loss.text)}"
        self._change_summary(keep_by_hand(self._summary, line))

    @property
    def _chosen_loss(self) -> Loss | None:
        """The highlighted loss, or the one that led to the message that is highlighted now."""
        if self.losses.has_focus:
            return self.losses.loss
        loss, message = self._followed, self.sides.message
        is_still_there = self._view is not None and loss in self._view.losses
        if loss is None or message is None or not is_still_there or message.index != loss.message:
            return None
        return loss

    @on(Rows.Chosen, "#losses")
    def _remember_loss(self, event: Rows.Chosen) -> None:
        self._followed = self.losses.loss_at(event.index)

    def _change_summary(self, summary: str) -> None:
        self._edits = self._edits.then(self._summary, summary)
        self._was_warned = False
        self._summary = summary
        self._revise()

    @work(group="compaction-revision")
    async def _revise(self) -> None:
        """Bring the draft up to the summary and the pins of now.

        Pins that leave nothing to compact are unpinned again.
        """
        async with self._one_by_one:
            before, pins, summary = self._draft, self._pins, self._summary
            if before is None or (summary == before.view.summary and pins == self._drafted_pins):
                return
            draft = await self.attempt(
                self._compacting.revise(before.id, summary=summary, pins=pins)
            )
            if self._draft is not before:
                return
            if draft is not None:
                self._drafted_pins = pins
                self._take_draft(draft)
            elif self._pins == pins != self._drafted_pins:
                self._pins = self._drafted_pins
                self._revise()

    def action_edit(self) -> None:
        if self._draft is None:
            self.tell("The summary is not complete yet.")
            return
        self._open_field(SummaryEditor(self._summary))
        self.add_class("-editing")

    def action_focus_on(self) -> None:
        question = "What should the summary keep above all?"
        self._open_field(LineInput(question, value=self._focus_text, id="instruction"))

    def _open_field(self, field: SummaryEditor | LineInput) -> None:
        self._field = field
        (hints := self.query_one(KeyHints)).show_keys()  # the field's own, which nobody knows yet
        self.mount(field, before=hints)
        field.focus()
        self.refresh_bindings()

    def _close_field(self) -> None:
        if self._field is not None:
            self._field.remove()
        self._field = None
        self.remove_class("-editing")
        self.sides.focus()
        self.refresh_bindings()

    def action_save(self) -> None:
        """Take the summary as it was edited."""
        if isinstance(self._field, SummaryEditor):
            text = self._field.text
            self._close_field()
            self._change_summary(text)

    @on(LineInput.Submitted, "#instruction")
    def action_summarise_again(self) -> None:
        """Take the instruction, and have another summary written."""
        if isinstance(self._field, LineInput):
            self._focus_text = clean(self._field.value.strip())
            self._close_field()
            self._begin()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is typed, only the keys of its field are offered."""
        match action:
            case "save":
                return isinstance(self._field, SummaryEditor)
            case "summarise_again":
                return isinstance(self._field, LineInput)
            case "apply" | "edit" | "pin" | "keep" | "switch" if not self._is_possible:
                return False
            case "keep" if not self.losses.count:
                return False
            case "apply" | "edit" | "pin" | "keep" | "focus_on" | "strategy" | "show_keys":
                return self._field is None
            case "other_side" | "switch" if self._field is not None:
                return False
            case _:
                return super().check_action(action, parameters)

    def offers(self, action: str, parameters: tuple[object, ...]) -> bool:
        """While the summary is being written, there is nothing to apply or to edit yet."""
        return action not in ("apply", "edit") or self._draft is not None

    @work(exclusive=True, group="compaction-choice")
    async def action_strategy(self) -> None:
        choices = [_choice_of(each) for each in self._compacting.strategies]
        now = self._strategy or (self._view.report.strategy if self._view else "")
        chosen = await self.app.push_screen_wait(ChoiceScreen("Strategy", choices, now))
        if chosen:
            self._strategy = chosen
            self._begin()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        event.stop()


def _choice_of(strategy: StrategySummary) -> Choice:
    return Choice(strategy.name, describe_strategy(strategy.name), strategy.keeps)
