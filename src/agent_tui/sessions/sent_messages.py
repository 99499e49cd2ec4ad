"""Messages as providers accept them: whatever a log holds, each call has exactly one answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from agent_tui.core.errors import BadRecord
from agent_tui.core.jsonl import decode_line
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage
from agent_tui.core.words import INTERRUPTED

_LONG_CHARS = 100_000


def repaired_messages(messages: Iterable[Message]) -> list[Message]:
    """Messages that any provider takes: every call answered once, right behind its message.

    A call without a result gets an "interrupted" one, a result without a call is left out, and
    arguments that are not a JSON object become ``{}``. Nothing on disk changes.
    """
    whole: list[Message] = []
    calls: tuple[ToolCall, ...] = ()
    place = 0
    results: dict[str, ToolMessage] = {}

    def answer() -> None:
        answers = [results.get(call.id) or _interrupted(call) for call in calls]
        whole[place:place] = answers
        results.clear()

    for message in messages:
        if isinstance(message, AssistantMessage):
            answer()
            message = _with_sound_calls(message)
            whole.append(message)
            calls, place = message.tool_calls, len(whole)
        elif isinstance(message, ToolMessage):
            if any(call.id == message.tool_call_id for call in calls):
                results[message.tool_call_id] = message
        else:
            whole.append(message)
    answer()
    return whole


def _interrupted(call: ToolCall) -> ToolMessage:
    return ToolMessage(call.id, INTERRUPTED, is_error=True, interrupted=True)


def _with_sound_calls(message: AssistantMessage) -> AssistantMessage:
    if not message.tool_calls:
        return message
    seen: set[str] = set()
    calls = []
    for call in message.tool_calls:
        if call.id in seen:
            continue
        seen.add(call.id)
        calls.append(call if _is_object(call.arguments) else replace(call, arguments="{}"))
    return replace(message, tool_calls=tuple(calls))


def _is_object(arguments: str) -> bool:
    return (_is_long_object if len(arguments) > _LONG_CHARS else _reads_as_object)(arguments)


def _reads_as_object(arguments: str) -> bool:
    try:
        decode_line(arguments.encode())
    except (BadRecord, UnicodeEncodeError):
        return False
    return True


@lru_cache(maxsize=4)
def _is_long_object(arguments: str) -> bool:
    """Arguments of megabytes are asked about at every step until they are settled: read them once.

    They are looked at without being made into values, which would hold the keys up for 40 ms.
    """
    import msgspec

    try:
        msgspec.json.decode(arguments, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _reads_as_object(arguments)  # it has the last word
    return True
