"""Flat rows of what happened in a session: the documented schema of a shipment.

A row stands for one line of a log, or for one call of a tool in it. Ids come from the log's own
uuids, or from a hash of the line where it has none: a row that is shipped twice has the same id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any

from agent_tui.core.usage import Usage
from agent_tui.library.search.line_text import LineText, decode, read_line, read_object, time_of
from agent_tui.library.search.tallies import AnswerUsage, CompactionLines, usage_of
from agent_tui.providers.catalog import find_price

_KINDS = {"user": "prompt", "assistant": "reply", "tool": "tool_result", "system": "system"}


@dataclass(frozen=True, slots=True)
class Row:
    """One row, in the order of its columns.

    Attributes:
        id: the same for the same line, however often it is shipped.
        kind: prompt, reply, tool_call, tool_result, compaction, usage, system or other.
        at: RFC 3339 in UTC; empty where the log does not say.
        call_id: joins a tool_call with its tool_result.
        tokens_before, tokens_after: of a compaction, where its agent knew them.
        messages_dropped: of a compaction: messages that neither stayed nor were summarised.
        cost: dollars, where the model's price is known.
        content: what was said, redacted; empty unless content was asked for.
    """

    id: str
    session_id: str
    agent: str
    project: str
    at: str
    kind: str
    role: str = ""
    model: str = ""
    tool: str = ""
    call_id: str = ""
    is_error: bool = False
    files: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    tokens_before: int = 0
    tokens_after: int = 0
    messages_dropped: int = 0
    content: str = ""

    @property
    def columns(self) -> dict[str, Any]:
        """The values by their names, in order; ``asdict`` copies each, at many times the cost."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class RowReader:
    """Turns the lines of one session into rows; give it every line in order.

    Attributes:
        counts_again: whether the tokens of the last line may be said again.
    """

    session_id: str
    agent: str
    project: str
    model: str = ""
    counts_again: bool = False
    _usage: AnswerUsage = field(default_factory=AnswerUsage)
    _compactions: CompactionLines = field(default_factory=CompactionLines)

    def follow(self, lines: Iterable[bytes]) -> None:
        """Take the lines before the first one, the last first: their compactions were shipped."""
        before = (read_line(line) for line in lines)
        self._compactions.follow(said for said in before if said is not None)

    def begin_behind(self, line: bytes) -> None:
        """Take a line as shipped before: its tokens, said again, are the same ones."""
        value = decode(line) or {}
        if (usage := usage_of(value)) is not None:
            self._usage.add(value, usage)

    def rows(self, line: bytes) -> Iterator[Row]:
        """The rows of one line; none for one that is damaged or mute."""
        self.counts_again = False
        value = decode(line)
        if value is None:
            return
        said, usage = read_object(value), usage_of(value)
        if said is None and usage is None:
            return
        said = said or LineText(at=time_of(value))
        self.model = said.model or self.model
        name = _id_of(value, line, self.session_id)
        fresh = Usage()
        if usage is not None:
            fresh = self._usage.add(value, usage)
            self.counts_again = bool(self._usage.name)
        yield self._row(name, value, said, fresh)
        calls = zip(said.calls, said.call_paths, strict=True)
        for number, ((call, tool), paths) in enumerate(calls):
            yield Row(
                *(f"{name}:{number}", self.session_id, self.agent, self.project, said.at),
                kind="tool_call",
                role=said.role,
                model=self.model,
                tool=tool,
                call_id=call,
                files="\n".join(sorted(paths)),
            )
        for number, call in islice(enumerate(said.answers), 1, None):
            yield Row(
                *(f"{name}:r{number}", self.session_id, self.agent, self.project, said.at),
                kind="tool_result",
                role=said.role,
                model=self.model,
                call_id=call,
                is_error=said.has_failed(call),
            )

    def _row(self, name: str, value: dict[str, Any], said: LineText, usage: Usage) -> Row:
        kind = _KINDS.get(said.role, "usage" if not said.texts and usage.total_tokens else "other")
        if said.is_compaction:
            kind = "compaction" if self._compactions.begins(said) else "other"
        first = next(iter(said.answers), "")
        price = find_price(self.model)
        return Row(
            *(name, self.session_id, self.agent, self.project, said.at),
            kind=kind,
            role=said.role,
            model=self.model,
            call_id=first,
            is_error=said.has_failed(first) if first else said.is_error,
            files="\n".join(sorted(said.touched)),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            cost=round(price.of(usage), 6) if price is not None else 0.0,
            tokens_before=_number(value, "pre_tokens", "tokensBefore"),
            tokens_after=_number(value, "post_tokens"),
            messages_dropped=_number(value, "dropped"),
            content=said.text,
        )


def _id_of(value: dict[str, Any], line: bytes, session: str) -> str:
    for key in ("uuid", "id"):
        found = value.get(key)
        if isinstance(found, str) and found:
            return f"{session}/{found}"
    return f"{session}/{blake2b(line, digest_size=12).hexdigest()}"


def _number(value: dict[str, Any], *names: str) -> int:
    """The first sensible count under some names; 0 where there is none."""
    inner = value.get("compactMetadata")
    found = [value.get(name) for name in names]
    if isinstance(inner, dict) and "pre_tokens" in names:
        found.append(inner.get("preTokens"))
    return next((each for each in found if type(each) is int and 0 <= each < 1 << 40), 0)
