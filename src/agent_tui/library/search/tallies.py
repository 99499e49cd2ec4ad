"""Counting while indexing: what each file adds to the statistics, by day and model, and by tool.

A log says its tokens in one of few ways: with each answer (Claude Code, pi, Gemini, OpenCode), or
in lines of their own (ours, Codex). Claude Code logs one answer in several lines that repeat its
usage, of which the largest counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any

from agent_tui.core.usage import Usage
from agent_tui.library.search.line_text import LineText, read_line
from agent_tui.providers.catalog import find_price

_MOST_CALLS = 10_000


@dataclass(slots=True)
class CompactionLines:
    """Tells a compaction from its second line; give it every line that says anything, in order.

    Claude Code logs a compaction in two lines: where it was, and the summary as the user's message.
    """

    _awaits_summary: bool = False

    def follow(self, before: Iterable[LineText]) -> None:
        """Take what was said before the first line, the last first: that was counted."""
        last = next((each for each in before if each.is_compaction), None)
        if last is not None:
            self.begins(last)

    def begins(self, said: LineText) -> bool:
        """Whether a line tells of a compaction that no line before it told of."""
        if not said.is_compaction:
            return False
        is_second = said.is_summary and self._awaits_summary
        self._awaits_summary = not said.is_summary
        return not is_second


@dataclass(slots=True)
class DayCount:
    """What happened in one file on one day with one model.

    ``cost`` is in dollars; ``unpriced_tokens`` are those of models whose price nobody knows.
    """

    prompts: int = 0
    replies: int = 0
    calls: int = 0
    errors: int = 0
    compactions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced_tokens: int = 0


@dataclass(slots=True)
class ToolCount:
    """How often a tool was called in one file, and how often it failed."""

    calls: int = 0
    errors: int = 0


class AnswerUsage:
    """What the lines of an answer add to its tokens: each says them again, the largest count.

    Attributes:
        name: what the last line counted tokens for; empty where that is not told.
    """

    def __init__(self) -> None:
        self.name, self._known = "", Usage()

    def add(self, value: dict[str, Any], usage: Usage) -> Usage:
        """Take the tokens of the next line; returns those that were not counted before."""
        name = counted_under(value)
        if not name or name != self.name:
            self.name, self._known = name, usage
            return usage
        fresh = beyond(usage, self._known)
        self._known += fresh
        return fresh


class Tally:
    """Counts the lines of one file as they are read; give it every line in order."""

    def __init__(self, day: str, model: str) -> None:
        """``day`` and ``model`` are for lines that say none, until one does."""
        self._day, self._model = day[:10], model
        self._days: defaultdict[tuple[str, str], DayCount] = defaultdict(DayCount)
        self._tools: defaultdict[str, ToolCount] = defaultdict(ToolCount)
        self._names: dict[str, str] = {}
        self._count: DayCount | None = None
        self._usage = AnswerUsage()
        self._compactions = CompactionLines()

    def follow(self, lines: Iterable[bytes]) -> None:
        """Take the lines before the first one, the last first: what they tell of is counted."""
        before = [said for line in lines if (said := read_line(line)) is not None]
        self._compactions.follow(before)
        for said in reversed(before):
            self.learn_calls(said)

    def learn_calls(self, said: LineText) -> None:
        """Keep which tools a line calls; ``add`` does it for every line that it counts."""
        for call, name in said.calls:
            if len(self._names) < _MOST_CALLS:
                self._names[call] = name

    def failed_tools(self, said: LineText) -> list[str]:
        """The tool of each failed call that a line answers; none for every other line."""
        if not said.is_error:
            return []
        calls = filter(said.has_failed, said.answers or [""])  # some logs name neither by an id
        return [name for call in calls if (name := self._names.get(call))]

    def begin_behind(self, value: dict[str, Any]) -> None:
        """Take a line as counted before: its tokens, said again, are the same ones."""
        if (found := usage_of(value)) is not None:
            self._usage.add(value, found)

    def add(self, value: dict[str, Any], said: LineText | None) -> bool:
        """Count one line: its object, and what it says; whether its tokens may be said again."""
        if said is not None:
            self._turn_to(said.at[:10] or self._day, said.model or self._model)
            self._add_talk(said)
        if (found := usage_of(value)) is None:
            return False
        self._add_usage(self._usage.add(value, found))
        return bool(self._usage.name)

    def _turn_to(self, day: str, model: str) -> None:
        """Count what follows under a day and a model, which few lines change."""
        if day != self._day or model != self._model:
            self._day, self._model, self._count = day, model, None

    @property
    def _now(self) -> DayCount:
        if self._count is None:
            self._count = self._days[(self._day, self._model)]
        return self._count

    def _add_talk(self, said: LineText) -> None:
        count = self._now
        if said.role == "assistant":
            count.replies += 1
        elif said.role == "user":
            count.prompts += 1
        if said.is_compaction:
            count.compactions += self._compactions.begins(said)
        self.learn_calls(said)
        for _, name in said.calls:
            count.calls += 1
            self._tools[name].calls += 1
        if said.is_error:
            count.errors += max(1, len(said.failed))
            for name in self.failed_tools(said):
                self._tools[name].errors += 1

    def _add_usage(self, usage: Usage) -> None:
        count = self._now
        count.input_tokens += usage.input_tokens
        count.output_tokens += usage.output_tokens
        count.cached_tokens += usage.cached_tokens
        if (price := _price_of(self._model)) is not None:
            count.cost += price.of(usage)
        else:
            count.unpriced_tokens += usage.input_tokens + usage.output_tokens

    def days(self) -> Iterator[tuple[object, ...]]:
        """Rows of day, model and counts."""
        for (day, model), count in self._days.items():
            yield (day, model, *astuple(count))

    def tools(self) -> Iterator[tuple[object, ...]]:
        """Rows of tool and counts."""
        for tool, count in self._tools.items():
            yield (tool, *astuple(count))


def beyond(usage: Usage, known: Usage) -> Usage:
    """What a repeated usage adds to the one that is counted already."""
    return Usage(
        max(0, usage.input_tokens - known.input_tokens),
        max(0, usage.output_tokens - known.output_tokens),
        max(0, usage.cached_tokens - known.cached_tokens),
        0,
        max(0, usage.cache_write_tokens - known.cache_write_tokens),
    )


def counted_under(value: dict[str, Any]) -> str:
    """What a line counts tokens for: said again under the same name, they are the same tokens.

    Claude Code names the answer; Codex says all tokens so far, and often says them twice.
    """
    message = value.get("message")
    if isinstance(message, dict):
        return str(message.get("id") or "")
    payload = value.get("payload")
    info = payload.get("info") if isinstance(payload, dict) else None
    total = info.get("total_token_usage") if isinstance(info, dict) else None
    return str(total) if total else ""


def usage_of(value: dict[str, Any]) -> Usage | None:
    """The tokens that a line reports for one call, whoever wrote it."""
    payload = value.get("payload")
    if isinstance(payload, dict):
        info = payload.get("info")
        found = info.get("last_token_usage") if isinstance(info, dict) else None
        return _usage(found)
    message = value.get("message")
    inner = message.get("usage") if isinstance(message, dict) else None
    return _usage(inner or value.get("usage") or value.get("tokens"))


def _usage(found: object) -> Usage | None:
    if not isinstance(found, dict):
        return None
    cached = _number(found, "cached_tokens", "cache_read_input_tokens")
    cached = cached or _number(found, "cached_input_tokens", "cacheRead")
    written = _number(found, "cache_creation_input_tokens", "cache_write_tokens")
    written = written or _number(found, "cacheWrite")
    plain = _number(found, "input_tokens", "input") or _number(found, "prompt_tokens")
    # Anthropic and pi count apart what was read from a cache or written into one; others do not.
    apart = "cache_read_input_tokens" in found or "cacheRead" in found
    total = plain + (cached + written if apart else 0)
    output = _number(found, "output_tokens", "output") or _number(found, "completion_tokens")
    return Usage(total, output, cached, 0, written) if total or output else None


def _number(found: dict[str, Any], *names: str) -> int:
    """The first sensible count under some names; 0 where there is none."""
    for name in names:
        value = found.get(name)
        if type(value) is int and 0 < value < 1 << 40:
            return value
    return 0


_price_of = lru_cache(64)(find_price)
"""The lines of a session name few models, again and again."""
