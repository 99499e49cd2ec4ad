"""Numbers for people: token counts, sizes, durations, ages and times of day."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, UTC, datetime

from agent_tui.core.text import format_count

__all__ = [
    "format_age",
    "format_clock",
    "format_count",
    "format_duration",
    "format_minute",
    "format_percent",
    "format_since",
    "format_size",
    "format_span",
    "format_tokens",
    "format_too_big",
    "parse_time",
]


def format_tokens(count: int, *, estimated: bool = False) -> str:
    """A token count such as ``950``, ``12.4k`` or ``1.2M``; ``~`` marks an estimate."""
    sign = "~" if estimated else ""
    if count < 1_000:
        return f"{sign}{count}"
    if count < 99_950:
        return f"{sign}{count / 1_000:.1f}k"
    if count < 999_500:
        return f"{sign}{count / 1_000:.0f}k"
    return f"{sign}{count / 1_000_000:.1f}M"


def format_size(size_bytes: int) -> str:
    """A size such as ``812 B``, ``3.4 KB`` or ``1.2 GB`` (powers of 1,000)."""
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    amount = float(size_bytes)
    for unit in ("KB", "MB", "GB", "TB"):
        amount /= 1_000
        if amount < 999.5 or unit == "TB":
            break
    return f"{amount:.1f} {unit}" if amount < 99.95 else f"{amount:.0f} {unit}"


def format_too_big(what: str, act: str, size_bytes: int, most: int | str) -> str:
    """That something is larger than ``most``: bytes, or words such as ``fits in memory``."""
    limit = most if isinstance(most, str) else format_size(most)
    return f"{what} is too big to {act}: it is {format_size(size_bytes)}, more than {limit}."


def format_percent(share: float) -> str:
    """A share of one in whole percent; only exactly 0 and 1 become 0 % and 100 %."""
    percent = round(share * 100)
    if percent == 0 and share > 0:
        return "<1%"
    if percent == 100 and share < 1:
        return "99%"
    return f"{percent}%"


def parse_time(at: str | None) -> datetime | None:
    """An RFC 3339 time as an aware datetime, or None where there is none to read."""
    if not at:
        return None
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    if moment.year in (MINYEAR, MAXYEAR):
        return None  # of no use: in the local time it may be out of range
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def format_clock(at: str | None) -> str:
    """The local time of day, ``14:05``, or nothing where the time is unknown."""
    moment = parse_time(at)
    return moment.astimezone().strftime("%H:%M") if moment else ""


def format_minute(at: str | None) -> str:
    """The local day and time, ``2026-11-22 14:05``, or nothing where the time is unknown."""
    moment = parse_time(at)
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment else ""


def format_age(at: str | None, now: datetime | None = None) -> str:
    """How long ago something was: ``now``, ``5m``, ``3h``, ``2d``, then the date or its month.

    It takes seven cells at most.
    """
    moment = parse_time(at)
    if moment is None:
        return ""
    now = now or datetime.now(UTC)
    seconds = (now - moment).total_seconds()
    if seconds < 60:
        return "now"
    if seconds < 3_600:
        return f"{int(seconds // 60)}m"
    if seconds < 86_400:
        return f"{int(seconds // 3_600)}h"
    if seconds < 7 * 86_400:
        return f"{int(seconds // 86_400)}d"
    local = moment.astimezone()
    return local.strftime("%d %b" if local.year == now.astimezone().year else "%b \u2019%y")


def format_since(at: str | None) -> str:
    """How long ago something was, for a sentence: ``now``, ``5m ago``, then the date."""
    age = format_age(at)
    if age and age[-1] in "mhd" and age[0].isdigit() and " " not in age:
        return f"{age} ago"
    return age


def format_span(since: str | None, until: str | None) -> str:
    """How long it was from one time to another: ``<1m``, ``5m``, ``3h``, ``2d``."""
    first, last = parse_time(since), parse_time(until)
    if first is None or last is None or last < first:
        return ""
    minutes = int((last - first).total_seconds() // 60)
    if minutes < 60:
        return f"{minutes}m" if minutes else "<1m"
    return f"{minutes // 60}h" if minutes < 24 * 60 else f"{minutes // (24 * 60)}d"


def format_duration(seconds: float) -> str:
    """How long something took: ``0.4 s``, ``12 s``, ``3 min 5 s``."""
    if seconds < 9.95 and seconds != int(seconds):
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def format_exit(code: int) -> str:
    """How a process ended, in two words: its exit code, or the signal that ended it."""
    if code >= 0:
        return f"exit {code}"
    import signal

    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
