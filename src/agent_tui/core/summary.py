"""What front-ends are shown about sessions, checkpoints, archives and compactions."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.usage import Usage

OURS = "agent-tui"
"""The source of our own sessions."""

Fate: TypeAlias = Literal["kept", "masked", "summarised", "dropped"]
"""Kept word for word; kept but for its long output; told by the summary; neither."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One row of the session list, read without loading the session.

    Attributes:
        session_id: the id by which commands and screens name the session.
        folder: where it is on disk.
        title: its name, or the beginning of its first prompt.
        cwd: the project it belongs to.
        updated_at: RFC 3339 time of the last record (or of the file where records have none).
        size_bytes: size of the live log.
        archives: how many archives it has.
        source: ``agent-tui``, or the agent that wrote it.
        agent_of: the session whose subagent it is; empty for one of a person.
        tokens_before: what its last compaction found, ``tokens_after`` what that left; 0 for none.
        messages_dropped: what that kept neither word for word nor in the summary.
    """

    session_id: str
    folder: str
    title: str
    cwd: str
    created_at: str
    updated_at: str
    size_bytes: int
    archives: int
    first_prompt: str = ""
    model: str = ""
    source: str = OURS
    agent_of: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    messages_dropped: int = 0


@dataclass(frozen=True, slots=True)
class ArchiveSummary:
    """One rotated log: why and when it was rotated, and what is in it.

    ``checkpoint``: where a revert went back to, and ``prompt`` what it removed first, in a line;
    ``is_part``: that the prompt itself and the first of its answer were kept.
    ``of``: what an undo or a redo was of. ``within``: of what an undo or a redo left, the archive
    that holds every message of it; 0 where none does, or that is not known.
    ``gone``: how many of its messages the live log holds no more; None where that is not known.
    ``trouble``: why it cannot be read; empty where it can.
    """

    number: int
    path: str
    reason: str
    at: str
    size_bytes: int
    messages: int
    checkpoints: int
    checkpoint: int | None = None
    prompt: str = ""
    is_part: bool = False
    of: str = ""
    within: int = 0
    gone: int | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointSummary:
    """One place to return to; ``prompt`` is the user message that follows or leads to it.

    ``then``: what the agent did after it, in a line; empty where that is not known.
    """

    id: int
    at: str
    turn: int | None
    step: int | None
    messages_before: int
    prompt: str
    then: str = ""


@dataclass(frozen=True, slots=True)
class RevertPreview:
    """What would leave the context if the log was reverted to a checkpoint."""

    checkpoint: int
    messages_leaving: int
    messages_staying: int
    tokens_leaving: int
    tokens_staying: int
    lines: tuple[str, ...]
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class OperationReport:
    """A revert, clear, restore or undo was made: the log it replaced is archive ``archive``.

    ``messages_left`` were in the context before and are not now; ``messages_back`` are again.
    ``archive`` is 0 where nothing was rotated: a branch that begins inside the log. ``fork``
    is the session in which turns continue that an undo would have undone too. ``told`` says in
    a sentence what an undo or redo did. ``moved`` is false where the conversation is the same as
    before: only a name, a label or the model was put back. ``prompt`` is what it removed, to be
    edited again; ``prompt_back`` such a prompt that is in the conversation again.
    """

    reason: str
    archive: int
    checkpoint: int | None = None
    messages_left: int = 0
    messages_back: int = 0
    prompt: str = ""
    fork: str = ""
    told: str = ""
    moved: bool = True
    prompt_back: str = ""


@dataclass(frozen=True, slots=True)
class StrategySummary:
    """A way to choose what a compaction keeps; ``keeps`` says in a few words what that is."""

    name: str
    keeps: str


@dataclass(frozen=True, slots=True)
class CompactionAmounts:
    """How much a compaction keeps and adds; shares are of all tokens.

    Attributes:
        kept_messages: what the strategy ``last-messages`` keeps.
        kept_share: what ``last-share`` keeps.
        recent_tokens: what ``recent-tokens`` keeps.
        fallback_share: what is kept where no summary can be made.
        file_count: how many files are shown to the model that writes the summary, at most.
        file_lines: how many lines of each.
        minimum_saving: the share that a compaction must free to be applied.
        unmasked_tokens: the newest tokens, whose tool output is never masked.
        masked_from: tokens from which on an older output is masked; 0 masks none.
        index_tokens: how long the index of identifiers may get; 0 for none.
    """

    kept_messages: int = 2
    kept_share: float = 0.2
    recent_tokens: int = 20_000
    fallback_share: float = 0.3
    file_count: int = 5
    file_lines: int = 1_000
    minimum_saving: float = 0.0
    unmasked_tokens: int = 10_000
    masked_from: int = 200
    index_tokens: int = 600


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """What is asked of a compaction, from the screen down to the plan.

    Attributes:
        trigger: ``auto`` or ``manual``, for the record.
        strategy: a strategy's name; empty for the session's own.
        focus: what the summary should keep above all.
        pins: keys of messages that stay; None for those that were pinned before.
        window: the model's window in tokens; 0 for what the context takes now.
        workspace: the folder in which files are read; none are without it.
        amounts: how much is kept and added.
    """

    trigger: str = "manual"
    strategy: str = ""
    focus: str = ""
    pins: frozenset[str] | None = None
    window: int = 0
    workspace: str = ""
    amounts: CompactionAmounts = field(default_factory=CompactionAmounts)


@dataclass(frozen=True, slots=True)
class CompactionReport:
    """A compaction was made: what it did, in numbers.

    ``masked`` outputs took ``masked_tokens`` before; the index takes ``index_tokens``; ``usage`` is
    what writing the summary took; ``losses`` is how many it has, None before they were looked for.
    """

    trigger: str
    strategy: str
    tokens_before: int
    tokens_after: int
    kept: int
    summarised: int
    dropped: int
    archive: int
    files: tuple[str, ...] = ()
    retries: int = 0
    fallback: bool = False
    focus: str = ""
    masked: int = 0
    masked_tokens: int = 0
    index_tokens: int = 0
    usage: Usage | None = None
    losses: int | None = None

    @property
    def saved_share(self) -> float:
        """The share of tokens saved, 0.0 to 1.0."""
        if not self.tokens_before:
            return 0.0
        return 1 - self.tokens_after / self.tokens_before


@dataclass(frozen=True, slots=True)
class MessageFate:
    """What a compaction does, or did, with one message of the old context.

    ``index`` counts messages of the old context from 0; ``key`` survives a reload; ``tool`` names
    the tool whose result it is.
    """

    index: int
    key: str
    role: str
    text: str
    tokens: int
    fate: Fate
    pinned: bool = False
    tool: str = ""


LossKind: TypeAlias = Literal["file", "command", "error", "decision", "number", "url", "request"]
"""What a loss is about."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something said in what was summarised or dropped that the summary does not mention.

    ``line`` is the sentence or line it occurs in; ``message`` the index of that message.
    """

    kind: LossKind
    text: str
    line: str
    message: int
    weight: float


@dataclass(frozen=True, slots=True)
class AfterRow:
    """One message of the new context; ``before`` is its index in the old one, None for new ones."""

    role: str
    text: str
    tokens: int
    before: int | None


@dataclass(frozen=True, slots=True)
class CompactionView:
    """Both sides of a compaction: what the pane shows, before it is made or after.

    Attributes:
        before: every message of the old context with its fate.
        after: every message of the new context.
        summary: the text that replaces what was summarised.
        report: numbers; ``archive`` is 0 while nothing has been committed.
        losses: worst first.
    """

    before: tuple[MessageFate, ...]
    after: tuple[AfterRow, ...]
    summary: str
    report: CompactionReport
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftSummary:
    """A compaction that is ready to be applied; nothing on disk has changed.

    Attributes:
        id: names the draft in its session.
        view: both sides, with the summary.
        failure: why there is no summary by the model; empty when there is one.
        refusal: why applying it would be refused; empty when it would help.
    """

    id: str
    view: CompactionView
    failure: str = ""
    refusal: str = ""
