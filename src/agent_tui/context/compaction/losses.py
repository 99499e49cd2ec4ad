"""The loss report: what was said in messages that go, and is in no message that stays.

Ranked without a model, the same every time: by what kind of thing it is, who said it, how often and
how lately.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_tui.context.cache import RESULT_LIMIT, RESULT_SECONDS, BoundedCache
from agent_tui.context.compaction.facts import (
    Fact,
    acts_of,
    command_of,
    errors_in_output,
    facts_in,
)
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.summary import Loss, LossKind

LIMIT = 200
_ENOUGH = 0.6
_ENOUGH_OF_MANY, _MANY_WORDS = 0.5, 30
_NEXT_OF_MESSAGE = 0.7
_SOLVED = 0.35
_WHOLE_REQUEST_WORDS = 7
_PLAIN_NAME_LIST = (
    "index.ts index.js index.html index.tsx __init__.py readme.md main.py main.ts mod.rs lib.rs"
    " package.json cargo.toml pyproject.toml types.ts utils.ts main.rs main.go app.py setup.py"
    " changelog.md agents.md makefile"
)
_PLAIN_NAMES = frozenset(_PLAIN_NAME_LIST.split())
_EXACT = re.compile(r"[a-z_][a-z0-9_]{2,}|\d+")
_WORD = re.compile(r"[a-z_][a-z0-9_]{2,}|\d[\d.,]*")
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{2,}")
_STOP_LIST = (
    "the and for are but not you all any can had her was one our out day get has him his how man"
    " new now old see two way who its did she use too that with have this will your from they know"
    " want been good much some time very when come here just like long make many more only over"
    " such take than them well were what then also into would could should there their which about"
    " these those let lets please yes yeah okay sure really actually thing things stuff btw dont"
    " does doing done being because instead never always must need keep add think already work"
    " works working call around come start look looks made tell give help whatever lots bit else"
    " might maybe again still thanks good great nice fine right wrong yet got going gonna want"
    " wanted first next last since while however thus hence can cannot don"
)
_STOP = frozenset(_STOP_LIST.split())
_LOCATION = re.compile(r"[(\[:]\d+(?:[,:]\d+)*[)\]]?")
_QUESTION = re.compile(r"\s*(?:why|what|how|where|who|when|which|is|are|do|does|did)\b", re.I)
_SPACE = re.compile(r"\s+")
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d)")
_known_facts: BoundedCache[Hashable, tuple[Fact, ...]] = BoundedCache(
    "facts of messages", RESULT_LIMIT, seconds=RESULT_SECONDS
)


@dataclass(slots=True)
class _Candidate:
    """All that was said of one thing."""

    fact: Fact
    message: int
    mentions: int = 1
    solved: bool = False
    weight: float = 0.0


class Mentions:
    """Answers whether texts speak of something; made once of the summary and what is kept.

    However long they are, each is read once. A name is searched for only where all its words occur.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        folded = [_folded(text) for text in texts]
        self._text = "\n".join(folded)
        self._exact: set[str] = set()
        self._stems: set[str] = set()
        for text in folded:
            self._exact.update(_EXACT.findall(text))
            self._stems.update(_stems(text))

    def of(self, fact: Fact) -> bool:
        """Whether a fact is mentioned, by its name or by most of its words."""
        said = _folded(fact.text)
        match fact.kind:
            case "file":
                return self._names(_file_tail(said))
            case "url":
                return self._names(said.rstrip("/"))
            case "number":
                return self._names(said)
            case "command":
                return self._names(" ".join(said.split()[:3])) or self._covers(said)
            case "error" | "decision" | "request":
                return self._covers(_folded(fact.whole) or said)

    def _names(self, said: str) -> bool:
        return self._exact.issuperset(_EXACT.findall(said)) and said in self._text

    def _covers(self, said: str) -> bool:
        words = content_words(said)
        known = sum(word in self._stems for word in words)
        enough = _ENOUGH if len(words) < _MANY_WORDS else _ENOUGH_OF_MANY
        return known >= enough * len(words)


def find_losses(
    dropped: Sequence[Message],
    summary: str,
    kept: Iterable[str] = (),
    *,
    indices: Sequence[int] | None = None,
) -> tuple[Loss, ...]:
    """What the dropped messages say and neither the summary nor what is kept does, worst first.

    Args:
        dropped: the messages that go, in order.
        summary: what stands in their place.
        kept: all that the messages that stay say, a text each.
        indices: the index of each dropped message in the old context; by default its place here.
    """
    places = range(len(dropped)) if indices is None else indices
    mentions = Mentions((summary, *kept))
    ranked = sorted(_collect(dropped), key=_rank)
    lost: list[tuple[float, _Candidate]] = []
    of_message: Counter[int] = Counter()
    for candidate in ranked:
        if len(lost) >= 2 * LIMIT:
            break
        if not mentions.of(candidate.fact):
            weight = candidate.weight * _NEXT_OF_MESSAGE ** of_message[candidate.message]
            of_message[candidate.message] += 1
            lost.append((weight, candidate))
    lost.sort(key=lambda pair: (-pair[0], _rank(pair[1])))
    return tuple(
        Loss(c.fact.kind, c.fact.text, c.fact.line, places[c.message], round(weight, 1))
        for weight, c in lost[:LIMIT]
    )


def _rank(candidate: _Candidate) -> tuple[float, int, str, str]:
    fact = candidate.fact
    return (-candidate.weight, candidate.message, fact.kind, fact.text)


def _collect(dropped: Sequence[Message]) -> Iterable[_Candidate]:
    found: dict[tuple[LossKind, str], _Candidate] = {}
    unsolved: dict[str, list[_Candidate]] = {}
    for index, (command, facts) in enumerate(_facts_of_each(dropped)):
        for earlier in unsolved.pop(command, ()) if command else ():
            earlier.solved = True
        for fact in facts:
            candidate = _note(found, fact, index)
            if command:
                candidate.solved = False
                unsolved.setdefault(command, []).append(candidate)
    last = max(1, len(dropped) - 1)
    for candidate in found.values():
        candidate.weight = _weigh(candidate, last)
    return found.values()


def _note(found: dict[tuple[LossKind, str], _Candidate], fact: Fact, index: int) -> _Candidate:
    key = (fact.kind, _identity(fact))
    known = found.get(key)
    if known is None:
        known = found[key] = _Candidate(fact, index)
        return known
    known.mentions += 1
    known.message = index
    if fact.strength >= known.fact.strength:
        known.fact = fact
    return known


def _weigh(candidate: _Candidate, last: int) -> float:
    """Strength and repetition, less for what is long ago, solved, or hardly says anything."""
    fact = candidate.fact
    lately = 0.6 + 0.4 * candidate.message / last
    often = min(candidate.mentions - 1, 8) * (2.0 if fact.kind == "file" else 1.0)
    weight = (fact.strength + often) * lately
    if candidate.solved:
        weight *= _SOLVED
    if fact.kind == "request":
        words = len(content_words(fact.whole.casefold()))
        weight *= min(1.0, words / _WHOLE_REQUEST_WORDS)
        if fact.whole.rstrip().endswith("?") or _QUESTION.match(fact.whole):
            weight *= 0.8
    return weight


def _facts_of_each(messages: Sequence[Message]) -> Iterator[tuple[str, Sequence[Fact]]]:
    """The facts of each message, and the command whose result it is, where it is one."""
    commands: dict[str, str] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                if command_of(call):
                    commands[call.id] = "; ".join(acts_of(call)) or "?"
        if isinstance(message, ToolMessage):
            command = commands.pop(message.tool_call_id, "")
            yield command, _facts_of_result(message, bool(command))
        else:
            yield "", _facts_of(message)


def _facts_of(message: UserMessage | AssistantMessage) -> tuple[Fact, ...]:
    text = text_of(message.content)
    told = message.tool_calls if isinstance(message, AssistantMessage) else message.origin
    return _known_facts.find((text, told), lambda: tuple(facts_in(message)))


def _facts_of_result(message: ToolMessage, from_command: bool) -> tuple[Fact, ...]:
    text = text_of(message.content)
    failed = message.is_error and not message.interrupted

    def read() -> tuple[Fact, ...]:
        printed = tuple(errors_in_output(text)) if from_command else ()
        return printed or (tuple(facts_in(message)) if failed else ())

    return _known_facts.find((text, failed, from_command), read)


def _identity(fact: Fact) -> str:
    """What makes two facts the same thing."""
    if fact.kind == "file":
        return _file_tail(fact.text.casefold())
    if fact.kind == "error":
        return " ".join(content_words(_LOCATION.sub("", fact.text.casefold())))
    if fact.kind in ("decision", "request"):
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


def _folded(text: str) -> str:
    """A text as it is searched: one case, single spaces, numbers without their commas."""
    return _THOUSANDS.sub("", _SPACE.sub(" ", text.casefold()))


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if word not in _STOP:
            yield word[:6]
    if not text.isascii():
        for run in _CJK.findall(text):
            yield from (run[place : place + 2] for place in range(len(run) - 1))
