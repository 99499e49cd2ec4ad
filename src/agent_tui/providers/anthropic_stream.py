"""Reads the events of Anthropic's Messages API into stream parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from math import isfinite
from typing import Any

from agent_tui.core.events import (
    StreamPart,
    TextDelta,
    ThinkDelta,
    ToolCallBegan,
    ToolCallDelta,
)
from agent_tui.core.usage import Usage
from agent_tui.providers.anthropic_request import REDACTED
from agent_tui.providers.bounds import MOST_CALLS, NewCalls, TooMuch, cut_name

_FINISHED = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
"""This API's reasons to stop, in the words of the other one."""


class MessageReader:
    """Turns the events of one reply into stream parts; the end and the usage are kept aside."""

    def __init__(self, used_ids: Callable[[], Collection[str]] = tuple) -> None:
        self.finish_reason = ""
        self.usage: Usage | None = None
        self._counts: dict[str, int] = {}
        self._calls: dict[int, _OpenCall] = {}
        self._begun = 0
        self._new_calls = NewCalls(used_ids)

    def read(self, event: Any) -> Iterator[StreamPart]:
        """The parts that an event holds."""
        if not isinstance(event, dict):
            return
        match event.get("type"):
            case "message_start":
                message = event.get("message")
                self._count(message.get("usage") if isinstance(message, dict) else None)
            case "content_block_start":
                yield from self._start(_number(event, "index"), event.get("content_block"))
            case "content_block_delta":
                yield from self._go_on(_number(event, "index"), event.get("delta"))
            case "content_block_stop":
                yield from self._stop(_number(event, "index"))
            case "message_delta":
                self._count(event.get("usage"))
                delta = event.get("delta")
                reason = delta.get("stop_reason") if isinstance(delta, dict) else None
                if isinstance(reason, str) and reason:
                    self.finish_reason = _FINISHED.get(reason, reason)

    def read_whole(self, body: dict[str, Any]) -> Iterator[StreamPart]:
        """The parts of an answer that came in one piece."""
        for place, block in enumerate(body.get("content") or ()):
            yield from self._start(place, block)
            if isinstance(block, dict) and isinstance(block.get("signature"), str):
                yield ThinkDelta("", block["signature"])
            yield from self._stop(place)
        self._count(body.get("usage"))
        reason = body.get("stop_reason")
        self.finish_reason = _FINISHED.get(str(reason), str(reason)) if reason else ""

    def close(self) -> Iterator[StreamPart]:
        """Nothing waits for the end here."""
        return iter(())

    def _start(self, place: int, block: Any) -> Iterator[StreamPart]:
        if not isinstance(block, dict):
            return
        match block.get("type"):
            case "text" if block.get("text"):
                yield TextDelta(str(block["text"]))
            case "thinking" if block.get("thinking"):
                yield ThinkDelta(str(block["thinking"]))
            case "redacted_thinking":
                yield ThinkDelta("", f"{REDACTED}{block.get('data', '')}")
            case "tool_use":
                if self._begun >= MOST_CALLS:
                    raise TooMuch(f"more than {MOST_CALLS} tool calls")
                yield from self._stop(place)  # of a call that began in the same place
                call = self._calls[place] = _OpenCall(self._begun, block.get("input"))
                self._begun += 1
                own_id = self._new_calls.take_id(str(block.get("id") or ""))
                yield ToolCallBegan(call.index, own_id, cut_name(str(block.get("name"))))

    def _go_on(self, place: int, delta: Any) -> Iterator[StreamPart]:
        if not isinstance(delta, dict):
            return
        match delta.get("type"):
            case "text_delta" if delta.get("text"):
                yield TextDelta(str(delta["text"]))
            case "thinking_delta" if delta.get("thinking"):
                yield ThinkDelta(str(delta["thinking"]))
            case "signature_delta" if delta.get("signature"):
                yield ThinkDelta("", str(delta["signature"]))
            case "input_json_delta" if delta.get("partial_json") and place in self._calls:
                call = self._calls[place]
                call.has_arguments = True
                yield ToolCallDelta(call.index, str(delta["partial_json"]))

    def _stop(self, place: int) -> Iterator[StreamPart]:
        """A call without a delta has what it began with for its arguments."""
        call = self._calls.get(place)
        if call is not None and not call.has_arguments:
            call.has_arguments = True
            yield ToolCallDelta(call.index, call.first_arguments)

    def _count(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ):
            if usage.get(name) is not None:
                self._counts[name] = _number(usage, name)
        read = self._counts.get("cache_read_input_tokens", 0)
        written = self._counts.get("cache_creation_input_tokens", 0)
        sent = self._counts.get("input_tokens", 0) + read + written
        answered = self._counts.get("output_tokens", 0)
        if sent or answered:
            self.usage = Usage(sent, answered, read, cache_write_tokens=written)


class _OpenCall:
    """One call while it arrives."""

    def __init__(self, index: int, first_arguments: Any) -> None:
        from agent_tui.providers.server_events import encode_json

        fields = first_arguments if isinstance(first_arguments, dict) else {}
        self.index = index
        self.first_arguments = encode_json(fields).decode("utf-8")
        self.has_arguments = False


def _number(fields: dict[str, Any], name: str) -> int:
    number = fields.get(name)
    if not isinstance(number, int | float) or isinstance(number, bool) or not isfinite(number):
        return 0
    return max(0, int(number))
