"""Recall: search in what compactions, reverts and branches took out of the context.

Nothing is lost on disk: the archives of a session hold every message that ever was in it. Reading
them blocks, so search in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_tui.context.cache import BoundedCache
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage, is_message
from agent_tui.sessions.replay import Entry, read_log
from agent_tui.sessions.session_log import SessionLog

_CACHED_CHARS = 32_000_000
_AROUND = 160
_PASSED_OVER = frozenset({"checkpoint", "reminder", "compaction"})
_WORD = re.compile(r"\w+(?:[./:-]\w+)*")


@dataclass(frozen=True, slots=True)
class Remembered:
    """A message that is in no context now.

    Attributes:
        key: what names it: its id, or its place in an archive where it has none.
        speaker: ``user``, ``agent``, or what tool gave it on what.
        place: where it is, in words.
        at: when it was written; empty where unknown.
        text: all that it says, with the calls that it makes.
    """

    key: str
    speaker: str
    place: str
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """A message that was found, with the words around the first place that fits."""

    message: Remembered
    text: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search came to: the best snippets, of so many that fit, among so many messages."""

    snippets: tuple[Snippet, ...]
    fitting: int
    searched: int


_archives: BoundedCache[Path, tuple[Remembered, ...]] = BoundedCache(
    "recalled archives",
    _CACHED_CHARS,
    size_of=lambda pair: sum(len(each.text) + 200 for each in pair[1]),
)


class Recall:
    """Searches one session; what the context holds word for word is not found."""

    def __init__(self, log: SessionLog) -> None:
        self._log = log

    @property
    def has_anything(self) -> bool:
        """Whether anything ever left the context."""
        state = self._log.state
        return bool(state.compactions or state.reverts) or len(state.entries) < len(
            state.all_entries
        )

    def search(self, query: str, limit: int = 8) -> Findings:
        """The messages that say most of the words of a query, the newest of equals first."""
        wanted = list(dict.fromkeys(word.casefold() for word in _WORD.findall(query)))
        everything = list(self._messages())
        phrase = query.strip().casefold()
        scored = []
        for age, message in enumerate(everything):
            folded = message.text.casefold()
            found = [word for word in wanted if word in folded]
            if found and len(found) * 2 >= len(wanted):
                score = len(found) + (2 if phrase in folded else 0)
                scored.append((-score, age, message, phrase if phrase in folded else found[0]))
        scored.sort(key=lambda each: each[:2])
        best = tuple(Snippet(each, _around(each.text, at)) for _, _, each, at in scored[:limit])
        return Findings(best, len(scored), len(everything))

    def message(self, key: str) -> Remembered | None:
        """The whole of a message, by its key or by the beginning of it; None where none fits."""
        if len(key) < 4:
            return None
        fitting = {each.key: each for each in self._messages() if each.key.startswith(key)}
        return fitting.get(key) or (next(iter(fitting.values())) if len(fitting) == 1 else None)

    def _messages(self) -> Iterator[Remembered]:
        """Every message that is not in the context, newest archive first, each once."""
        seen = {
            entry.record.stamp.uuid
            for entry in list(self._log.state.messages)
            if not (isinstance(entry.record, ToolMessage) and entry.record.masked)
        }
        seen.discard(None)
        for message in self._sources():
            if message.key not in seen:
                seen.add(message.key)
                yield message

    def _sources(self) -> Iterator[Remembered]:
        yield from reversed(_remember(list(self._log.state.all_entries), "abandoned branch"))
        if not self._log.on_disk:
            for archive in reversed(self._log.archives()):
                entries = self._log.read_archive(archive.number).all_entries
                yield from reversed(_remember(entries, f"archive {archive.number}"))
        for number, path in sorted(self._log.archive_files().items(), reverse=True):
            try:
                yield from reversed(_archives.find(path, lambda: _read(path, number)))  # noqa: B023 - called at once
            except AgentTuiError:
                continue  # one that cannot be read now hides no other


def _read(path: Path, number: int) -> tuple[Remembered, ...]:
    return tuple(_remember(read_log(path).all_entries, f"archive {number}"))


def _remember(entries: Sequence[Entry], place: str) -> list[Remembered]:
    calls: dict[str, str] = {}
    found = []
    for index, entry in enumerate(entries):
        message = entry.record
        if isinstance(message, AssistantMessage):
            calls |= {call.id: f"{call.name} {call.arguments[:120]}" for call in message.tool_calls}
        if not is_message(message):
            continue
        text = _whole_text(message)
        aside = isinstance(message, UserMessage) and message.origin in _PASSED_OVER
        if aside or not text.strip() or (isinstance(message, ToolMessage) and message.masked):
            continue
        key = message.stamp.uuid or f"{place}:{index}".replace(" ", "-")
        speaker = _speaker(message, calls)
        found.append(Remembered(key, speaker, place, message.stamp.at or "", text))
    return found


def _speaker(message: Message, calls: dict[str, str]) -> str:
    match message:
        case UserMessage():
            return "user"
        case AssistantMessage():
            return "agent"
        case ToolMessage():
            return f"result of {calls.get(message.tool_call_id, 'a tool')}"


def _whole_text(message: Message) -> str:
    text = text_of(message.content)
    if isinstance(message, AssistantMessage):
        called = [f"→ {call.name} {call.arguments}" for call in message.tool_calls]
        text = "\n".join([text, *called] if text else called)
    return text


def _around(text: str, wanted: str) -> str:
    place = max(0, text.casefold().find(wanted))
    start, end = max(0, place - _AROUND), place + len(wanted) + _AROUND
    lines = (" ".join(line.split()) for line in text[start:end].split("\n"))
    said = "\n".join(line for line in lines if line)  # a table's rows stay rows
    return f"{'…' if start else ''}{said}{'…' if end < len(text) else ''}"
