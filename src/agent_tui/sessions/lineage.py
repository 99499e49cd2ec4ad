"""Whose archive a number in a log refers to: the session's own, or an ancestor's.

A fork begins with records of another session, and these name archives of that session. The fork's
header says so, ``"parent": {"session_id": ..., "archives": {id: number}}``: up to which number
they are archives of whom. The fork's own archives get higher numbers, so that none means two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_tui.core.records import CompactionRecord, Record, RevertRecord, SessionHeader

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""A valid session id: never a path."""

_HIGHEST = 10**15  # what is higher is damage, and must not use the numbers up


def inherited_archives(header: SessionHeader | None) -> dict[str, int]:
    """Up to which number archives are those of other sessions, by the sessions' ids."""
    stated = (header.parent or {}).get("archives") if header else None
    if not isinstance(stated, dict):
        return {}
    return {
        session_id: number
        for session_id, number in stated.items()
        if type(number) is int and 0 < number < _HIGHEST
    }


def bequeathed_archives(
    header: SessionHeader | None, session_id: str, records: Iterable[Record]
) -> dict[str, int]:
    """The archives that a fork inherits from the session it is made from."""
    inherited = inherited_archives(header)
    number = highest_number(None, records)
    if number > max(inherited.values(), default=0):
        inherited[session_id] = number
    return inherited


def holder_of(header: SessionHeader | None, number: int) -> str:
    """The session whose archive a number in a log refers to; empty for its own."""
    inherited = inherited_archives(header).items()
    return min(((upto, name) for name, upto in inherited if number <= upto), default=(0, ""))[1]


def highest_number(header: SessionHeader | None, records: Iterable[Record]) -> int:
    """The highest archive number that a log may name; 0 if none. Its next archive gets a higher."""
    named = (
        record.archive
        for record in records
        if isinstance(record, CompactionRecord | RevertRecord) and record.archive < _HIGHEST
    )
    return max((0, *named, *inherited_archives(header).values()))
