from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.context.trigger import (
    DEFAULT_RESERVED,
    scale_reserve,
    should_compact,
    trigger_at,
)


@given(
    st.integers(0, 2_000_000),
    st.integers(1, 2_000_000),
    st.integers(0, 300_000),
    st.floats(0.01, 1.0),
)
def test_it_fires_at_the_reserve_or_the_ratio_whichever_comes_first(
    tokens: int, window: int, reserved: int, ratio: float
) -> None:
    kept_free = scale_reserve(window, reserved)
    full = tokens >= 1 and (tokens + kept_free >= window or tokens >= ratio * window)
    assert should_compact(tokens, window, reserved, ratio) is full
    assert should_compact(trigger_at(window, reserved, ratio), window, reserved, ratio)


def test_the_default_reserve_is_scaled_down_for_small_windows() -> None:
    assert scale_reserve(1_000_000, DEFAULT_RESERVED) == 50_000
    assert scale_reserve(8_000, DEFAULT_RESERVED) == 2_000
    assert scale_reserve(8_000, 3_000) == 3_000
    assert trigger_at(200_000) == 150_000


def test_an_unknown_window_never_fires() -> None:
    assert trigger_at(0) == 0
    assert not should_compact(10**9, 0)
