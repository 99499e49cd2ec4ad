"""Numbers fit their columns and say no more than is known."""

import time
from datetime import UTC, datetime

import pytest

from agent_tui.core.format import (
    format_age,
    format_clock,
    format_count,
    format_minute,
    format_percent,
    format_size,
    format_span,
    format_tokens,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (12_400, "12.4k"), (99_949, "99.9k"), (99_950, "100k"),
     (128_000, "128k"), (999_499, "999k"), (1_200_000, "1.2M")],
)  # fmt: skip
def test_tokens(count: int, text: str) -> None:
    assert format_tokens(count) == text
    assert format_tokens(count, estimated=True) == f"~{text}"


def test_counts_sizes_durations_and_shares() -> None:
    assert format_count(1, "message") == "1 message"
    assert format_count(1_204, "message") == "1,204 messages"
    assert [format_size(n) for n in (812, 3_400, 1_234_567_890)] == ["812 B", "3.4 KB", "1.2 GB"]
    assert [format_percent(s) for s in (0, 0.001, 0.5, 0.999, 1)] == [
        "0%",
        "<1%",
        "50%",
        "99%",
        "100%",
    ]


def test_ages_and_clocks_of_what_may_not_be_a_time() -> None:
    now = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
    ages = {
        "2026-05-04T11:59:30Z": "now",
        "2026-05-04T11:15:00Z": "45m",
        "2026-05-01T12:00:00Z": "3d",
    }
    for at, age in ages.items():
        assert format_age(at, now) == age
    assert format_age("2024-01-31T12:00:00", now) == "Jan \u201924"
    assert format_age("yesterday", now) == format_age(None, now) == format_clock("") == ""


def test_a_day_and_time_are_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-9")
    time.tzset()
    try:
        assert format_minute("2026-11-22T20:05:59Z") == "2026-11-23 05:05"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert format_minute("") == format_minute(None) == format_minute("yesterday") == ""


def test_a_span_is_told_by_its_largest_unit() -> None:
    first = "2026-01-31T12:00:00Z"
    for until, span in (
        ("2026-01-31T12:00:59Z", "<1m"),
        ("2026-01-31T12:59:59Z", "59m"),
        ("2026-02-01T11:59:00Z", "23h"),
        ("2026-02-02T12:00:00+00:00", "2d"),
        ("2026-01-31T11:00:00Z", ""),
        ("", ""),
    ):
        assert format_span(first, until) == span
    assert not format_span("", first)
