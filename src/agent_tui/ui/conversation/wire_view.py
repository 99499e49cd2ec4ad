"""Events from the wire as changes of the timeline, in one match; what else they say is passed on.

The timeline shows what is part of the conversation. The gauge, approvals and the progress of a turn
belong to others: a ``WireListener`` hears of them.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, assert_never

from agent_tui.core.dataclass import dataclass
from agent_tui.core.events import (
    AnswerUnsaved,
    ApprovalAnswered,
    ApprovalRequest,
    ApprovalRequested,
    ApprovalsQueued,
    BackgroundChanged,
    CheckpointMade,
    CompactionBegan,
    CompactionDelta,
    CompactionFinished,
    DMailSent,
    Event,
    Failed,
    FilesChanged,
    ModeChanged,
    NoticeGiven,
    PicturesShown,
    PromptJoined,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Reverted,
    ShellBegan,
    ShellEnded,
    ShellOutput,
    StatusChanged,
    StepBegan,
    StepInterrupted,
    StepRetried,
    SubagentEvent,
    TextDelta,
    ThinkDelta,
    ToolCallBegan,
    ToolCallDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnBegan,
    TurnEnd,
    TurnFinished,
    TurnResumed,
)
from agent_tui.core.messages import CommandDisplay
from agent_tui.core.modes import ApprovalMode
from agent_tui.core.summary import CompactionReport, OperationReport
from agent_tui.core.system_notes import without_tags
from agent_tui.core.todo import TODO_TOOL, TodoItem, read_todo
from agent_tui.core.usage import Gauge, Usage
from agent_tui.core.words import CANCELLED, compaction_refusal, outcome_of
from agent_tui.ui.blocks import (
    Changed,
    CheckpointBlock,
    CompactionBlock,
    NoticeBlock,
    ShellBlock,
    ToolBlock,
    ToolState,
    UserBlock,
    changed_by,
    turn_end_block,
)
from agent_tui.ui.conversation.subagent_lines import SubagentLines, SubagentWaits
from agent_tui.ui.renderers.long_text import GLANCE_CHARS
from agent_tui.ui.widgets.bars.status_line import WAITING

if TYPE_CHECKING:
    from agent_tui.core.messages import Display, ToolCall
    from agent_tui.ui.widgets.timeline.timeline import Timeline


class WireListener(Protocol):
    """Receives the events that are not part of the conversation.

    ``working`` says in two or three words what the agent does now.
    """

    def turn_began(self, turn: int) -> None: ...
    def step_began(self, step: int) -> None: ...
    def step_retried(self, event: StepRetried) -> None: ...
    def turn_finished(self, end: TurnEnd, steps: int) -> None: ...
    def status_changed(self, gauge: Gauge, usage: Usage | None, model: str) -> None: ...
    def prompt_joined(self, text: str) -> None: ...
    def working(self, work: str) -> None: ...
    def approval_requested(self, request: ApprovalRequest, *, is_own: bool) -> None: ...
    def approvals_queued(self, waiting: int) -> None: ...
    def question_asked(self, question: Question) -> None: ...
    def todo_changed(self, items: tuple[TodoItem, ...]) -> None: ...
    def background_changed(self, commands: tuple[str, ...], ended: str) -> None: ...
    def mode_changed(self, mode: ApprovalMode) -> None: ...
    def compaction_began(self, trigger: str, tokens: int) -> None: ...
    def compaction_streamed(self, text: str) -> None: ...
    def compaction_finished(self, report: CompactionReport | None, reason: str) -> None: ...
    def reverted(self, report: OperationReport) -> None: ...


@dataclass(slots=True)
class _Writing:
    """A call that is being written: of its arguments the part that is drawn, and their length.

    Joining megabytes at every frame would hold up the keys.
    """

    block: ToolBlock
    head: str = ""
    written: int = 0

    def extend(self, arguments: str) -> None:
        """Add more of the arguments."""
        self.head += arguments[: max(0, GLANCE_CHARS - len(self.head))]
        self.written += len(arguments)

    def shown(self) -> ToolBlock:
        """The block to draw now."""
        return replace(self.block, arguments=self.head, written=self.written)


class WireView:
    """Keeps a timeline in step with what happens.

    After a revert or a compaction the log is another one: the listener loads it again, and
    ``forget`` makes this view forget the blocks that were there.
    """

    def __init__(self, timeline: Timeline, listener: WireListener) -> None:
        self._timeline = timeline
        self._listener = listener
        self._tokens: int | None = None
        self._estimated = False
        self._writing: dict[int, _Writing] = {}
        self._subagents = SubagentLines()
        self._tools: dict[str, tuple[int, ToolBlock]] = {}
        self._compaction: int | None = None
        self._is_automatic = False
        self._shell: tuple[int, str] | None = None
        self._shell_block: tuple[int, ShellBlock] | None = None
        self._changed: dict[str, Changed] = {}
        self._asked: set[str] = set()
        self._waits = SubagentWaits()

    def handle(self, event: Event) -> None:
        """Show one event."""
        match event:
            case TurnBegan(turn, prompt):
                self._timeline.append(UserBlock(prompt))
                self._listener.turn_began(turn)
                self._listener.working("thinking")
            case TurnResumed(turn):
                self._listener.turn_began(turn)
                self._listener.working("thinking")
            case CheckpointMade(number, _, step):
                self._add_checkpoint(number, step)
            case StepBegan(step):
                self._writing.clear()
                self._asked.clear()
                self._listener.step_began(step)
                self._listener.working("thinking")
            case StepRetried():
                self._listener.step_retried(event)
            case StepInterrupted():
                self._interrupt()
            case TextDelta(text):
                self._timeline.stream_text(text)
                self._listener.working("answering")
            case ThinkDelta(text):
                self._timeline.stream_thinking(text)
                self._listener.working("thinking")
            case ToolCallBegan(index, call_id, name):
                self._begin_call(index, call_id, name)
            case ToolCallDelta(index, arguments):
                self._extend_call(index, arguments)
            case ToolStarted(call):
                self._queue_written()
                self._change_call(call, "running")
                self._tell_work()
            case ToolOutput(call_id, text):
                self._show_output(call_id, text)
            case ToolFinished():
                self._finish_call(event)
                self._tell_work()
            case ApprovalRequested(request):
                self._waits.ask(request.source)
                if request.source:
                    self._change_state(request.source, "approval")
                elif request.call.id in self._tools:
                    self._change_call(request.call, "approval", display=request.display)
                self._listener.approval_requested(request, is_own=not request.source)
                self._await_person(request.id)
            case ApprovalsQueued(waiting, sources):
                for source, state in self._waits.queue(sources).items():
                    self._change_state(source, state)
                self._listener.approvals_queued(waiting)
            case ApprovalAnswered(request, answer):
                self._asked.discard(request.id)
                if request.source:
                    self._change_state(request.source, self._waits.answer(request.source))
                elif answer.decision != "reject" and request.call.id in self._tools:
                    self._change_call(request.call, "running", display=request.display)
                self._tell_work()
            case QuestionAsked(question):
                self._change_state(question.call_id, "question")
                self._listener.question_asked(question)
                self._await_person(question.id)
            case QuestionAnswered(question):
                self._asked.discard(question.id)
                self._change_state(question.call_id, "running")
                self._tell_work()
            case PromptJoined(text):
                self._timeline.append(UserBlock(text, "steer"))
                self._listener.prompt_joined(text)
            case ShellBegan(command):
                self._shell = self._timeline.append(ShellBlock(command, "", "running")), command
            case ShellOutput(text):
                self._show_shell(text, "running")
            case ShellEnded(_, text, exit_code):
                self._finish_shell(text, exit_code)
            case BackgroundChanged(commands, ended):
                self._listener.background_changed(commands, ended)
            case CompactionBegan(trigger, tokens):
                self._compaction = self._timeline.append(CompactionBlock(trigger, 0, tokens, 0))
                self._is_automatic = trigger == "auto"
                self._listener.compaction_began(trigger, tokens)
            case CompactionDelta(text):
                self._listener.compaction_streamed(text)
            case CompactionFinished(report, reason):
                self._finish_compaction(report, reason)
                self._listener.compaction_finished(report, reason)
            case Reverted(report):
                self._listener.reverted(report)
            case DMailSent(checkpoint, _):
                to = f"checkpoint {checkpoint}"
                self._notice(f"D-Mail: the agent reverted to {to} and left itself a message")
            case FilesChanged():
                self._show_changes(event)
            case SubagentEvent(source):
                if told := self._subagents.hear(event):
                    self._show_output(source, told)
            case ModeChanged(mode):
                self._listener.mode_changed(mode)
            case NoticeGiven(text):
                self._notice(text)
            case PicturesShown(text, images):
                self._timeline.append(UserBlock(without_tags(text), "reminder", images))
            case AnswerUnsaved():
                self._timeline.close_answer()
                self._timeline.keep_unsaved()
            case StatusChanged(gauge, usage, model):
                self._tokens, self._estimated = gauge.tokens, gauge.estimated
                self._listener.status_changed(gauge, usage, model)
            case TurnFinished(_, end, steps, reason):
                self._finish_turn(end, reason)
                self._listener.turn_finished(end, steps)
            case Failed(message):
                self._timeline.close_answer()
                self._timeline.append(turn_end_block("failed", message))
            case _:
                assert_never(event)

    def forget(self) -> None:
        """The timeline was loaded again: the live blocks are gone."""
        self._writing.clear()
        self._tools.clear()
        self._changed.clear()
        self._shell_block = None
        self._compaction = None
        self._subagents.forget()
        self._shell = None
        self._waits = SubagentWaits()

    def _add_checkpoint(self, number: int, step: int) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        tokens = self._tokens if number else None  # the log begins there: nothing was counted
        self._timeline.append(CheckpointBlock(number, step, now, tokens, self._estimated))

    def _set_tool(self, block: ToolBlock) -> None:
        known = self._tools.get(block.call_id)
        if known is None:
            self._tools[block.call_id] = self._timeline.append(block), block
        else:
            self._tools[block.call_id] = known[0], block
            self._timeline.replace(known[0], block)

    def _begin_call(self, index: int, call_id: str, name: str) -> None:
        block = ToolBlock(call_id, name, "", "pending")
        self._writing[index] = _Writing(block)
        self._set_tool(block)
        self._listener.working(f"preparing {name}")

    def _extend_call(self, index: int, arguments: str) -> None:
        if index not in self._writing:
            return
        writing = self._writing[index]
        writing.extend(arguments)
        place, _ = self._tools[writing.block.call_id]
        self._timeline.replace_soon(place, writing.shown)

    def _queue_written(self) -> None:
        """The answer is complete: its calls wait for their turn."""
        for writing in self._writing.values():
            if self._tools[writing.block.call_id][1].state == "pending":
                self._set_tool(replace(writing.shown(), state="queued"))
        self._writing.clear()

    def _change_call(
        self, call: ToolCall, state: ToolState, output: str = "", display: Display | None = None
    ) -> None:
        changed = self._changed.get(call.id)
        self._set_tool(
            ToolBlock(call.id, call.name, call.arguments, state, output, display, changed)
        )

    def _change_state(self, call_id: str, state: ToolState) -> None:
        if call_id in self._tools:
            self._set_tool(replace(self._tools[call_id][1], state=state))

    def _finish_call(self, event: ToolFinished) -> None:
        call, result = event.call, event.result
        state = outcome_of(
            is_error=result.is_error, interrupted=event.interrupted, rejected=result.rejected
        )
        self._change_call(call, state, result.output, result.display)
        if call.name == TODO_TOOL and not result.is_error:
            self._listener.todo_changed(read_todo(call.arguments))

    def _show_changes(self, event: FilesChanged) -> None:
        """Say at a call, or a person's command, what it changed on disk; maybe after its turn."""
        changed = changed_by(event)
        is_shell = self._shell_block is not None and self._shell_block[1].command == event.call
        if event.cause == "shell" and self._shell_block is not None and is_shell:
            index, shell = self._shell_block
            self._timeline.replace(index, replace(shell, changed=changed))
            return
        self._changed[event.call] = changed
        if event.call in self._tools:
            self._set_tool(replace(self._tools[event.call][1], changed=changed))
        elif event.call:
            self._timeline.redraw_call(event.call)

    def _show_output(self, call_id: str, text: str) -> None:
        """Show what a running call prints, at most once a frame."""
        if call_id not in self._tools:
            return
        index, block = self._tools[call_id]
        if block.state in ("running", "approval"):  # a subagent may ask while it does more
            display = CommandDisplay("") if block.display is None else block.display
            shown = replace(block, output=text, display=display)
            self._tools[call_id] = index, shown
            self._timeline.replace_soon(index, lambda: shown)

    def _show_shell(self, text: str, state: ToolState, exit_code: int | None = None) -> None:
        if self._shell is not None:
            index, command = self._shell
            shell = ShellBlock(command, text, state, exit_code)
            self._shell_block = index, shell
            self._timeline.replace(index, shell)

    def _finish_shell(self, text: str, exit_code: int | None) -> None:
        state = outcome_of(is_error=bool(exit_code), interrupted=exit_code is None, rejected=False)
        self._show_shell(text, state, exit_code)
        self._shell = None

    def _tell_work(self) -> None:
        """Say which call waits or runs: of several that run, the one that was started last."""
        blocks = [block for _, block in self._tools.values()]
        running = [block.name for block in blocks if block.state == "running"]
        work = f"running {running[-1]}" if running else "thinking"
        self._listener.working(WAITING if self._asked else work)

    def _await_person(self, request_id: str) -> None:
        self._asked.add(request_id)
        self._listener.working(WAITING)

    def _interrupt(self) -> None:
        self._writing.clear()
        self._asked.clear()
        self._timeline.close_answer()
        self._drop_unstarted()

    def _finish_turn(self, end: TurnEnd, reason: str) -> None:
        self._asked.clear()
        self._timeline.close_answer()
        self._drop_unstarted()
        if end not in ("done", "failed"):  # a failure was told when it came
            self._timeline.append(turn_end_block(end, reason))

    def _drop_unstarted(self) -> None:
        """Remove calls that were never written whole: they are not in the log either."""
        for call_id, (index, block) in sorted(
            self._tools.items(), key=lambda item: item[1][0], reverse=True
        ):
            if block.state == "pending":
                self._discard(index)
                del self._tools[call_id]

    def _discard(self, index: int) -> None:
        self._timeline.discard(index)
        self._tools = {
            key: (place - (place > index), block) for key, (place, block) in self._tools.items()
        }

    def _finish_compaction(self, report: CompactionReport | None, reason: str) -> None:
        if self._compaction is None:
            return
        if report is None and not reason:
            self._discard(self._compaction)
        elif report is None:
            is_due = self._is_automatic and reason != CANCELLED
            told = compaction_refusal(reason) if is_due else reason
            self._timeline.replace(self._compaction, NoticeBlock(told))
        else:
            self._timeline.replace(
                self._compaction,
                CompactionBlock(
                    report.trigger,
                    report.archive,
                    report.tokens_before,
                    report.tokens_after,
                    report.summarised,
                    report.dropped,
                    report.fallback,
                    report.losses,
                ),
            )
        self._compaction = None

    def _notice(self, text: str) -> None:
        self._timeline.append(NoticeBlock(text))
