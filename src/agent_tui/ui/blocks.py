"""What the timeline shows: a closed union of frozen blocks, one for each record or happening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.messages import Display, MediaPart
from agent_tui.core.origins import Origin
from agent_tui.core.text import format_count
from agent_tui.core.words import (
    ADD_KEY,
    ANOTHER_AGENT,
    ANOTHER_MODEL,
    COMPACT,
    CONNECT,
    Outcome,
    say_how,
)

if TYPE_CHECKING:
    from agent_tui.core.events import FilesChanged  # not for the first frame

ToolState: TypeAlias = Literal["pending", "queued", "approval", "question", "running"] | Outcome
Level: TypeAlias = Literal["info", "warning", "error"]
_WAYS = {
    ANOTHER_MODEL: "/model",
    ANOTHER_AGENT: "/agent",
    CONNECT: "/connect",
    ADD_KEY: "/connect",
    COMPACT: "/compact",
}


@dataclass(frozen=True, slots=True)
class UserBlock:
    """Something said to the agent; ``origin`` tells who said it, ``media`` what came along.

    ``checkpoint``: where a D-Mail went back to, as far as the log tells. ``lost_its_answer``: a
    compaction kept it, and a summary stands for what was answered.
    """

    text: str
    origin: Origin = "human"
    media: tuple[MediaPart, ...] = ()
    checkpoint: int | None = None
    lost_its_answer: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """What really changed on disk; ``why`` says why that is not known."""

    files: int
    added: int
    removed: int
    why: str = ""


def changed_by(found: FilesChanged) -> Changed:
    """What a call changed on disk, as its row says it."""
    return Changed(found.files, found.added, found.removed, found.why)


@dataclass(frozen=True, slots=True)
class ToolBlock:
    """A tool call with what came of it.

    While the call is ``pending``, ``arguments`` holds only the beginning of what was written, and
    ``written`` counts all of its characters. It is ``queued`` while others of its step run first.
    """

    call_id: str
    name: str
    arguments: str
    state: ToolState
    output: str = ""
    display: Display | None = None
    changed: Changed | None = None
    written: int = 0


@dataclass(frozen=True, slots=True)
class ShellBlock:
    """A command that a person ran, with what it printed."""

    command: str
    output: str
    state: ToolState
    exit_code: int | None = None
    changed: Changed | None = None


@dataclass(frozen=True, slots=True)
class AssistantBlock:
    """An answer: its reasoning, its text in Markdown, and the calls that nothing ever came of.

    ``unsaved``: the log does not have it, because the disk refused it. ``thought_seconds`` is 0
    where nobody measured, or it was less than one.
    """

    text: str
    thinking: str = ""
    calls: tuple[ToolBlock, ...] = ()
    unsaved: bool = False
    thought_seconds: int = 0


@dataclass(frozen=True, slots=True)
class CheckpointBlock:
    """A place to return to. ``step`` 0 stands before a prompt; later ones are drawn quieter."""

    id: int
    step: int = 0
    at: str = ""
    tokens: int | None = None
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class CompactionBlock:
    """The context was compacted here; the log before it is ``archive`` (0 while it runs).

    ``losses``: how much of what went the summary does not mention; None where nobody looked.
    """

    trigger: str
    archive: int
    tokens_before: int
    tokens_after: int
    summarised: int = 0
    dropped: int = 0
    fallback: bool = False
    losses: int | None = None


@dataclass(frozen=True, slots=True)
class RevertBlock:
    """The log was reverted here; what it held until then is ``archive``.

    ``of``: what an undo or a redo was of. ``repeats``: how often it was undone and redone since,
    or undone again.
    """

    archive: int
    reason: str
    checkpoint: int | None = None
    of: str = ""
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class BranchBlock:
    """The conversation switched branch, which ended at the entry ``source``.

    ``repeats``: how often that was undone and redone since, or undone again.
    """

    reason: str
    source: str
    at: str = ""
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class LabelBlock:
    """A person labelled the entry ``target``, or removed its label, which is then empty."""

    label: str
    target: str


@dataclass(frozen=True, slots=True)
class DamageBlock:
    """Lines of the log that could not be read; they stay on disk."""

    lines: int


@dataclass(frozen=True, slots=True)
class NoticeBlock:
    """A sentence of the program itself, not part of the conversation."""

    text: str
    level: Level = "info"


def name_commands(sentence: str) -> str:
    """A sentence of any layer, naming the screen's commands for what it asks to do."""
    return say_how(sentence, _WAYS)


def turn_end_block(end: str, reason: str) -> NoticeBlock:
    """Why a turn has no whole answer; the same block live and when read from the log."""
    told = name_commands(reason) or "The turn ended early."
    return NoticeBlock(told, "error" if end == "failed" else "info")


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A record of a role that this program does not know."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class EarlierHeadBlock:
    """The heading over what a compaction took out of the context; folds and unfolds it."""

    messages: int
    folded: bool = False


@dataclass(frozen=True, slots=True)
class EarlierBlock:
    """Something from before a compaction: still readable, but no longer in the context."""

    inner: Block


Block: TypeAlias = (
    UserBlock
    | AssistantBlock
    | ToolBlock
    | ShellBlock
    | CheckpointBlock
    | CompactionBlock
    | RevertBlock
    | BranchBlock
    | LabelBlock
    | DamageBlock
    | NoticeBlock
    | UnknownBlock
    | EarlierHeadBlock
    | EarlierBlock
)


Landmark: TypeAlias = Literal["step", "prompt", "compaction", "error"]
"""What the scroll bar shows of a conversation."""


def landmark_of(block: Block) -> Landmark | None:
    """The scroll bar's mark for a block; None if it has none."""
    match block:
        case CheckpointBlock(step=step):
            return "step" if step else "prompt"
        case CompactionBlock():
            return "compaction"
        case ToolBlock(state="error") | ShellBlock(state="error"):
            return "error"
        case NoticeBlock(level="error") | DamageBlock():
            return "error"
        case _:
            return None


def media_of(block: Block | None) -> tuple[MediaPart, ...]:
    """The pictures, sounds and films that stand in a block."""
    if isinstance(block, EarlierBlock):
        return media_of(block.inner)
    return block.media if isinstance(block, UserBlock) else ()


def is_markdown(block: Block | None) -> bool:
    """Whether the text of a block is drawn as Markdown."""
    if isinstance(block, EarlierBlock):
        return is_markdown(block.inner)
    return isinstance(block, AssistantBlock)


def plain_text(block: Block) -> str:
    """The text of a block as it was written: what copying it gives."""
    match block:
        case UserBlock() | AssistantBlock() | NoticeBlock() | UnknownBlock():
            return block.text
        case ToolBlock():
            return f"{block.name} {block.arguments}\n{block.output}".rstrip()
        case ShellBlock():
            return f"$ {block.command}\n{block.output}".rstrip()
        case CheckpointBlock():
            return f"checkpoint {block.id}"
        case CompactionBlock() | RevertBlock():
            return f"archive {block.archive}"
        case BranchBlock():
            return f"branch {block.source}"
        case LabelBlock():
            return block.label
        case EarlierBlock():
            return plain_text(block.inner)
        case EarlierHeadBlock():
            return format_count(block.messages, "earlier message")
        case DamageBlock():
            return format_count(block.lines, "damaged line")
