"""A turn as plain lines, for screen readers: who speaks, what runs, what came of it."""

from __future__ import annotations

import math
from typing import assert_never

from agent_tui.core.arguments import show_arguments
from agent_tui.core.events import (
    AnswerUnsaved,
    ApprovalAnswered,
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
    TurnFinished,
    TurnResumed,
)
from agent_tui.core.format import format_tokens
from agent_tui.core.messages import ToolCall, ToolResult
from agent_tui.core.modes import MODE_HELP
from agent_tui.core.summary import CompactionReport, OperationReport
from agent_tui.core.text import first_line, format_count, reveal
from agent_tui.core.words import CANCELLED, OUTCOMES, operation_words, outcome_of, say_how
from agent_tui.headless.plain.telling import MARK, quote
from agent_tui.headless.ways import PLAIN_WAYS

_SUBJECTS = ("command", "pattern", "query", "path", "file_path", "url")
_LONGEST = 160
_LONGEST_NAME = 60
_MOST_LINES = 12


class PlainLines:
    """Turns events into whole lines; what an answer says waits until its line is complete.

    What is not the program's own words stands behind a mark, or behind who says it.
    """

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._speaking = False
        self._thinking = False

    def hear(self, event: Event) -> list[str]:
        """The lines that are complete with this event."""
        if isinstance(event, TextDelta):
            return self._speak(event.text)
        told = self._tell(event)
        if told or isinstance(event, StepBegan | ApprovalRequested | QuestionAsked):
            return [*self._end_answer(), *told]
        return []

    def _speak(self, text: str) -> list[str]:
        self._thinking = False
        whole, newline, rest = text.rpartition("\n")
        if not newline:
            self._waiting.append(text)
            return []
        lines = self._say_who("".join((*self._waiting, whole, newline)))
        self._waiting = [rest] if rest else []
        return lines

    def _end_answer(self) -> list[str]:
        lines = self._say_who("".join(self._waiting)) if self._waiting else []
        self._waiting = []
        self._speaking = False
        return lines

    def _say_who(self, text: str) -> list[str]:
        lines = quote(text)
        if not self._speaking:
            lines[0] = f"Agent: {lines[0][len(MARK) :]}"
            self._speaking = True
        return lines

    def _tell(self, event: Event) -> list[str]:
        match event:
            case ThinkDelta():
                told = [] if self._thinking else ["The agent is thinking."]
                self._thinking = True
                return told
            case StepRetried(_, wait_seconds, reason):
                return [f"Retrying in {format_count(math.ceil(wait_seconds), 'second')}: {reason}"]
            case StepInterrupted(reason):
                return [f"Interrupted: {reason}"]
            case ToolStarted(call):
                return [f"Running {_describe(call)}"]
            case ToolFinished(call, result, interrupted):
                return _finished(call, result, interrupted=interrupted)
            case FilesChanged(files=files, added=added, removed=removed):
                counts = f"{format_count(added, 'line')} added, {removed:,} removed"
                return [f"Changed {format_count(files, 'file')}: {counts}."] if files else []
            case ModeChanged(mode):
                return [MODE_HELP[mode]]
            case PromptJoined(text):
                return [f"Your message joined the turn: {first_line(text, _LONGEST)}"]
            case ShellBegan(command):
                return [f"Running {command}"]
            case ShellEnded(_, text, exit_code):
                end = "interrupted" if exit_code is None else f"exit code {exit_code}"
                return [*(quote(text) if text else []), f"The command ended: {end}."]
            case BackgroundChanged(commands, ended):
                running = "; ".join(first_line(reveal(each), _LONGEST) for each in commands)
                told = [f"Background command ended: {first_line(reveal(ended), _LONGEST)}"]
                return told * bool(ended) + [f"In the background: {running}"] * bool(commands)
            case CompactionBegan(_, tokens):
                return [f"Compacting a context of {format_tokens(tokens)} tokens."]
            case CompactionFinished(report, reason):
                if report is None:
                    if reason == CANCELLED:
                        return [reason]
                    return [f"Not compacted: {reason}"] if reason else []
                return [_compacted(report)]
            case Reverted(report):
                return [_reverted(report)]
            case DMailSent(checkpoint, text):
                return [
                    f"The agent reverted to its earlier checkpoint {checkpoint} and left itself "
                    f"a message (D-Mail): {text}"
                ]
            case SubagentEvent(name=name, event=nested):
                return [f"Subagent {name}: {line}" for line in _tell_nested(nested)]
            case NoticeGiven(text) | Failed(text):
                return [say_how(text, PLAIN_WAYS)]
            case PicturesShown(images=images):
                return [f"The model was shown {format_count(len(images), 'picture')}."]
            case AnswerUnsaved():
                return [
                    "The answer could not be saved yet. It is kept in memory and will be saved as "
                    "soon as possible."
                ]
            case TurnFinished(_, end, steps, reason):
                taken = format_count(steps, "step")
                if end == "done":
                    return [f"Done after {taken}."]
                return [say_how(reason, PLAIN_WAYS) or f"Ended: {end}."]
            case (
                TurnBegan()
                | TurnResumed()
                | CheckpointMade()
                | StepBegan()
                | TextDelta()
                | ToolCallBegan()
                | ToolCallDelta()
                | ToolOutput()
                | ApprovalRequested()
                | ApprovalsQueued()
                | ApprovalAnswered()
                | QuestionAsked()
                | QuestionAnswered()
                | ShellOutput()
                | CompactionDelta()
                | StatusChanged()
            ):
                return []
            case _:
                assert_never(event)


def _describe(call: ToolCall) -> str:
    fields = show_arguments(call.arguments)
    named = [fields[name] for name in _SUBJECTS if fields.get(name)]
    said = named[0] if named else " ".join(fields.values())
    return f"{_name(call)} {first_line(reveal(said[: 8 * _LONGEST]), _LONGEST)}".rstrip()


def _name(call: ToolCall) -> str:
    """What the model called a tool, which need not be the name of one."""
    return first_line(reveal(call.name[:_LONGEST]), _LONGEST_NAME) or "without a name"


def _finished(call: ToolCall, result: ToolResult, *, interrupted: bool) -> list[str]:
    outcome = OUTCOMES[
        outcome_of(is_error=result.is_error, interrupted=interrupted, rejected=result.rejected)
    ]
    lines = quote(result.output) if result.output else []
    shown, left = lines[:_MOST_LINES], len(lines) - _MOST_LINES
    more = [f"{format_count(left, 'more line')}. See /output for all of them."] if left > 0 else []
    end = f"Tool {_name(call)}: {outcome or 'ok'}, {format_count(len(lines), 'line')}"
    return [end, *shown, *more]


def _tell_nested(event: Event) -> list[str]:
    """What a subagent does, in few words: its calls, its failures and its end."""
    match event:
        case ToolStarted(call):
            return [f"running {_describe(call)}"]
        case Failed(message):
            return [message]
        case TurnFinished(_, end, steps):
            return [f"{end} after {format_count(steps, 'step')}"]
        case _:
            return []


def _compacted(report: CompactionReport) -> str:
    before, after = format_tokens(report.tokens_before), format_tokens(report.tokens_after)
    usage = report.usage
    cost = f"The summary took {format_tokens(usage.total_tokens)} tokens. " if usage else ""
    return (
        f"Compacted: {before} to {after} tokens. Messages: {report.kept:,} kept, "
        f"{report.summarised:,} summarised, {report.dropped:,} dropped. {cost}Undo with /undo."
    )


def _reverted(report: OperationReport) -> str:
    if report.told:
        return f"{report.told}."
    moved = [
        f"{format_count(count, 'message')} {what}"
        for count, what in ((report.messages_left, "removed"), (report.messages_back, "restored"))
        if count
    ]
    done = operation_words(report.reason).done.capitalize() or "Reverted"
    return f"{done}: {' and '.join(moved) or 'no messages removed'}. Undo with /undo."
