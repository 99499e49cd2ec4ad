"""One word for one thing: what operations are called wherever they are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.summary import ArchiveSummary

INTERRUPTED = (
    "Interrupted: this call did not run to its end. Check its effects before repeating it."
)
"""What the model is told of a call without a result."""

NOT_RUN = "Not run: the turn was stopped before this call began, so it changed nothing."
"""What the model is told of a call whose tool was never started."""

NO_PROVIDER = "none"
"""How the provider of a session is called that has no model to ask."""

ANOTHER_MODEL = "choose another model"
ANOTHER_AGENT = "choose another agent"
CONNECT = "connect a provider"
ADD_KEY = "add a key"
COMPACT = "compact the conversation"
"""What sentences ask a person to do; how that is done is each front-end's to say."""


def say_how(sentence: str, ways: Mapping[str, str]) -> str:
    """A sentence with the way to each thing that it asks for, as one front-end has them."""
    for act, way in ways.items():
        before, found, behind = sentence.partition(act)
        if not found:
            before, found, behind = sentence.partition(act.capitalize())
        if found and not behind.startswith(f" ({way})"):
            sentence = f"{before}{found} ({way}){behind}"
    return sentence


Outcome: TypeAlias = Literal["ok", "error", "interrupted", "rejected"]
"""What came of a call."""
OUTCOMES: dict[Outcome, str] = {
    "ok": "",
    "error": "failed",
    "interrupted": "interrupted",
    "rejected": "rejected",
}
"""What an outcome is called wherever one is told; one that is as it should be is not."""


def describe_retries(count: int, reason: str) -> str:
    """That a model answered at last, and why it was asked more than once."""
    times = "once" if count == 1 else f"{count} times"
    return f"Retried {times}: {reason}"


CANCELLED = "The compaction was cancelled."
"""Why a compaction was not made that a person interrupted."""


def compaction_refusal(reason: str) -> str:
    """What is told of a compaction that was due and was not made."""
    return f"The context is full and was not compacted. {reason}"


def outcome_of(*, is_error: bool, interrupted: bool, rejected: bool) -> Outcome:
    """What came of a call that has a result."""
    if rejected:
        return "rejected"
    if interrupted:
        return "interrupted"
    return "error" if is_error else "ok"


@dataclass(frozen=True, slots=True)
class OperationWords:
    """What an operation is called.

    Attributes:
        name: the thing, as in "Undid the revert".
        done: what happened to the context, as in a row of the tree.
        archived: what the log is from before, as in the list of archives.
        undid: what became of a prompt, or of another operation: “Fix the bug” was … ; empty where
            the archives name neither.
    """

    name: str
    done: str
    archived: str
    undid: str = ""


_OPERATIONS = {
    "user": OperationWords("revert", "reverted", "before a revert", "reverted"),
    "dmail": OperationWords(
        "D-Mail",
        "reverted by the agent (D-Mail)",
        "before a revert by the agent (D-Mail)",
        "reverted by the agent (D-Mail)",
    ),
    "undo": OperationWords("undo", "undone", "before an undo", "undone"),
    "redo": OperationWords("redo", "redone", "before a redo", "redone"),
    "restore": OperationWords("restore", "archive restored", "before another archive was restored"),
    "clear": OperationWords("clear", "context cleared", "before the context was cleared"),
    "compaction": OperationWords("compaction", "compacted", "before a compaction"),
}
_UNKNOWN = OperationWords("revert", "", "")
_SWITCHES = {"undo": "branch undone", "redo": "branch redone", "retry": "retried"}


def operation_words(reason: str) -> OperationWords:
    """What the operation of a revert's reason is called; empty words for an unknown reason."""
    return _OPERATIONS.get(reason, _UNKNOWN)


def describe_revert(reason: str, checkpoint: int | None = None, of: str = "") -> str:
    """What a revert did, such as ``reverted to checkpoint 3``; an unknown reason as it stands.

    ``of`` is what an undo or a redo was of: ``compaction undone``.
    """
    done = operation_words(reason).done or reason or "reverted"
    done = f"{of} {done}" if of else done
    return done if checkpoint is None else f"{done} to checkpoint {checkpoint}"


def describe_archive(archive: ArchiveSummary, sign: str = "checkpoint") -> str:
    """When a log was archived, and what was said first in what the live log holds no more.

    Of an archive that cannot be read, why.
    """
    if archive.trouble:
        return archive.trouble
    words = operation_words(archive.reason)
    if archive.prompt and words.undid and not archive.of:
        part = "part of " if archive.is_part else ""
        return f"before {part}“{archive.prompt}” was {words.undid}"
    told = words.archived or archive.reason or "saved"
    if archive.of:
        told = f"before a {archive.of} was {words.undid}" if words.undid else told
    if archive.checkpoint is not None:
        told = f"{told} to {sign} {archive.checkpoint}"
    return f"{told}: {archive.prompt}" if archive.prompt else told


def describe_contents(archive: ArchiveSummary) -> str:
    """How many messages an archive holds, and how many of them only archives hold."""
    if not archive.messages:
        return "no messages"
    told = format_count(archive.messages, "message")
    if archive.gone is None:
        return told
    part = {0: "all of them", archive.messages: "none of them"}.get(archive.gone)
    return f"{told}, {part or f'{archive.gone:,} of them not'} in the log now"


def describe_wide_folder(folder: object, workspace: object) -> str:
    """That a session does not work in the folder that its log names."""
    return (
        f"The folder of this session, {folder}, is a home or system folder, not a project. "
        f"Its tools work in {workspace} instead."
    )


def describe_switch(reason: str) -> str:
    """What a move to another branch of the same log did."""
    return _SWITCHES.get(reason, "switched branch")


def describe_trigger(trigger: str) -> str:
    """Who began a compaction: ``automatic`` or ``manual``; empty where the log does not tell."""
    return "automatic" if trigger == "auto" else trigger


def describe_strategy(name: str) -> str:
    """A strategy as it is called on screen, such as ``last messages``."""
    return name.replace("-", " ")


def describe_compaction(before: int, after: int, tell: Callable[[int], str] = format_tokens) -> str:
    """What a compaction did, with its tokens where the log tells them, which not every log does."""
    return f"compacted {tell(before)} → {tell(after)} tokens" if after else "compacted"
