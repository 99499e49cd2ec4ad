"""Fates in pictures: bars never lie about which side is smaller."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.summary import AfterRow, CompactionReport, CompactionView, Fate, MessageFate
from agent_tui.ui.widgets.lists.fates import FATES, Balance, draw_counts


def view(tokens: list[tuple[int, Fate]], before: int, after: int) -> CompactionView:
    messages = tuple(
        MessageFate(index, str(index), "user", "text", count, fate)
        for index, (count, fate) in enumerate(tokens)
    )
    kept, masked, summarised, dropped = (sum(fate == each for _, fate in tokens) for each in FATES)
    report = CompactionReport(
        trigger="manual",
        strategy="last-messages",
        tokens_before=before,
        tokens_after=after,
        kept=kept + masked,
        summarised=summarised,
        dropped=dropped,
        archive=0,
        masked=masked,
    )
    rows = tuple(AfterRow("user", "text", count, 0) for count, fate in tokens if fate == "kept")
    return CompactionView(messages, rows, "", report)


FATED = st.lists(st.tuples(st.integers(0, 90_000), st.sampled_from(get_args(Fate))), max_size=8)


@given(FATED, st.integers(0, 200_000), st.integers(0, 200_000), st.integers(40, 160))
def test_the_longer_bar_is_the_bigger_context(
    tokens: list[tuple[int, Fate]], before: int, after: int, width: int
) -> None:
    upper, lower = Balance(view(tokens, before, after)).draw(width, final=True).plain.split("\n")
    if tokens and before > after:
        assert upper.count("█") >= lower.count("█")
    assert lower.count("█") <= width
    if after > before:
        assert upper.count("█") <= lower.count("█")


def test_only_fates_that_occur_are_counted() -> None:
    text = draw_counts(view([(10, "kept"), (10, "summarised"), (5, "summarised")], 25, 12)).plain
    assert text == "● 1 kept  ◐ 2 summarised"


def test_a_context_that_would_grow_is_said_to_be_larger() -> None:
    grown = Balance(view([(10, "kept")], 100, 107)).draw(80, final=True).plain
    assert grown.endswith("7% larger")
    assert Balance(view([(10, "kept")], 100, 93)).draw(80, final=True).plain.endswith("7% saved")
