"""Reads the chunks of a chat stream, as OpenAI documents them and as servers really send them.

Seen in the wild and understood here: calls without index or id, one index for all calls, names
repeated with every delta, arguments as an object, reasoning under two names, content as a list of
parts, usage in every chunk, in the last one, inside a choice, or never.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
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
from agent_tui.providers.bounds import MOST_CALLS, NewCalls, TooMuch, cut_name

_NAMELESS = "unnamed_tool"
_MARK = re.compile(r'["\\{}\[\]]')


@dataclass(slots=True)
class _CallDraft:
    """One call while it arrives; nothing of it is told before its name is known."""

    place: int
    server_index: int | None
    server_id: str
    call_id: str = ""
    arguments: list[str] = field(default_factory=list)
    _brackets: _Brackets = field(default_factory=lambda: _Brackets())

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are complete JSON: what comes next belongs to another call."""
        return self._brackets.are_closed(self.arguments)


@dataclass(slots=True)
class _Brackets:
    """Follows the brackets of a JSON object, looking at each piece of it once."""

    _looked_at: int = 0
    _depth: int = 0
    _has_begun: bool = False
    _in_text: bool = False
    _escaped: bool = False

    def are_closed(self, pieces: Sequence[str]) -> bool:
        """Whether every bracket of what has arrived so far is closed again."""
        for piece in pieces[self._looked_at :]:
            self._look_at(piece)
        self._looked_at = len(pieces)
        return self._has_begun and self._depth <= 0 and not self._in_text

    def _look_at(self, piece: str) -> None:
        at = 1 if self._escaped else 0
        self._escaped = self._escaped and not piece
        while found := _MARK.search(piece, at):
            mark, at = found.group(), found.end()
            if self._in_text:
                if mark == "\\":
                    self._escaped = at == len(piece)
                    at += 1
                self._in_text = mark != '"'
            elif mark == '"':
                self._in_text = True
            elif mark != "\\":
                self._depth += 1 if mark in "{[" else -1
                self._has_begun = True


class ChatReader:
    """Turns the chunks of one reply into stream parts.

    ``used_ids`` are the ids of earlier calls: a server that counts from ``call_0`` in every reply
    gets a fresh id for the new one.
    """

    def __init__(self, used_ids: Collection[str] = ()) -> None:
        self.used_ids = used_ids
        self.finish_reason = ""
        self.usage: Usage | None = None
        self.thinks_in_reasoning_content = False
        self._new_calls = NewCalls(lambda: self.used_ids)
        self._drafts: list[_CallDraft] = []

    def read(self, chunk: Any) -> Iterator[StreamPart]:
        """The parts that a chunk holds; usage and finish reason are kept aside."""
        self._read_usage(_get(chunk, "usage"))
        choices = _get(chunk, "choices")
        for choice in choices[:1] if isinstance(choices, list | tuple) else ():
            self._read_usage(_get(choice, "usage"))
            delta = _get(choice, "delta")
            yield from self._read_delta(_get(choice, "message") if delta is None else delta)
            reason = _get(choice, "finish_reason")
            if isinstance(reason, str) and reason:
                self.finish_reason = reason

    def read_whole(self, body: dict[str, Any]) -> Iterator[StreamPart]:
        """The parts of an answer that came in one piece, which looks like a chunk."""
        yield from self.read(body)

    def close(self) -> Iterator[StreamPart]:
        """What is due at the end: calls without a name or without arguments are made whole."""
        for draft in self._drafts:
            if not draft.call_id:
                yield from self._name(draft, _NAMELESS)
            elif not any(piece and not piece.isspace() for piece in draft.arguments):
                yield ToolCallDelta(draft.place, "{}")

    def _read_delta(self, delta: Any) -> Iterator[StreamPart]:
        if delta is None:
            return
        reasoning = _get(delta, "reasoning_content")
        if isinstance(reasoning, str) and reasoning:
            self.thinks_in_reasoning_content = True
        else:
            reasoning = _get(delta, "reasoning")
        if isinstance(reasoning, str) and reasoning:
            yield ThinkDelta(reasoning)
        yield from _read_content(_get(delta, "content"))
        yield from _read_content(_get(delta, "refusal"))
        calls = _get(delta, "tool_calls")
        for call in calls if isinstance(calls, list | tuple) else ():
            yield from self._read_call(call)

    def _read_call(self, call: Any) -> Iterator[StreamPart]:
        function = _get(call, "function")
        name, arguments = _get(function, "name"), _get(function, "arguments")
        draft = self._find_draft(_get(call, "index"), _get(call, "id"), name)
        if isinstance(name, str) and name and not draft.call_id:
            yield from self._name(draft, name)
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if arguments:
            draft.arguments.append(arguments)
            if draft.call_id:
                yield ToolCallDelta(draft.place, arguments)

    def _find_draft(self, index: Any, server_id: Any, name: Any) -> _CallDraft:
        """The call that a delta continues, or a new one."""
        index = index if isinstance(index, int) else None
        server_id = server_id if isinstance(server_id, str) else ""
        if server_id:
            for draft in self._drafts:
                if draft.server_id == server_id and index in {None, draft.server_index}:
                    return draft
        latest = self._latest(index)
        if latest is None or _begins_another(latest, server_id, name):
            if len(self._drafts) >= MOST_CALLS:
                raise TooMuch(f"more than {MOST_CALLS} tool calls")
            latest = _CallDraft(len(self._drafts), index, server_id)
            self._drafts.append(latest)
        elif not latest.server_id:
            latest.server_id = server_id
        return latest

    def _latest(self, index: int | None) -> _CallDraft | None:
        for draft in reversed(self._drafts):
            if index is None or draft.server_index == index:
                return draft
        return None

    def _name(self, draft: _CallDraft, name: str) -> Iterator[StreamPart]:
        """Tell of a call, and of the arguments that came before its name."""
        draft.call_id = self._new_calls.take_id(draft.server_id)
        yield ToolCallBegan(draft.place, draft.call_id, cut_name(name))
        if draft.arguments:
            yield ToolCallDelta(draft.place, "".join(draft.arguments))

    def _read_usage(self, usage: Any) -> None:
        if usage is None:
            return
        sent, answered = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        if not sent and not answered:
            return
        cached = _count(_get(usage, "prompt_tokens_details"), "cached_tokens")
        cached = cached or _count(usage, "cached_tokens")
        cached = cached or _count(usage, "prompt_cache_hit_tokens")
        reasoning = _count(_get(usage, "completion_tokens_details"), "reasoning_tokens")
        self.usage = Usage(sent, answered, cached, reasoning)


def _begins_another(latest: _CallDraft, server_id: str, name: Any) -> bool:
    """Whether a delta that would fit a call by its index is really the next call.

    Some servers give every call of a reply the same index or none; others repeat name and id with
    every delta of one call. A name after whole arguments, or a new id with a name, tells.
    """
    if not name:
        return False
    if server_id and latest.server_id:
        return server_id != latest.server_id and (latest.is_whole or not latest.arguments)
    return latest.is_whole


def _read_content(content: Any) -> Iterator[StreamPart]:
    if isinstance(content, str):
        if content:
            yield TextDelta(content)
    elif isinstance(content, list):
        for part in content:
            yield from _read_part(part)


def _read_part(part: Any) -> Iterator[StreamPart]:
    """A content part: text, or thinking that holds text parts of its own."""
    thinking = _get(part, "thinking")
    if isinstance(thinking, list):
        thinking = "".join(str(_get(inner, "text") or "") for inner in thinking)
    if isinstance(thinking, str) and thinking:
        yield ThinkDelta(thinking)
    text = _get(part, "text")
    if isinstance(text, str) and text:
        yield TextDelta(text)


def _get(value: Any, name: str) -> Any:
    """A field of an object; None where there is none, or no object."""
    return value.get(name) if isinstance(value, dict) else None


def _count(value: Any, name: str) -> int:
    number = _get(value, name)
    if not isinstance(number, int | float) or not isfinite(number):
        return 0
    return max(0, int(number))
