"""Sessions that begin as a copy of another: what was copied is found, but not counted again.

A fork of ours repeats lines to the byte. Claude Code repeats the entries of a session, with their
uuids, in the file of its copy. Codex begins a fork with its parent's turns under new times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agent_tui.importers.claude_code import CLAUDE
from agent_tui.importers.codex import CODEX
from agent_tui.importers.importer import SessionRef
from agent_tui.library.search.line_text import decode
from agent_tui.library.search.raw_lines import digest_of, whole_lines
from agent_tui.library.search.sources import OURS
from agent_tui.sessions.session_summary import parent_session

_HEAD_LINES = 20


def origin_of(ref: SessionRef) -> str:
    """What names the session that one may be a copy of; empty where nothing does.

    Ours and Codex name the session; files of Claude Code that share a first uuid share a beginning.
    """
    if ref.source == OURS:
        return parent_session(ref.path)
    if ref.source not in (CLAUDE, CODEX):
        return ""
    for number, (_, line) in enumerate(whole_lines(ref, 0)):
        if number == _HEAD_LINES:
            break
        value = decode(line) or {}
        payload = value.get("payload")
        found = payload.get("forked_from_id") if isinstance(payload, dict) else _uuid(value)
        if isinstance(found, str) and found:
            return found
        if ref.source == CODEX:
            break
    return ""


def original_first(refs: Iterable[SessionRef]) -> list[SessionRef]:
    """Files of Claude Code that share a beginning, each before those that were copied from it.

    What they say decides, so that it is the same in whatever order they are found: a copy names
    where it came from, or has lines under an id that is not its own; else the original is the one
    that has nothing more, or whose next line is the oldest.
    """
    refs = list(refs)
    entries = {ref.path: list(_entries(ref)) for ref in refs}
    shared = Counter(key for told in entries.values() for key in {each.key for each in told})

    def rank(ref: SessionRef) -> tuple[bool, str, int, str]:
        told = entries[ref.path]
        own = next((each.at for each in told if shared[each.key] == 1), "")
        is_named = bool(told) and told[0].session != ref.path.stem
        return (is_named, own, len(told), str(ref.path))

    return sorted(refs, key=rank)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line with a uuid: what it is known by, when it was said, and in which session first."""

    key: object
    at: str
    session: str


def _entries(ref: SessionRef) -> Iterator[_Entry]:
    for _, line in whole_lines(ref, 0):
        value = decode(line) or {}
        if _uuid(value):
            origin = value.get("forkedFrom")
            session = (origin if isinstance(origin, dict) else value).get("sessionId")
            yield _Entry(_entry_key(value), str(value.get("timestamp")), str(session))


class Copies:
    """Tells which lines of a session another one holds; ask for every line in order.

    Args:
        source: the agent that wrote the session.
        origins: the files that it may be a copy of.
    """

    def __init__(self, source: str, origins: Iterable[SessionRef]) -> None:
        self._source = source
        self._held = {_key(source, line) for ref in origins for _, line in whole_lines(ref, 0)}

    def hold(self, line: bytes, value: dict[str, Any]) -> bool:
        """Whether the line was counted in the other session."""
        if not self._held:
            return False
        if self._source == CLAUDE:
            return bool(_uuid(value)) and _entry_key(value) in self._held
        is_held = _key(self._source, line) in self._held
        if self._source == CODEX and not is_held and value.get("type") in _SAID_BY_CODEX:
            self._held.clear()  # its own turns have begun: what they repeat was said again
        return is_held


_SAID_BY_CODEX = ("response_item", "event_msg")


def _key(source: str, line: bytes) -> object:
    if source == CLAUDE:
        return _entry_key(decode(line) or {})
    if source == CODEX:
        line = line[max(0, line.find(b'"payload"')) :]
    return digest_of(line)


def _entry_key(value: dict[str, Any]) -> object:
    """A copy keeps what was said, and when, too: a uuid alone may be used again."""
    said = digest_of(repr(value.get("message")).encode("utf-8", "replace"))
    return (_uuid(value), str(value.get("timestamp")), said)


def _uuid(value: dict[str, Any]) -> str:
    """What a line is known by in every file that repeats it."""
    origin = value.get("forkedFrom")
    found = origin.get("messageUuid") if isinstance(origin, dict) else value.get("uuid")
    return found if isinstance(found, str) else ""
