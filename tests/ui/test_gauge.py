"""The token gauge: it never lies about what is estimated, and fits any width."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_tui.core.usage import Gauge, Share
from agent_tui.ui.widgets.bars.gauge import draw_bar, draw_gauge, level_style

SHARES = (Share("user", 50), Share("tool results", 50))
HALF = Gauge(tokens=64_000, window=128_000, trigger_at=108_800, estimated=False)
GAUGES = st.builds(
    Gauge,
    tokens=st.integers(0, 3_000_000),
    window=st.integers(0, 2_000_000),
    trigger_at=st.integers(0, 2_000_000),
    estimated=st.booleans(),
    shares=st.lists(
        st.builds(
            Share, st.sampled_from(["system", "user", "tool results"]), st.integers(0, 9_000)
        ),
        max_size=5,
    ).map(tuple),
)


@given(GAUGES, st.integers(12, 200))
@example(Gauge(tokens=12_345, window=0, trigger_at=0, estimated=True, shares=()), 12)
def test_the_gauge_fits_any_width(gauge: Gauge, width: int) -> None:
    assert draw_gauge(gauge, width).cell_length <= width


@given(GAUGES.filter(lambda gauge: gauge.window > 0), st.integers(6, 80))
def test_a_bar_is_exactly_as_wide_as_asked(gauge: Gauge, width: int) -> None:
    assert draw_bar(gauge, width).cell_length == width


@pytest.mark.parametrize("width", [12, 20, 40, 120])
def test_a_tilde_stands_there_while_the_count_is_estimated(width: int) -> None:
    estimated = Gauge(64_000, 128_000, 0, estimated=True)
    assert "~" in draw_gauge(estimated, width).plain
    assert "~" not in draw_gauge(HALF, width).plain


def test_a_wide_gauge_says_numbers_and_what_is_left_before_compaction() -> None:
    text = draw_gauge(HALF, 120).plain
    assert "64.0k / 128k tokens · 50% · compacts in 44.8k" in text


def test_a_gauge_past_the_mark_says_that_compaction_comes_next() -> None:
    assert (
        "compacts next" in draw_gauge(Gauge(110_000, 128_000, 108_800, estimated=False), 120).plain
    )


def test_near_the_mark_the_warning_matters_more_than_the_share() -> None:
    text = draw_gauge(Gauge(5_652, 8_000, 6_000, estimated=False), 40).plain
    assert text.endswith("5.7k/8.0k · compacts in 348")


def test_the_mark_stands_where_compaction_fires() -> None:
    assert draw_bar(Gauge(0, 100, 85, estimated=False), 20).plain.index("┃") == 17
    assert "┃" not in draw_bar(Gauge(0, 100, 0, estimated=False), 20).plain


def test_the_colour_goes_from_calm_to_full() -> None:
    levels = [level_style(Gauge(tokens, 100, 85, estimated=False)) for tokens in (10, 70, 84)]
    assert levels == ["$gauge-low", "$gauge-middle", "$gauge-high"]


def test_an_overrun_window_fills_the_bar_and_no_more() -> None:
    assert draw_bar(Gauge(300, 100, 0, estimated=False), 10).plain == "█" * 10


def test_shares_colour_the_bar_in_proportion() -> None:
    gauge = Gauge(100, 100, 0, estimated=False, shares=SHARES)
    styles = [span.style for span in draw_bar(gauge, 10).spans]
    assert "$share-1" in styles
    assert "$share-3" in styles
