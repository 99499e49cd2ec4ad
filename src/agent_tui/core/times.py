"""Times as logs tell them, which anybody may have written: those that can be so, and no other."""

from __future__ import annotations

import re
import time
from calendar import monthrange
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from agent_tui.core.errors import UsageError

_USUAL = re.compile(
    r"20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-6][0-9](?:\.[0-9]{1,9})?)?Z"
)
_DAY = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_AGE = re.compile(r"(\d{1,4})([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
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


def read_day(text: str, today: date) -> str:
    """The day, month or year that a person names, or the day of an age such as ``7d``.

    Raises:
        UsageError: it is none of these; says what is expected.
    """
    if age := _AGE.fullmatch(text):
        days = int(age[1]) * _DAYS[age[2]]
        return (today - timedelta(days=min(days, today.toordinal() - 1))).isoformat()
    if _DAY.fullmatch(text):
        return text
    raise UsageError(
        f"Expected a day such as 2026-01-31, a month, a year, or an age such as 7d, got {text!r}."
    )


def read_local_time(text: str, today: date) -> str:
    """The beginning of what a person names, by the clock of this place, as logs tell it (UTC).

    Raises:
        UsageError: it is no time, no day and no age; says what is expected.
    """
    try:
        moment = datetime.fromisoformat(text if len(text) > len("2026-01-31") else "")
    except ValueError:
        moment = _beginning_of(read_day(text, today))
    with suppress(OverflowError, OSError, ValueError):  # a year that no clock of a place knows
        moment = moment.astimezone(UTC)
    # Without a zone: within the same second, a time with a fraction is not the earlier one.
    return moment.replace(tzinfo=None).isoformat()


def _beginning_of(day: str) -> datetime:
    year, month, number = (int(part) for part in f"{day}-01-01"[:10].split("-"))
    last = monthrange(year, month)[1] if year else 1
    return datetime(max(year, 1), month, min(number, last))


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
