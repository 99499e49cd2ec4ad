"""Rows are found by number, and a guess becomes exact without losing its place."""

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.ui.widgets.timeline.heights import CHUNK, Heights


@given(st.lists(st.integers(0, 9), max_size=3 * CHUNK), st.data())
def test_a_row_is_found_where_the_heights_before_it_end(
    rows: list[int], data: st.DataObject
) -> None:
    heights = Heights(len(rows), rows.__getitem__)
    for index in range(0, len(rows), CHUNK):
        assert heights[index] == rows[index]
    assert heights.total == sum(rows)
    if heights.total:
        row = data.draw(st.integers(0, heights.total - 1))
        index, offset = heights.locate(row)
        assert heights.top(index) + offset == row
        assert offset < rows[index]


@given(st.lists(st.tuples(st.integers(0, 700), st.integers(0, 50)), max_size=30))
def test_exact_rows_replace_estimates(changes: list[tuple[int, int]]) -> None:
    truth = [3] * 701
    heights = Heights(len(truth), lambda _: 3, guess=7.5)
    for index, rows in changes:
        heights.set_exact(index, rows)
        truth[index] = rows
        assert heights.is_exact(index)
    assert [heights[index] for index in range(len(truth))] == truth
    assert heights.total == sum(truth)
    assert heights.top(len(truth)) == sum(truth)


def test_blocks_come_and_go_at_the_end() -> None:
    heights = Heights(CHUNK + 3, lambda index: index % 4)
    heights.extend(CHUNK)
    heights.append(9, exact=True)
    assert len(heights) == 2 * CHUNK + 4
    assert heights[2 * CHUNK + 3] == 9
    heights.truncate(CHUNK + 1)
    assert len(heights) == CHUNK + 1
    assert heights[0] == 0
    assert heights.total == sum(index % 4 for index in range(CHUNK + 1))


def test_a_million_blocks_that_nobody_looked_at_cost_almost_nothing() -> None:
    estimated: list[int] = []

    def estimate(index: int) -> int:
        estimated.append(index)
        return 4

    heights = Heights(1_000_000, estimate)
    heights.locate(heights.total - 1)
    assert len(estimated) <= 2 * CHUNK
