"""What a turn emits on the wire: a closed union of frozen events, matched once by each listener."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import ChangeCause
from agent_tui.core.messages import Display, MediaPart, ToolCall, ToolResult
from agent_tui.core.modes import ApprovalMode
from agent_tui.core.summary import CompactionReport, OperationReport
from agent_tui.core.usage import Gauge, Usage

if TYPE_CHECKING:
    from agent_tui.core.records import WorkspaceRecord

TurnEnd: TypeAlias = Literal[
    "done", "cancelled", "rejected", "max_steps", "limit", "repetition", "failed"
]
Decision: TypeAlias = Literal["once", "session", "always", "reject"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One action that waits for a person: ``display`` shows in full what will happen."""

    id: str
    call: ToolCall
    title: str
    display: Display | None
    offers: tuple[str, ...] = ()
    """Rules that may be allowed for the session instead of this one action, the likeliest first."""
    can_keep: bool = False
    """Whether such a rule can be kept for the folder."""
    source: str = ""
    """The call that started the subagent whose action it is; empty for the agent's own."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """A person's decision.

    Attributes:
        decision: for once, for this session, in this folder from now on, or not at all.
        feedback: is told to the agent with a rejection.
        rule: one of the request's offers; without one, ``session`` means this very action.
        command: what to run instead, where a person changed the command.
    """

    decision: Decision
    feedback: str = ""
    rule: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What the agent asks the user; ``choices`` are offered, and any other text is an answer.

    ``call_id``: the call that waits for the answer.
    """

    id: str
    text: str
    choices: tuple[str, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """From now on more, or less, is allowed without asking."""

    mode: ApprovalMode


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A prompt was written to the log and the agent starts on it."""

    turn: int
    prompt: str


@dataclass(frozen=True, slots=True)
class TurnResumed:
    """The agent continues a turn that had ended without its answer; there is no new prompt."""

    turn: int


@dataclass(frozen=True, slots=True)
class CheckpointMade:
    """A checkpoint record was written. ``step`` is 0 before the prompt of a turn."""

    id: int
    turn: int
    step: int


@dataclass(frozen=True, slots=True)
class StepBegan:
    """The model is about to be asked."""

    step: int


@dataclass(frozen=True, slots=True)
class StepRetried:
    """A request failed and will be repeated."""

    attempt: int
    wait_seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class StepInterrupted:
    """A step was cut short; what had arrived of the answer is in the log."""

    reason: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkDelta:
    """More of the reasoning; ``encrypted`` closes it with a provider's signature."""

    text: str
    encrypted: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCallBegan:
    """The model starts to write a call; its arguments follow as deltas."""

    index: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a call's arguments (a piece of JSON text)."""

    index: int
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call was written to the log and its tool runs now."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The last rows that a running call has printed so far; they replace those sent before."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call's result was written to the log; one that was interrupted may wait for the disk."""

    call: ToolCall
    result: ToolResult
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """What really changed on disk while the tool ``call`` ran, or, without one, outside of tools.

    ``why`` says why nothing is known of it.
    """

    call: str
    cause: ChangeCause
    files: int
    added: int = 0
    removed: int = 0
    why: str = ""


def sum_up(capture: WorkspaceRecord) -> FilesChanged:
    """What a capture found, in numbers; the same when live and when read from the log."""
    added = sum(each.added for each in capture.delta)
    removed = sum(each.removed for each in capture.delta)
    why = capture.why if capture.status == "none" else ""
    return FilesChanged(capture.call, capture.cause, len(capture.delta), added, removed, why)


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """An action waits for a person; answer it by the request's id."""

    request: ApprovalRequest


@dataclass(frozen=True, slots=True)
class ApprovalsQueued:
    """How many more actions wait after the one that a person is asked about now.

    ``sources`` are the calls whose subagents wait among them.
    """

    waiting: int
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """A person decided about an action."""

    request: ApprovalRequest
    answer: ApprovalAnswer


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The agent waits for an answer of the user; give it with the id of the question."""

    question: Question


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The user answered; empty if they declined, or if nobody is there."""

    question: Question
    answer: str


@dataclass(frozen=True, slots=True)
class PromptJoined:
    """A message sent while the agent ran was written to the log and joins at this step."""

    text: str


@dataclass(frozen=True, slots=True)
class ShellBegan:
    """A command that a person typed starts."""

    command: str


@dataclass(frozen=True, slots=True)
class ShellOutput:
    """The last rows that the command has printed so far; they replace those sent before."""

    text: str


@dataclass(frozen=True, slots=True)
class ShellEnded:
    """The command ended and was written to the log; ``exit_code`` is None if interrupted."""

    command: str
    text: str
    exit_code: int | None


@dataclass(frozen=True, slots=True)
class BackgroundChanged:
    """Which commands of the agent run in the background now, each in one line.

    ``ended``: the one that has just ended; empty where one was started or somebody stopped it.
    """

    commands: tuple[str, ...]
    ended: str = ""


@dataclass(frozen=True, slots=True)
class CompactionBegan:
    """The context is being compacted; its summary follows as deltas."""

    trigger: str
    tokens: int


@dataclass(frozen=True, slots=True)
class CompactionDelta:
    """More of the summary."""

    text: str


@dataclass(frozen=True, slots=True)
class CompactionFinished:
    """A compaction was committed, or was not: then ``report`` is None and ``reason`` says why.

    The reason is empty where it was told before.
    """

    report: CompactionReport | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reverted:
    """The log was replaced by an earlier state; every view of it must be read again.

    Where ``report.moved`` is false, only what a person chose for the session is as it was before.
    """

    report: OperationReport


@dataclass(frozen=True, slots=True)
class DMailSent:
    """The agent returned to its own earlier checkpoint with a message to itself (D-Mail)."""

    checkpoint: int
    text: str


@dataclass(frozen=True, slots=True)
class SubagentEvent:
    """Something happened in a subagent's own session.

    Attributes:
        source: the id of the tool call that started it.
        name: how it is called on screen.
        session_id: its own session, a child of this one.
        event: what happened there.
    """

    source: str
    name: str
    session_id: str
    event: Event


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The gauge moved, or the model reported what a step used."""

    gauge: Gauge
    usage: Usage | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over and everything of it is durable.

    ``reason`` says in a sentence why it ended other than with its answer; empty when done.
    """

    turn: int
    end: TurnEnd
    steps: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong; the sentence says what, and the session can continue."""

    message: str


@dataclass(frozen=True, slots=True)
class NoticeGiven:
    """The program has something to say about the turn; it is in the log."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PicturesShown:
    """Pictures were shown to the model, with a text that says where they come from."""

    text: str
    images: tuple[MediaPart, ...]


@dataclass(frozen=True, slots=True)
class AnswerUnsaved:
    """A complete answer could not be written: it is shown, and written as soon as possible.

    ``text`` is the answer's visible text.
    """

    text: str


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """A provider's stream came to its proper end. ``usage`` is None where a server never says."""

    finish_reason: str
    usage: Usage | None = None


StreamPart: TypeAlias = TextDelta | ThinkDelta | ToolCallBegan | ToolCallDelta | ReplyEnded
"""What a provider's stream yields: deltas, then one ReplyEnded."""

Event: TypeAlias = (
    TurnBegan
    | TurnResumed
    | CheckpointMade
    | StepBegan
    | StepRetried
    | StepInterrupted
    | TextDelta
    | ThinkDelta
    | ToolCallBegan
    | ToolCallDelta
    | ToolStarted
    | ToolOutput
    | ToolFinished
    | FilesChanged
    | ApprovalRequested
    | ApprovalsQueued
    | ApprovalAnswered
    | ModeChanged
    | QuestionAsked
    | QuestionAnswered
    | PromptJoined
    | ShellBegan
    | ShellOutput
    | ShellEnded
    | BackgroundChanged
    | CompactionBegan
    | CompactionDelta
    | CompactionFinished
    | Reverted
    | DMailSent
    | SubagentEvent
    | NoticeGiven
    | PicturesShown
    | AnswerUnsaved
    | StatusChanged
    | TurnFinished
    | Failed
)
