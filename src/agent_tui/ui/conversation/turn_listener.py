"""What the wire says beside the conversation: status, gauge, approvals, and what came of a turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.text import first_line, reveal
from agent_tui.ui.commands.table import name_keys
from agent_tui.ui.conversation.revert_hint import RevertHint
from agent_tui.ui.conversation.todo import show_todo, todo_panel

if TYPE_CHECKING:
    from agent_tui.core.events import ApprovalRequest, Question, StepRetried, TurnEnd
    from agent_tui.core.modes import ApprovalMode
    from agent_tui.core.summary import CompactionReport, OperationReport
    from agent_tui.core.todo import TodoItem
    from agent_tui.core.usage import Gauge, Usage
    from agent_tui.ui.conversation.conversation import Conversation


_RETRY = "press {retry} to retry, or use {model}"
_CONNECT = "use {connect}"


def invite_to_retry(chat: Conversation) -> None:
    """A model was connected: where the empty prompt told to connect one, tell how to retry."""
    if chat.panes.invited == name_keys(chat.app, _CONNECT):
        chat.panes.invite(name_keys(chat.app, _RETRY))


class TurnListener:
    """Shows around the conversation what is not part of it; a ``WireListener``.

    Args:
        chat: the conversation.
    """

    def __init__(self, chat: Conversation) -> None:
        self._chat = chat
        self._summary_size = 0
        self._is_first = False
        self._revert_hint = RevertHint(chat)

    def prompt_joined(self, text: str) -> None:
        self._chat.prompts.take_joined(text)

    def turn_began(self, turn: int) -> None:
        self._is_first = turn == 1
        self._chat.panes.invite("")
        self._chat.panes.show_conversation(shown=True)
        self._chat.prompt_box.frame.running = True
        if panel := todo_panel(self._chat.panes):
            panel.drop_done()
        if self._chat.session is not None:
            self._chat.status.title = self._chat.session.view.title

    def step_began(self, step: int) -> None:
        self._chat.status.begin_step(step)
        self._chat.notices.drop_progress()
        self._chat.panes.update_side()

    def working(self, work: str) -> None:
        self._chat.status.work = work

    def step_retried(self, event: StepRetried) -> None:
        self._chat.status.work = "retrying"
        self._chat.status.show_retry(event.attempt, event.wait_seconds, event.reason)

    def turn_finished(self, end: TurnEnd, steps: int) -> None:
        self._chat.end_requests()
        self._chat.panes.show_work("")
        self._chat.notices.drop_progress()
        self._chat.log.settle()
        self._chat.facts.update_place()
        self._chat.panes.update_side()
        if self._chat.session is not None:
            self._chat.prompts.give_back(self._chat.session.take_steers())
            self._chat.facts.colour_gauge(self._chat.session)
        if end == "failed":
            self._chat.timeline.action_last()
            self._chat.panes.invite(name_keys(self._chat.app, self._way_on))
        elif end in ("max_steps", "limit"):
            self._chat.panes.invite(name_keys(self._chat.app, "press {retry} to continue"))
        elif end == "done" and self._is_first:
            self._revert_hint.show()

    @property
    def _way_on(self) -> str:
        """What to do after a failure: retrying helps only if a model is connected."""
        return _RETRY if self._chat.status.is_connected else _CONNECT

    def status_changed(self, gauge: Gauge, usage: Usage | None, model: str) -> None:
        self._chat.gauge.gauge = replace(gauge, shares=self._chat.gauge.gauge.shares)
        self._chat.status.model = model or self._chat.status.model
        if self._chat.session is not None:
            self._chat.facts.show_connection(self._chat.session)
        if usage is not None:
            self._chat.facts.add_usage(usage, self._chat.status.model)

    def mode_changed(self, mode: ApprovalMode) -> None:
        self._chat.status.mode = mode

    def approval_requested(self, request: ApprovalRequest, *, is_own: bool) -> None:
        self._chat.requests.approve(request, is_own=is_own)

    def approvals_queued(self, waiting: int) -> None:
        self._chat.requests.tell_queue(waiting)

    def question_asked(self, question: Question) -> None:
        self._chat.requests.ask(question)

    def todo_changed(self, items: tuple[TodoItem, ...]) -> None:
        show_todo(self._chat.panes, items)

    def background_changed(self, commands: tuple[str, ...], ended: str) -> None:
        self._chat.status.background = len(commands)
        if ended:
            self._chat.notices.hint(f"Background command ended: {reveal(first_line(ended, 80))}")

    def compaction_began(self, trigger: str, tokens: int) -> None:
        self._summary_size = 0
        self._chat.status.work = "compacting the context"

    def compaction_streamed(self, text: str) -> None:
        self._summary_size += len(text)
        size = format_count(self._summary_size, "character")
        self._chat.status.work = f"summarising, {size}"

    def compaction_finished(self, report: CompactionReport | None, reason: str) -> None:
        self._chat.status.work = "thinking" if self._chat.runner.is_busy else ""
        self._chat.notices.drop_progress()
        if report is not None:
            self._chat.log.load_compacted(is_shorter=bool(report.summarised or report.dropped))
            before, after = format_tokens(report.tokens_before), format_tokens(report.tokens_after)
            usage = report.usage
            cost = f" (writing it used {format_tokens(usage.total_tokens)})" if usage else ""
            undo = name_keys(self._chat.app, "Undo with {undo}.")
            self._chat.notices.hint(f"Compacted: {before} → {after} tokens{cost}. {undo}")

    def reverted(self, report: OperationReport) -> None:
        if report.reason == "user":
            self._revert_hint.learn()
        if report.told:
            # The way back from a revert is told where it is made.
            back = {"undo": " Redo with {redo}.", "redo": " Undo with {undo}."}
            way = name_keys(self._chat.app, back.get(report.reason, ""))
            self._chat.notices.hint(f"{report.told}.{way}" if way else report.told)
        if not report.moved:
            if self._chat.session is not None:
                self._chat.timeline.settle()
                self._chat.facts.show(self._chat.session)
            return
        self._chat.log.load()
        self._chat.prompts.take_back(report.prompt_back)
        self._chat.prompts.return_prompt(report.prompt, is_again=report.reason == "redo")
        if report.fork:
            listed = name_keys(self._chat.app, "{sessions} to see it.")
            self._chat.notices.notice(f"Later messages were saved as a new session. {listed}")
