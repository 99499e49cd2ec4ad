"""An imported session up to some message, as records of ours that a provider accepts.

Nothing is carried over that grants anything: no approvals, no system prompt, no model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agent_tui.core.errors import SessionError
from agent_tui.core.messages import (
    Content,
    MediaPart,
    Part,
    TextPart,
    ToolCall,
    text_of,
)
from agent_tui.core.records import (
    UNSTAMPED,
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Message,
    Record,
    Stamp,
    ToolMessage,
    UserMessage,
    is_message,
)
from agent_tui.core.text import format_count
from agent_tui.core.words import INTERRUPTED
from agent_tui.importers.imported import ImportedCompaction, Records

Compactions = Iterable[ImportedCompaction]
_ODD_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_NO_MODEL = "<synthetic>"


def find_message(records: Records, at: str) -> int:
    """The place of a message among the records: by its number from 1, or the beginning of its id.

    Raises:
        SessionError: the session has no such message, or several ids begin like this.
    """
    places = [i for i, record in enumerate(records) if is_message(record)]
    if at.isdecimal() and at.isascii() and 0 < int(at) <= len(places):
        return places[int(at) - 1]
    found = [i for i in places if at and (records[i].stamp.uuid or "").startswith(at)]
    exact = [i for i in found if records[i].stamp.uuid == at] or found
    if len(exact) != 1:
        trouble = "is the beginning of several ids" if exact else "is not a message"
        raise SessionError(
            f"{at!r} {trouble} of this session, which has {format_count(len(places), 'message')}."
        )
    return exact[0]


def context_at(records: Records, compactions: Compactions, place: int) -> Records:
    """What the model was sent when the record at a place was the last one."""
    start = next(
        (i for i in range(place, -1, -1) if isinstance(records[i], CompactionRecord)), None
    )
    sides = {id(r): c for c in compactions for r in c.after}
    compaction = sides.get(id(records[start])) if start is not None else None
    if start is None or compaction is None:
        return records[: place + 1]
    after = list(compaction.after)
    here = next(i for i, record in enumerate(after) if record is records[start])
    told = 0  # how much of what follows in the records stands in the compacted context already
    while (
        start + told < len(records)
        and here + told < len(after)
        and records[start + told] is after[here + told]
    ):
        told += 1
    places = {id(record): i for i, record in enumerate(records)}
    context = [record for record in after if places.get(id(record), 0) <= place]
    return (*context, *records[start + told : place + 1])


def records_to_resume(records: Records, compactions: Compactions, place: int) -> Records:
    """The messages up to the record at a place, ready for a new log.

    Thinking is left out: only the model that thought it can read it. So are answers that no
    model gave, and contents that no provider knows. A checkpoint stands before each prompt.

    Raises:
        SessionError: nothing is left that could be continued.
    """
    context = context_at(records, compactions, place) if place >= 0 else ()
    messages = [message for record in context if (message := _clean(record)) is not None]
    whole = list(_answered(messages))
    if not any(isinstance(message, UserMessage) for message in whole):
        raise SessionError("There is no prompt up to this point, so nothing can be continued.")
    return tuple(_with_checkpoints(whole))


def _clean(record: Record) -> Message | None:
    """A message as ours; None for what a provider would not take or did not send."""
    match record:
        case UserMessage():
            content = _clean_content(record.content)
            origin = "import" if record.origin in ("human", "steer", None) else record.origin
            own = UserMessage(content, origin, stamp=_time(record))
            return own if content else None
        case AssistantMessage() if record.model != _NO_MODEL:
            content = _clean_content(record.content)
            return replace(record, content=content, turn=None, stamp=_time(record))
        case ToolMessage():
            content = _clean_content(record.content)
            return replace(record, content=content, turn=None, stamp=_time(record))
        case _:
            return None


def _time(record: Record) -> Stamp:
    """When it was said: the ids of another agent stay with it."""
    return Stamp(at=record.stamp.at) if record.stamp.at else UNSTAMPED


def _clean_content(content: Content) -> Content:
    if isinstance(content, str):
        return content
    kept: tuple[Part, ...] = tuple(p for p in content if isinstance(p, TextPart | MediaPart))
    if all(isinstance(part, TextPart) for part in kept):
        return text_of(kept)
    return kept


def _answered(messages: Sequence[Message]) -> Iterator[Message]:
    """Every call answered once, right behind its message, under an id that is its own."""
    used: set[str] = set()
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if isinstance(message, ToolMessage):
            continue  # a result without a call before it
        if not isinstance(message, AssistantMessage):
            yield message
            continue
        results: dict[str, ToolMessage] = {}
        others: list[Message] = []
        while index < len(messages) and not isinstance(messages[index], AssistantMessage):
            found = messages[index]
            index += 1
            if isinstance(found, ToolMessage):
                results.setdefault(found.tool_call_id, found)
            else:
                others.append(found)
        yield from _with_results(message, results, used)
        yield from others


def _with_results(
    message: AssistantMessage, results: dict[str, ToolMessage], used: set[str]
) -> Iterator[Message]:
    pairs: list[tuple[ToolCall, ToolMessage]] = []
    for call in message.tool_calls:
        if any(call.id == other.id for other, _ in pairs):
            continue
        result = results.get(call.id)
        new_id = _new_id(call.id, used)
        if result is None:
            result = ToolMessage(new_id, INTERRUPTED, is_error=True, interrupted=True)
        pairs.append((_clean_call(call, new_id), replace(result, tool_call_id=new_id)))
    if not pairs and not message.content:
        return
    yield replace(message, tool_calls=tuple(call for call, _ in pairs))
    yield from (result for _, result in pairs)


def _new_id(id_: str, used: set[str]) -> str:
    """The id of a call, made its own where it was used before or is none."""
    base = _ODD_NAME.sub("_", id_)[:_LONGEST_NAME] or "call"
    found, number = base, 1
    while found in used:
        number += 1
        suffix = f"_{number}"
        found = base[: _LONGEST_NAME - len(suffix)] + suffix
    used.add(found)
    return found


def _clean_call(call: ToolCall, new_id: str) -> ToolCall:
    name = _ODD_NAME.sub("_", call.name)[:_LONGEST_NAME] or "tool"
    return ToolCall(new_id, name, call.arguments if _is_object(call.arguments) else "{}")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _with_checkpoints(messages: Iterable[Message]) -> Iterator[Record]:
    turn = 0
    for message in messages:
        if isinstance(message, UserMessage) and message.origin == "import":
            yield Checkpoint(turn, turn, 0, stamp=Stamp(at=message.stamp.at))
            turn += 1
        yield replace(message, turn=max(turn - 1, 0))
