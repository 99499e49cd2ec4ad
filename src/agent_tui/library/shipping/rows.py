"""Flat rows of what happened in a session: the documented schema of a shipment.

A row stands for one line of a log, or for one call of a tool in it. Ids come from the log's own
uuids, or from a hash of the line where it has none: a row that is shipped twice has the same id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from agent_tui.core.usage import Usage
from agent_tui.library.search.line_text import LineText, decode, read_line, read_object
from agent_tui.library.search.tallies import CompactionLines, beyond, counted_under, usage_of
from agent_tui.providers.catalog import find_known

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
    _message: str = ""
    _usage: Usage = field(default_factory=Usage)
    _compactions: CompactionLines = field(default_factory=CompactionLines)

    def follow(self, lines: Iterable[bytes]) -> None:
        """Take the lines before the first one, the last first: their compactions were shipped."""
        before = (read_line(line) for line in lines)
        self._compactions.follow(said for said in before if said is not None)

    def begin_behind(self, line: bytes) -> None:
        """Take a line as shipped before: its tokens, said again, are the same ones."""
        value = decode(line) or {}
        self._count(value, usage_of(value))

    def rows(self, line: bytes) -> Iterator[Row]:
        """The rows of one line; none for one that is damaged or mute."""
        self.counts_again = False
        value = decode(line)
        if value is None:
            return
        said, usage = read_object(value), usage_of(value)
        if said is None and usage is None:
            return
        said = said or LineText(at=str(value.get("at") or value.get("timestamp") or ""))
        self.model = said.model or self.model
        name = _id_of(value, line, self.session_id)
        counted = self._count(value, usage)
        yield self._row(name, value, said, counted)
        for number, (call, tool) in enumerate(said.calls):
            files = "\n".join(sorted(said.paths))
            yield Row(
                *(f"{name}:{number}", self.session_id, self.agent, self.project, said.at),
                kind="tool_call",
                role=said.role,
                model=self.model,
                tool=tool,
                call_id=call,
                files=files,
            )

    def _row(self, name: str, value: dict[str, Any], said: LineText, usage: Usage) -> Row:
        kind = _KINDS.get(said.role, "usage" if not said.texts and usage.total_tokens else "other")
        if said.is_compaction:
            kind = "compaction" if self._compactions.begins(said) else "other"
        about = find_known(self.model)
        price = about.price if about is not None else None
        return Row(
            *(name, self.session_id, self.agent, self.project, said.at),
            kind=kind,
            role=said.role,
            model=self.model,
            call_id=said.answers,
            is_error=said.is_error,
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

    def _count(self, value: dict[str, Any], usage: Usage | None) -> Usage:
        """What this line adds: an answer in several lines repeats its usage, the largest counts."""
        if usage is None:
            return Usage()
        name = counted_under(value)
        known = self._usage if name and name == self._message else Usage()
        self._message, self._usage = name, usage
        self.counts_again = bool(name)
        return beyond(usage, known)


def _id_of(value: dict[str, Any], line: bytes, session: str) -> str:
    for key in ("uuid", "id"):
        found = value.get(key)
        if isinstance(found, str) and found:
            return f"{session}/{found}"
    return f"{session}/{blake2b(line, digest_size=12).hexdigest()}"


def _number(value: dict[str, Any], *names: str) -> int:
    inner = value.get("compactMetadata")
    for name in names:
        found = value.get(name)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    found = inner.get("preTokens") if isinstance(inner, dict) and "pre_tokens" in names else 0
    return found if isinstance(found, int) else 0
