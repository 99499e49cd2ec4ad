"""Sessions that begin as a copy of another: what was copied is found, but not counted again.

A fork of ours repeats lines to the byte. Claude Code repeats the entries of a session, with their
uuids, in the file of its copy. Codex begins a fork with its parent's turns under new times.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cmp_to_key
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.importers.claude_code import CLAUDE
from agent_tui.importers.codex import CODEX
from agent_tui.importers.importer import SessionRef
from agent_tui.library.search.line_text import decode
from agent_tui.library.search.raw_lines import digest_of, whole_lines
from agent_tui.library.search.sources import OURS
from agent_tui.sessions.session_summary import parent_session

_HEAD_LINES = 20
_TIME_DIGITS = len("20261101100000000")
_NO_DIGITS = re.compile(r"[^0-9]+")


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


@dataclass(frozen=True, slots=True)
class Entries:
    """What the lines of a file of Claude Code are known by, in order; in few bytes for each.

    Attributes:
        keys: the same number for the same line, in whichever file it is.
        times: when each was said, as a number.
        is_named: whether the file says of itself that it is a copy.
    """

    ref: SessionRef
    keys: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    is_named: bool = False


def read_entries(ref: SessionRef) -> Entries:
    """The lines of a file that have a uuid; raises OSError where it cannot be read."""
    found = Entries(ref)
    session = ref.path.stem
    for _, line in whole_lines(ref, 0):
        value = decode(line) or {}
        if _uuid(value):
            if not found.keys:
                origin = value.get("forkedFrom")
                session = str((origin if isinstance(origin, dict) else value).get("sessionId"))
            found.keys.append(_entry_key(value))
            found.times.append(_time(value))
    return replace(found, is_named=session != ref.path.stem)


def original_first(files: Iterable[Entries]) -> list[Entries]:
    """Files that share a beginning, each before those that were copied from it.

    What they say decides, so that it is the same in whatever order they are found: a copy names
    where it came from, or begins with a line under an id that is not its own. Of two others, the
    original is the one that has nothing more where they part, or whose next line is the older.
    """
    return sorted(files, key=cmp_to_key(_compared))


def _compared(one: Entries, other: Entries) -> int:
    if one.is_named != other.is_named:
        return 1 if one.is_named else -1
    shortest = min(len(one.keys), len(other.keys))
    part = next((at for at in range(shortest) if one.keys[at] != other.keys[at]), shortest)
    mine, its = _next(one, part), _next(other, part)
    return -1 if (mine, str(one.ref.path)) < (its, str(other.ref.path)) else 1


def _next(file: Entries, place: int) -> tuple[int, ...]:
    """When the line at a place was said, and its key; nothing behind the last one."""
    return (file.times[place], file.keys[place]) if place < len(file.keys) else ()


def held_before(files: Iterable[Entries]) -> Iterator[bytes]:
    """For each file, the keys of its lines that one before it holds, as ``Copies`` takes them."""
    seen: set[int] = set()
    for each in files:
        yield array("q", (key for key in each.keys if key in seen)).tobytes()
        seen.update(each.keys)


class Copies:
    """Tells which lines of a session another one holds; ask for every line in order.

    Args:
        source: the agent that wrote the session.
        origins: the files that it may be a copy of.
        held: the keys that ``held_before`` told, of Claude Code.
    """

    def __init__(self, source: str, origins: Iterable[SessionRef], held: bytes = b"") -> None:
        self._source = source
        self._held = set(array("q", held))
        for ref in origins:
            with suppress(AgentTuiError, OSError):  # what cannot be read holds nothing back
                self._held.update(_key(source, line) for _, line in whole_lines(ref, 0))

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


def _key(source: str, line: bytes) -> int:
    if source == CODEX:
        line = line[max(0, line.find(b'"payload"')) :]
    return digest_of(line)


def _entry_key(value: dict[str, Any]) -> int:
    """A copy keeps what was said, and when, too: a uuid alone may be used again."""
    said = f"{_uuid(value)} {value.get('timestamp')} {value.get('message')!r}"
    return digest_of(said.encode("utf-8", "replace"))


def _time(value: dict[str, Any]) -> int:
    """The digits of a time, to the millisecond; what says none is younger than what does."""
    digits = _NO_DIGITS.sub("", str(value.get("timestamp")))[:_TIME_DIGITS]
    return int(digits.ljust(_TIME_DIGITS, "0")) if digits else 10**_TIME_DIGITS


def _uuid(value: dict[str, Any]) -> str:
    """What a line is known by in every file that repeats it."""
    origin = value.get("forkedFrom")
    found = origin.get("messageUuid") if isinstance(origin, dict) else value.get("uuid")
    return found if isinstance(found, str) else ""
