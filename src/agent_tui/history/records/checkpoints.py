"""What records say about going back in time: checkpoints, previews, what came after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from agent_tui.core.errors import UnknownCheckpoint
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    MESSAGE_TYPES,
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    HeadRecord,
    Message,
    Record,
    RevertRecord,
    ToolMessage,
    UserMessage,
    is_message,
    is_prompt,
)
from agent_tui.core.shell import shell_command
from agent_tui.core.summary import CheckpointSummary, RevertPreview
from agent_tui.core.summary_format import opens_summary, read_summary
from agent_tui.core.text import first_line, without_marks

_LONGEST_LINE = 400


def list_checkpoints(records: Sequence[Record]) -> list[CheckpointSummary]:
    """Every checkpoint in log order, each with the prompt that leads to it or follows it."""
    summaries: list[CheckpointSummary] = []
    prompt, messages, is_awaited = "", 0, False
    for record in records:
        if isinstance(record, Checkpoint):
            is_awaited = True
            summaries.append(
                CheckpointSummary(
                    record.id, record.stamp.at or "", record.turn, record.step, messages, prompt
                )
            )
        elif is_message(record):
            messages += 1
            if is_prompt(record):
                prompt = first_line(text_of(record.content))
            if is_awaited and is_prompt(record):
                summaries[-1] = replace(summaries[-1], prompt=prompt)
            elif is_awaited and isinstance(record, AssistantMessage):
                summaries[-1] = replace(summaries[-1], then=_act_of(record))
            is_awaited = False
    return summaries


def _act_of(message: AssistantMessage) -> str:
    """Which tools a step called, or what it said where it called none."""
    names = list(dict.fromkeys(call.name for call in message.tool_calls))
    return ", ".join(names) or without_marks(first_line(text_of(message.content)))


def first_prompt(records: Iterable[Record]) -> str:
    """One line of the first thing that a person said; empty when nobody has said anything."""
    for record in records:
        if is_prompt(record):
            return first_line(text_of(record.content))
    return ""


def preview_revert(
    records: Sequence[Record], checkpoint: int, count: Callable[[Message], int]
) -> RevertPreview:
    """What would leave the context: every message from the last checkpoint of that id on.

    Raises:
        UnknownCheckpoint: no such checkpoint; the message names those there are.
    """
    position = find_checkpoint(records, checkpoint)
    staying = [r for r in records[:position] if is_message(r)]
    leaving = [r for r in records[position:] if is_message(r)]
    return RevertPreview(
        checkpoint=checkpoint,
        messages_leaving=len(leaving),
        messages_staying=len(staying),
        tokens_leaving=sum(count(message) for message in leaving),
        tokens_staying=sum(count(message) for message in staying),
        lines=tuple(_line(message) for message in leaving),
        prompt=prompt_after(records, position),
    )


def find_checkpoint(records: Sequence[Record], checkpoint: int) -> int:
    """The index of the last checkpoint with that id."""
    for index in range(len(records) - 1, -1, -1):
        record = records[index]
        if isinstance(record, Checkpoint) and record.id == checkpoint:
            return index
    known = (record.id for record in records if isinstance(record, Checkpoint))
    raise UnknownCheckpoint.among(checkpoint, known)


def prompt_after(records: Sequence[Record], position: int) -> str:
    """The prompt that a revert to ``position`` removes, for the prompt; else empty."""
    for record in records[position + 1 :]:
        if is_prompt(record):
            return text_of(record.content)
        if isinstance(record, (Checkpoint, *MESSAGE_TYPES)):
            break
    return ""


def prompt_removed(before: Sequence[Record], after: Sequence[Record]) -> str:
    """The prompt with which the messages begin that a step back removed; else empty."""
    rest = before[len(after) :]
    is_step_back = [*map(_key, before[: len(after)])] == [*map(_key, after)]
    return text_of(rest[0].content) if is_step_back and rest and is_prompt(rest[0]) else ""


def _line(message: Message) -> str:
    """Who speaks, which tools are called, what is said: cut where the screen ends, not here."""
    text = text_of(message.content)
    said = first_line(text, _LONGEST_LINE)
    match message:
        case UserMessage(origin="shell"):
            return f"you: ! {first_line(shell_command(text), _LONGEST_LINE)}"
        case UserMessage(origin=None | "import" | "compaction") if opens_summary(text):
            summary = without_marks(first_line(read_summary(message.content).summary, 400))
            return f"summary of what came before: {summary.lstrip('# ')}"
        case UserMessage():
            return f"you: {said}"
        case AssistantMessage():
            calls = ", ".join(call.name for call in message.tool_calls)
            who = f"agent [{calls}]" if calls else "agent"
            said = without_marks(said)
            return f"{who}: {said}" if said else who
        case ToolMessage():
            return f"result: {said}"


def count_moved(before: Iterable[Record], after: Iterable[Record]) -> tuple[int, int]:
    """How many messages left the context, and how many came back into it."""
    old, new = Counter(map(_key, before)), Counter(map(_key, after))
    return (old - new).total(), (new - old).total()


def _key(record: Record) -> str:
    return record.stamp.uuid or repr(record)


def went_on_after(records: Sequence[Record], archive: int) -> bool:
    """Whether the conversation continued after the rotation that made an archive.

    A compaction's own summary and what it kept stand behind its record: they do not count. Nor does
    what was said before an undo or a redo put this log here: it is in an archive or a fork already.
    """
    for index in range(len(records) - 1, -1, -1):
        record = records[index]
        if isinstance(record, (RevertRecord, CompactionRecord)) and record.archive == archive:
            later = sum(is_message(one) for one in records[index + 1 :])
            own = 1 + record.kept if isinstance(record, CompactionRecord) else 0
            return later > own
        if _put_log_here(record):
            return any(is_message(one) for one in records[index + 1 :])
    return True


def _put_log_here(record: Record) -> bool:
    match record:
        case RevertRecord(reason="undo" | "redo") | HeadRecord(reason="undo" | "redo" | "restore"):
            return True
        case _:
            return False
