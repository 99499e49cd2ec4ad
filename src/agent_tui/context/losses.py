"""The loss report: what was said in messages that go, and is in no message that stays.

Ranked without a model, the same every time: by what kind of thing it is, who said it, how often and
how lately.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_tui.context.cache import RESULT_LIMIT, RESULT_SECONDS, BoundedCache
from agent_tui.context.facts import Fact, Kind, errors_in_output, facts_in, runs_command
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message, ToolMessage
from agent_tui.core.summary import Loss

LIMIT = 200
_ENOUGH = 0.6
_KEPT_CHARS = 400_000
_PLAIN_NAME_LIST = (
    "index.ts index.js index.html index.tsx __init__.py readme.md main.py main.ts mod.rs lib.rs"
    " package.json cargo.toml pyproject.toml types.ts utils.ts main.rs main.go app.py setup.py"
    " changelog.md agents.md makefile"
)
_PLAIN_NAMES = frozenset(_PLAIN_NAME_LIST.split())
_WORD = re.compile(r"[a-z_][a-z0-9_]{2,}|\d[\d.,]*")
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{2,}")
_STOP_LIST = (
    "the and for are but not you all any can had her was one our out day get has him his how man"
    " new now old see two way who its did she use too that with have this will your from they know"
    " want been good much some time very when come here just like long make many more only over"
    " such take than them well were what then also into would could should there their which about"
    " these those let lets please yes yeah okay sure really actually thing things stuff btw dont"
    " does doing done being because instead never always must need keep add"
)
_STOP = frozenset(_STOP_LIST.split())
_SPACE = re.compile(r"\s+")
_facts_of_results: BoundedCache[tuple[str, bool, bool], tuple[Fact, ...]] = BoundedCache(
    "facts of tool results", RESULT_LIMIT, seconds=RESULT_SECONDS
)


@dataclass(slots=True)
class _Candidate:
    """All that was said of one thing."""

    fact: Fact
    message: int
    mentions: int = 1


class Mentions:
    """Answers whether a text speaks of something; made once of the summary and what is kept."""

    def __init__(self, summary: str, kept_text: str = "") -> None:
        self._text = _SPACE.sub(" ", f"{summary}\n{kept_text[-_KEPT_CHARS:]}".casefold())
        self._words = frozenset(_stems(self._text))

    def of(self, fact: Fact) -> bool:
        """Whether a fact is mentioned, by its name or by most of its words."""
        said = fact.text.casefold()
        match fact.kind:
            case "file":
                return _file_tail(said) in self._text
            case "url":
                return said.rstrip("/") in self._text
            case "number":
                return _SPACE.sub(" ", said.replace(",", "")) in self._text.replace(",", "")
            case "command":
                words = said.split()
                return " ".join(words[:3]) in self._text or self._covers(said)
            case "error" | "decision" | "request":
                return self._covers(said)

    def _covers(self, said: str) -> bool:
        words = content_words(said)
        if not words:
            return True
        known = sum(word in self._words for word in words)
        return known >= _ENOUGH * len(words)


def find_losses(
    dropped: Sequence[Message],
    summary: str,
    kept_text: str = "",
    *,
    indices: Sequence[int] | None = None,
    limit: int = LIMIT,
) -> tuple[Loss, ...]:
    """What the dropped messages say and neither the summary nor the kept text does, worst first.

    Args:
        dropped: the messages that go, in order.
        summary: what stands in their place.
        kept_text: what the messages that stay say.
        indices: the index of each dropped message in the old context; by default its place here.
        limit: how many losses are reported at most.
    """
    places = range(len(dropped)) if indices is None else indices
    ranked = sorted(
        _collect(dropped), key=lambda pair: (-pair[0], pair[1].message, pair[1].fact.text)
    )
    mentions = Mentions(summary, kept_text)
    losses: list[Loss] = []
    for weight, candidate in ranked:
        if len(losses) == limit:
            break
        fact = candidate.fact
        if not mentions.of(fact):
            place = places[candidate.message]
            losses.append(Loss(fact.kind, fact.text, fact.line, place, round(weight, 1)))
    return tuple(losses)


def _collect(dropped: Sequence[Message]) -> Iterable[tuple[float, _Candidate]]:
    found: dict[tuple[Kind, str], _Candidate] = {}
    for index, facts in enumerate(_facts_of_each(dropped)):
        for fact in facts:
            key = (fact.kind, _identity(fact))
            known = found.get(key)
            if known is None:
                found[key] = _Candidate(fact, index)
                continue
            known.mentions += 1
            known.message = index
            if fact.strength >= known.fact.strength:
                known.fact = fact
    last = max(1, len(dropped) - 1)
    return [(_weigh(candidate, last), candidate) for candidate in found.values()]


def _weigh(candidate: _Candidate, last: int) -> float:
    lately = 0.6 + 0.4 * candidate.message / last
    often = min(candidate.mentions - 1, 8) * (2.0 if candidate.fact.kind == "file" else 1.0)
    return (candidate.fact.strength + often) * lately


def _facts_of_each(messages: Sequence[Message]) -> Iterable[Sequence[Fact]]:
    commands: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            commands.update(call.id for call in message.tool_calls if runs_command(call.name))
        if isinstance(message, ToolMessage):
            yield _facts_of_result(message, message.tool_call_id in commands)
        else:
            yield facts_in(message)


def _facts_of_result(message: ToolMessage, from_command: bool) -> tuple[Fact, ...]:
    text = text_of(message.content)
    failed = message.is_error and not message.interrupted

    def read() -> tuple[Fact, ...]:
        if failed:
            return tuple(facts_in(message))
        return tuple(errors_in_output(text)) if from_command else ()

    return _facts_of_results.find((text, failed, from_command), read)


def _identity(fact: Fact) -> str:
    """What makes two facts the same thing."""
    if fact.kind == "file":
        return _file_tail(fact.text.casefold())
    if fact.kind in ("error", "decision", "request"):
        return " ".join(content_words(fact.text.casefold()))
    return fact.text.casefold()


def _file_tail(path: str) -> str:
    """The end of a path by which people know the file: its name, with its folder where plain."""
    head, _, name = path.rpartition("/")
    if name in _PLAIN_NAMES and head:
        return f"{head.rpartition('/')[2]}/{name}"
    return name


def content_words(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order, each once."""
    return list(dict.fromkeys(_stems(text)))


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if word not in _STOP:
            yield word[:6]
    if not text.isascii():
        for run in _CJK.findall(text):
            yield from (run[place : place + 2] for place in range(len(run) - 1))
