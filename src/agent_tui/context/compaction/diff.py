"""Both sides of a compaction: every old message with its fate, every new one, and what was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from agent_tui.context.compaction.attribution import MAX_SCALE
from agent_tui.context.compaction.briefing import words_of
from agent_tui.context.compaction.losses import find_losses
from agent_tui.context.compaction.name_index import count_index
from agent_tui.context.compaction.selection import Selection, message_key, steps_of
from agent_tui.context.compaction.summary_message import is_summary, summary_text
from agent_tui.core.arguments import show_arguments
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Message,
    Record,
    ToolMessage,
    UsageRecord,
    UserMessage,
    is_message,
)
from agent_tui.core.summary import (
    AfterRow,
    CompactionReport,
    CompactionView,
    Fate,
    Loss,
    MessageFate,
)
from agent_tui.core.summary_format import without_index

__all__ = ["compare", "find_losses", "message_text", "view_past"]

Count: TypeAlias = Callable[[Message], int]
Body: TypeAlias = tuple[object, ...]

_NO_MASKS: Mapping[int, Message] = {}
_NO_TOKENS: Mapping[int, int] = {}
_SHOWN_CHARS = 4_000
_SHOWN_ARGUMENTS = 300


def compare(
    messages: Sequence[Message],
    tokens: Sequence[int],
    selection: Selection,
    summary_message: Message | None,
    summary_tokens: int,
    report: CompactionReport,
    *,
    pins: frozenset[str] = frozenset(),
    masks: Mapping[int, Message] = _NO_MASKS,
    mask_tokens: Mapping[int, int] = _NO_TOKENS,
    scale: float = 1.0,
) -> CompactionView:
    """The view of a compaction; without a summary message the right side holds what is kept.

    ``scale``: tokens of the one who counted both sides for one of ours; the parts are told in his.
    """
    fates = selection.fates()
    tokens = [rescale(each, scale) for each in tokens]
    tools = _name_tools(messages)
    before = tuple(
        _fate(index, message, tokens[index], fates[index], pins, tools)
        for index, message in enumerate(messages)
    )
    rows: list[AfterRow] = []
    summary = ""
    if summary_message is not None:
        summary, taken = summary_text(summary_message), rescale(summary_tokens, scale)
        rows.append(AfterRow("summary", message_text(summary_message), taken, None))
    for index in selection.kept:
        row = before[index]
        text = message_text(masks[index]) if index in masks else row.text
        left = rescale(mask_tokens[index], scale) if index in mask_tokens else row.tokens
        rows.append(AfterRow(row.role, text, left, index))
    losses: tuple[Loss, ...] = ()
    if summary_message is not None:
        losses = _losses(messages, fates, without_index(_whole_text(summary_message)))
        report = replace(report, losses=len(losses))
    return CompactionView(before, tuple(rows), summary, report, losses)


def rescale(tokens: int, scale: float) -> int:
    """Our count of a part in the tokens of the one who counted the whole; nothing becomes 0."""
    return max(1, round(tokens * scale)) if tokens else 0


def _losses(messages: Sequence[Message], fates: Sequence[Fate], summary: str) -> tuple[Loss, ...]:
    stays = ("kept", "masked")
    gone = [i for i, fate in enumerate(fates) if fate not in stays]
    kept = (_whole_text(messages[i]) for i, fate in enumerate(fates) if fate in stays)
    return find_losses([messages[i] for i in gone], summary, kept, indices=gone)


def _fate(
    index: int,
    message: Message,
    tokens: int,
    fate: Fate,
    pins: frozenset[str],
    tools: Mapping[str, str],
) -> MessageFate:
    key = message_key(index, message)
    text = message_text(message)
    tool = tools.get(message.tool_call_id, "") if isinstance(message, ToolMessage) else ""
    role, pinned = role_of(message), key in pins
    return MessageFate(index, key, role, text, tokens, fate, pinned=pinned, tool=tool)


def _name_tools(messages: Sequence[Message]) -> dict[str, str]:
    """The tool of each call, by the call's id."""
    answers = (message for message in messages if isinstance(message, AssistantMessage))
    return {call.id: call.name for answer in answers for call in answer.tool_calls}


def role_of(message: Message) -> str:
    """``user``, ``assistant`` or ``tool``; ``summary`` for what stands for earlier messages."""
    match message:
        case UserMessage():
            return "summary" if is_summary(message) else "user"
        case AssistantMessage():
            return "assistant"
        case ToolMessage():
            return "tool"


def message_text(message: Message) -> str:
    """What a message says, with the calls it makes, cut to what a pane can show."""
    text = summary_text(message) if is_summary(message) else words_of(message.content)
    text = text[:_SHOWN_CHARS]
    if not isinstance(message, AssistantMessage) or not message.tool_calls:
        return text
    calls = [f"→ {call.name} {call.arguments[:_SHOWN_ARGUMENTS]}" for call in message.tool_calls]
    return "\n".join([text, *calls] if text else calls)


def _whole_text(message: Message) -> str:
    """All that a message says, with all that its calls are given."""
    said = [words_of(message.content)]
    if isinstance(message, AssistantMessage):
        for call in message.tool_calls:
            said += show_arguments(call.arguments).values() or [call.arguments]
    return "\n".join(said)


def view_past(
    before: Sequence[Record], after: Sequence[Record], count: Count, archive: int = 0
) -> CompactionView:
    """The view of a compaction that was made, ours or another agent's.

    What the new context kept is found by uuid, or by content where there is none. Turns that came
    after the compaction are left out.

    Args:
        before: the records of the log as it was: the archive.
        after: the records of the log that took its place.
        count: the tokens of one message.
        archive: the number of the archive, where the log tells of several compactions.
    """
    old, new = _messages(before), _messages(after)
    place = next((i for i, message in enumerate(new) if is_summary(message)), None)
    summary = new[place] if place is not None else None
    rest = new[place + 1 :] if place is not None else new
    made = [r for r in after if isinstance(r, CompactionRecord)]
    record = next((r for r in made if r.archive == archive), made[0] if made else None)
    matched = _match(old, rest, record.kept if record is not None else 0)
    kept = tuple(sorted(matched))
    gone = [i for i in range(len(old)) if i not in matched]
    masks = _find_masks(old, rest, kept)
    in_words = summary is not None and not (record and record.fallback)
    selection = Selection(kept, tuple(gone) if in_words else (), () if in_words else tuple(gone))
    if in_words:
        selection = _with_orphans_dropped(old, selection)
    selection = replace(selection, masked=frozenset(masks))
    tokens = [count(message) for message in old]
    summary_tokens = count(summary) if summary is not None else 0
    report = _past_report(record, before, after, selection, sum(tokens), summary_tokens, tokens)
    pins = frozenset(record.pins) if record is not None else frozenset()
    mask_tokens = {index: count(mask) for index, mask in masks.items()}
    left = summary_tokens + sum(mask_tokens.get(i, tokens[i]) for i in kept)
    scale = _past_scale(report, sum(tokens), left)
    report = replace(
        report,
        index_tokens=rescale(count_index(summary, count), scale),
        masked_tokens=rescale(report.masked_tokens, scale),
    )
    return compare(
        old,
        tokens,
        selection,
        summary,
        summary_tokens,
        report,
        pins=pins,
        masks=masks,
        mask_tokens=mask_tokens,
        scale=scale,
    )


def _past_scale(report: CompactionReport, before: int, after: int) -> float:
    """How many tokens of the report make one of ours, which count what both sides hold.

    What no compaction touches is in both numbers of the report: it is not in their difference.
    """
    if not before:
        return 1.0
    going, gone = before - after, report.tokens_before - report.tokens_after
    told = gone / going if going > 0 and gone > 0 else 1.0
    return min(told, report.tokens_before / before, MAX_SCALE)


def _find_masks(
    old: Sequence[Message], new: Sequence[Message], kept: Sequence[int]
) -> dict[int, Message]:
    """What stands in the new log for the kept messages that were masked, by their old place."""
    by_uuid = {message.stamp.uuid: message for message in new if message.stamp.uuid}
    return {
        index: by_uuid[uuid]
        for index in kept
        if (uuid := old[index].stamp.uuid) in by_uuid and _is_masked(old[index], by_uuid[uuid])
    }


def _is_masked(old: Message, new: Message) -> bool:
    was = isinstance(old, ToolMessage) and old.masked
    return isinstance(new, ToolMessage) and new.masked and not was


def _messages(records: Sequence[Record]) -> list[Message]:
    return [r for r in records if is_message(r)]


def _match(old: Sequence[Message], new: Sequence[Message], kept: int) -> set[int]:
    """The old messages that the new log begins with: by uuid, else by what they say."""
    by_uuid = {m.stamp.uuid: i for i, m in enumerate(old) if m.stamp.uuid is not None}
    found = {by_uuid[m.stamp.uuid] for m in new if m.stamp.uuid in by_uuid}
    if found:
        return found
    bodies, wanted = [_body(m) for m in old], [_body(m) for m in new]
    return _match_in_order(bodies, wanted[:kept]) if kept else _match_tail(bodies, wanted)


def _match_in_order(old: Sequence[Body], wanted: Sequence[Body]) -> set[int]:
    """The last place of each wanted message, going backwards."""
    found: set[int] = set()
    place = len(old) - 1
    for body in reversed(wanted):
        while place >= 0 and old[place] != body:
            place -= 1
        if place < 0:
            return found
        found.add(place)
        place -= 1
    return found


def _match_tail(old: Sequence[Body], new: Sequence[Body]) -> set[int]:
    """The longest tail of the old messages that the new ones begin with."""
    for start in range(len(old)):
        length = len(old) - start
        if length <= len(new) and old[start:] == new[:length]:
            return set(range(start, len(old)))
    return set()


def _body(message: Message) -> Body:
    match message:
        case UserMessage(content=content):
            return ("user", content)
        case AssistantMessage(content=content, tool_calls=calls):
            return ("assistant", content, calls)
        case ToolMessage(content=content, tool_call_id=call):
            return ("tool", content, call)


def _with_orphans_dropped(old: Sequence[Message], selection: Selection) -> Selection:
    in_steps = {index for step in steps_of(old) for index in step}
    return Selection(
        selection.kept,
        tuple(i for i in selection.summarised if i in in_steps),
        tuple(i for i in selection.summarised if i not in in_steps),
    )


def _past_report(
    record: CompactionRecord | None,
    before: Sequence[Record],
    after: Sequence[Record],
    selection: Selection,
    counted: int,
    summary_tokens: int,
    tokens: Sequence[int],
) -> CompactionReport:
    if record is None:  # an agent that writes none
        record = CompactionRecord("", "", 0, _first_usage(after), 0)
    kept_tokens = sum(tokens[i] for i in selection.kept)
    return CompactionReport(
        trigger=record.trigger,
        strategy=record.strategy,
        tokens_before=record.pre_tokens or _last_usage(before) or counted,
        tokens_after=record.post_tokens or summary_tokens + kept_tokens,
        kept=len(selection.kept),
        summarised=len(selection.summarised),
        dropped=len(selection.dropped),
        archive=record.archive,
        files=record.files,
        retries=record.retries,
        fallback=record.fallback,
        focus=record.focus,
        masked=record.masked,
        masked_tokens=sum(tokens[i] for i in selection.masked),
        usage=record.usage,
    )


def _last_usage(records: Sequence[Record]) -> int:
    found = (r.token_count for r in reversed(records) if isinstance(r, UsageRecord))
    return next(found, 0)


def _first_usage(records: Sequence[Record]) -> int:
    return next((r.token_count for r in records if isinstance(r, UsageRecord)), 0)
