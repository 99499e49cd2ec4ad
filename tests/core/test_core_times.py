"""Only a time that can be so is believed: a log may say any."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

import pytest

from agent_tui.core import times
from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_age, format_minute
from agent_tui.core.times import known_time, read_local_time, time_of_file


@pytest.mark.parametrize(
    ("at", "known"),
    [
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
        ("2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:00.123456Z"),
        ("2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00Z"),
        ("2024-05-01T10:00:00", "2024-05-01T10:00:00Z"),
    ],
)
def test_a_time_is_told_in_utc(at: str, known: str) -> None:
    assert known_time(at) == known


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-21", "2026-03-20T22:00:00"),
        ("2026-03", "2026-02-28T22:00:00"),
        ("2026", "2025-12-31T22:00:00"),
        ("7d", "2026-03-13T22:00:00"),
        ("2026-03-21T14:05", "2026-03-21T12:05:00"),
        ("2026-03-21 14:05:30", "2026-03-21T12:05:30"),
        ("2026-03-21T14:05Z", "2026-03-21T14:05:00"),
        ("2026-02-31", "2026-02-27T22:00:00"),
        ("9998-12-31", "9998-12-30T22:00:00"),
        ("0000", "0001-01-01T00:00:00"),
    ],
)
def test_a_time_that_a_person_names_is_one_of_their_clock(
    text: str, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC-2")  # POSIX counts westward: this is two hours ahead
    time.tzset()
    try:
        assert read_local_time(text, date(2026, 3, 21)) == at
        assert read_local_time(text, date(2026, 3, 21)) < f"{at}.001Z"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_last_day_of_all_is_a_day_whatever_a_clock_makes_of_it() -> None:
    """Python 3.12 and later know no other zone's time of it."""
    assert read_local_time("9999-12-31", date(2026, 3, 21)).startswith("9999-12-3")


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13", "2026-3-1", "2026-01-01T99", "7"])
def test_what_names_no_time_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(UsageError, match="Expected a day such as 2026-01-31"):
        read_local_time(text, date(2026, 3, 21))


@pytest.mark.parametrize(
    "at",
    [
        *("20zzz", "2", "NaN", "-5", "\uff19999-01-01T00:00:00Z", "20zz-05-01T10:00:00Z", "", None),
        *("2024-13-01T10:00:00Z", "2024-05-01T25:00:00Z", "2024-05-01T10:00:00Z\x1b]0;x\x07"),
        *("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-05:00", "2099-01-01T00:00:00Z"),
        *("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+05:00", "1970-01-01T00:00:00Z"),
    ],
)
def test_what_is_no_time_or_cannot_be_so_is_unknown(at: str | None) -> None:
    assert known_time(at) == ""


def test_a_clock_may_be_ahead_by_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_clock", time.time)
    now = datetime.now(UTC)
    near = (now + timedelta(hours=23)).isoformat()
    assert known_time(near) == near.replace("+00:00", "Z")
    assert known_time((now + timedelta(hours=25)).isoformat()) == ""


def test_a_file_was_not_written_before_it_could_be_nor_later_than_now() -> None:
    assert time_of_file(-1e18) == "1970-01-01T00:00:00Z"
    assert known_time(time_of_file(1e18))


def test_the_last_and_the_first_year_are_no_times_for_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for zone in ("UTC-14", "UTC+12"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        for at in ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"):
            assert (format_minute(at), format_age(at)) == ("", "")
    monkeypatch.undo()
    time.tzset()
