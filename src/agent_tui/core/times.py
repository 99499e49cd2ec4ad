"""Times as logs tell them, which anybody may have written: those that can be so, and no other."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from functools import lru_cache

_USUAL = re.compile(
    r"20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-6][0-9](?:\.[0-9]{1,9})?)?Z"
)
_FIRST_YEAR = 2000
_AHEAD_SECONDS = 86_400
"""So far ahead may a clock be, or a log that names no zone."""
_MINUTES = 16
"""Characters of a time down to its minute."""


_clock = time.time


def known_time(at: str | None) -> str:
    """The time, in UTC; empty for what is no time, is before 2000, or is over a day ahead of now.

    A session with such a time would always be listed first, or last.
    """
    if not at:
        return ""
    found = at if _USUAL.fullmatch(at) else _in_utc(at)
    return found if found[:_MINUTES] <= _latest(int(_clock()) // 60) else ""


def time_of_file(seconds: float) -> str:
    """When a file was written, RFC 3339 in UTC: now, where that is told to be ahead of now."""
    at = datetime.fromtimestamp(max(0, min(seconds, time.time())), UTC)
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


@lru_cache(1)
def _latest(minute: int) -> str:
    """The last minute that is not too far ahead, of a log that is read in this one."""
    return datetime.fromtimestamp(minute * 60 + _AHEAD_SECONDS, UTC).isoformat()[:_MINUTES]


def _in_utc(at: str) -> str:
    """Any other way to write a time; empty where it is none."""
    try:
        moment = datetime.fromisoformat(at)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return ""
    if moment.year < _FIRST_YEAR:
        return ""
    return moment.isoformat().replace("+00:00", "Z")
