"""The lines of a session log: one frozen dataclass for each role.

``record_parsing`` reads them from JSON, ``record_writing`` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias, TypeGuard

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import ChangeCause, FileChange, FolderIdentity, LeftOut
from agent_tui.core.messages import (
    Content,
    Display,
    ToolCall,
)
from agent_tui.core.origins import ASKED, Origin
from agent_tui.core.usage import Usage
from agent_tui.core.words import Outcome, outcome_of

FORMAT = 1
RevertReason: TypeAlias = Literal["user", "dmail", "undo", "redo", "restore", "clear"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Where a record stands in the tree and when it was written (RFC 3339, UTC)."""

    uuid: str | None = None
    parent_uuid: str | None = None
    at: str | None = None


UNSTAMPED = Stamp()


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """The first record of a log of ours: which session this is and where it ran.

    ``agent`` names the spec that it began with; empty for the default one.
    """

    session_id: str
    cwd: str
    created_at: str
    version: str
    git_branch: str | None = None
    parent: dict[str, Any] | None = None
    agent: str = ""
    format: int = FORMAT
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The system prompt; the last one in a log is in force."""

    content: str
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A numbered place to return to. ``step`` is 0 for the one before a turn's prompt."""

    id: int
    turn: int | None = None
    step: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Something said to the agent; ``origin`` tells who really said it.

    ``display`` is the command, for a message that tells of one that a person ran.
    """

    content: Content
    origin: Origin | None = None
    turn: int | None = None
    display: Display | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A model's answer with the tools it calls.

    ``thinking_seconds``: how long its reasoning took to come; 0 where that is not known.
    """

    content: Content
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    turn: int | None = None
    thinking_seconds: float = 0.0
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one tool call.

    ``interrupted``: the call did not run to its end. ``rejected``: a person did not allow it.
    ``masked``: a compaction put a line in the place of the output, which an archive still holds.
    """

    tool_call_id: str
    content: Content
    is_error: bool = False
    interrupted: bool = False
    display: Display | None = None
    turn: int | None = None
    rejected: bool = False
    masked: bool = False
    stamp: Stamp = UNSTAMPED

    @property
    def outcome(self) -> Outcome:
        """What came of the call."""
        return outcome_of(
            is_error=self.is_error, interrupted=self.interrupted, rejected=self.rejected
        )


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """The size of the context in tokens, as far as it was known when written."""

    token_count: int
    usage: Usage | None = None
    estimated: bool = False
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """A compaction happened here: the log before it is archive ``archive``.

    ``masked`` counts the outputs that a line stands for now; ``pins`` are the ids of messages that
    every later compaction keeps too; ``usage`` is what writing the summary took. ``losses`` is how
    much of what went the summary does not mention, None where nobody looked.
    """

    trigger: str
    strategy: str
    pre_tokens: int
    post_tokens: int
    archive: int
    files: tuple[str, ...] = ()
    kept: int = 0
    summarised: int = 0
    dropped: int = 0
    retries: int = 0
    fallback: bool = False
    focus: str = ""
    masked: int = 0
    pins: tuple[str, ...] = ()
    usage: Usage | None = None
    losses: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class RevertRecord:
    """The log was reverted here; what it held until then is archive ``archive``.

    ``checkpoint`` is None where the operation had none (a restore or a clear). ``operation`` is
    the name of the revert of files that was made together with it. ``of`` says what an undo or a
    redo was of, as the table of operations calls it.
    """

    archive: int
    reason: str
    checkpoint: int | None = None
    operation: str = ""
    of: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class HeadRecord:
    """The leaf moved inside the file: the next record hangs off ``to``.

    ``reason`` is empty for a person's own move, ``undo`` or ``redo`` for one that takes a move
    back, ``retry`` for one that drops an answer that failed, and ``restore`` for the second half of
    a branch from an archive. ``source`` is the record that was the last one until then.
    """

    to: str
    reason: str = ""
    source: str | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """What the branch that was left at ``source`` had done."""

    source: str
    summary: str
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """A name that a person gave to a record; an empty label removes it.

    ``before`` and ``reason`` are as in a TitleRecord.
    """

    target: str
    label: str
    before: str | None = None
    reason: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class TitleRecord:
    """The session's name; the last one counts.

    ``before`` is the name until then where a person changed it, which can be undone, and None where
    the program named the session or said a name again. ``reason`` is ``undo`` or ``redo`` for a
    change that undoes another one.
    """

    title: str
    before: str | None = None
    reason: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The model in use from here on; ``before`` and ``reason`` are as in a TitleRecord."""

    provider: str
    model: str
    before: str | None = None
    reason: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """What was decided about one action: by a person, or by what a person allowed before.

    Attributes:
        request_id: the question; empty where nobody was asked.
        tool_call_id: the call that was decided about.
        decision: a Decision, or ``rule`` where nobody was asked.
        feedback: what the person said with a rejection.
        rule: what allows this action, and others like it.
    """

    request_id: str
    tool_call_id: str
    decision: str
    feedback: str = ""
    rule: str = ""
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class TurnEndRecord:
    """A turn ended here without its whole answer; ``reason`` says why in a sentence for people.

    ``end`` is a TurnEnd other than ``done``, or ``killed`` where the next run found it so. The
    model is not told.
    """

    end: str
    reason: str = ""
    turn: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class WorkspaceRecord:
    """What changed in the files of the workspace since the capture before; never sent to a model.

    Captures are linked in the order of time, across archives and forks: files do not move along
    with the conversation.

    Attributes:
        cause: who changed the files.
        delta: every path that differs from the capture ``base``.
        checkpoint: the newest checkpoint when the change began, and its id as a record.
        base: the id of the capture before; None for the first.
        call: the tool call that made the change; a command for the cause ``shell``.
        why: why there is no delta where ``status`` is ``none``; else what a reader should know.
        files: how many files are captured. ``stored_bytes``: how much was put into the store.
        left_out: paths that are not captured, and why.
        head: the branch and commit of the workspace's repository.
        folders: those that came, and what tells each from a later one of its name.
        operation: a name for a revert of files, and for what undoes it.
        of: the captures that a revert undid.
    """

    cause: ChangeCause
    delta: tuple[FileChange, ...] = ()
    checkpoint: int | None = None
    checkpoint_uuid: str | None = None
    base: str | None = None
    status: Literal["captured", "none"] = "captured"
    call: str = ""
    turn: int | None = None
    step: int | None = None
    why: str = ""
    files: int = 0
    stored_bytes: int = 0
    left_out: tuple[LeftOut, ...] = ()
    cost_ms: int = 0
    head: str = ""
    operation: str = ""
    of: tuple[str, ...] = ()
    folders: Mapping[str, FolderIdentity] = field(default_factory=dict)
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class NoticeRecord:
    """What the program said in the conversation, for people only; ``kind`` says what about."""

    text: str
    kind: str = ""
    turn: int | None = None
    stamp: Stamp = UNSTAMPED


@dataclass(frozen=True, slots=True)
class EnvironmentRecord:
    """Where the session runs from here on: it changed since the header or the record before."""

    cwd: str
    git_branch: str = ""
    version: str = ""
    stamp: Stamp = UNSTAMPED

    @property
    def told(self) -> str:
        """One line for people."""
        branch = f" on branch {self.git_branch}" if self.git_branch else ""
        version = f" (agent-tui {self.version})" if self.version else ""
        return f"Working in {self.cwd}{branch}{version}"


DAMAGED_LINES = "damaged lines"
"""The role of an unknown record in the place of lines that cannot be read: ``{"lines": n}``."""


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A line with a role this program does not know; kept on disk and shown as unknown."""

    role: str
    fields: dict[str, Any] = field(default_factory=dict)
    stamp: Stamp = UNSTAMPED


def damage_row(lines: int) -> UnknownRecord:
    """The record in the place of so many lines that cannot be read."""
    return UnknownRecord(DAMAGED_LINES, {"lines": lines})


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
MESSAGE_TYPES = (UserMessage, AssistantMessage, ToolMessage)
MESSAGE_ROLES = ("user", "assistant", "tool")
"""The roles of messages, where only these are known of records."""
Choice: TypeAlias = TitleRecord | LabelRecord | ModelRecord
"""What a person may choose for a session: of each kind the last record counts."""

Record: TypeAlias = (
    SessionHeader
    | SystemPrompt
    | Checkpoint
    | UserMessage
    | AssistantMessage
    | ToolMessage
    | UsageRecord
    | CompactionRecord
    | RevertRecord
    | HeadRecord
    | BranchSummary
    | LabelRecord
    | TitleRecord
    | ModelRecord
    | ApprovalRecord
    | TurnEndRecord
    | WorkspaceRecord
    | NoticeRecord
    | EnvironmentRecord
    | UnknownRecord
)


def is_message(record: Record) -> TypeGuard[Message]:
    """Whether a record is sent to the model as a message."""
    return isinstance(record, MESSAGE_TYPES)


def is_prompt(record: Record) -> TypeGuard[UserMessage]:
    """Whether a record is something that a person asked, in this program or in another one."""
    return isinstance(record, UserMessage) and record.origin in ASKED
