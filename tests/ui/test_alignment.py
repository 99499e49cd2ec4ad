"""Both sides of a compaction, row by row: the right one is the new context in its own order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.ui.widgets.panes.alignment import Alignment

FATES = st.lists(st.booleans(), max_size=30)
LINES = st.integers(0, 40)
HEAD = st.integers(0, 1)


def kept_of(fates: list[bool]) -> list[int]:
    return [index for index, stays in enumerate(fates) if stays]


def early_of(fates: list[bool]) -> list[int]:
    """The kept messages behind which others go."""
    last = max((index for index, stays in enumerate(fates) if not stays), default=0)
    return [index for index in kept_of(fates) if index < last]


def right_of(rows: Alignment) -> list[tuple[str, int]]:
    """What stands at the right, from above to below, rows without anything passed over."""
    found: list[tuple[str, int]] = []
    for row in range(rows.rows):
        line, new = rows.line(row), rows.new(row) if row >= rows.head else None
        assert line is None or new is None
        found += [("line", line)] if line is not None else []
        found += [("kept", new)] if new is not None else []
    return found


@given(FATES, LINES, HEAD)
def test_the_right_side_is_the_summary_and_then_what_is_kept(
    fates: list[bool], lines: int, head: int
) -> None:
    kept = kept_of(fates)
    wanted = [*(("line", line) for line in range(lines)), *(("kept", index) for index in kept)]
    assert right_of(Alignment(len(fates), kept, lines, head)) == wanted
    assert right_of(Alignment(0, kept, lines, head)) == wanted


@given(FATES, LINES, HEAD)
def test_every_old_message_has_a_row_of_its_own(fates: list[bool], lines: int, head: int) -> None:
    rows = Alignment(len(fates), kept_of(fates), lines, head)
    found = [(row, rows.old(row)) for row in range(rows.rows)]
    assert [old for _, old in found if old is not None] == list(range(len(fates)))
    assert all(rows.row_of(old) == row for row, old in found if old is not None)


@given(FATES, LINES)
def test_no_row_is_empty_at_both_sides(fates: list[bool], lines: int) -> None:
    rows = Alignment(len(fates), kept_of(fates), lines)
    for row in range(rows.rows):
        assert (rows.old(row), rows.line(row), rows.new(row)) != (None, None, None)


@given(FATES, LINES)
def test_messages_kept_at_the_end_stand_beside_themselves_and_no_other_goes_back(
    fates: list[bool], lines: int
) -> None:
    kept = kept_of(fates)
    rows = Alignment(len(fates), kept, lines)
    places = {rows.new(row): row for row in range(rows.rows)}
    is_at_end = True
    for index in range(len(fates) - 1, -1, -1):
        is_at_end = is_at_end and fates[index]
        if is_at_end:
            assert places[index] == rows.row_of(index)
        elif fates[index]:
            # Beside itself, or as near below as the summary and those before it let it come.
            place = kept.index(index)
            above = places[kept[place - 1]] + 1 if place else lines
            if not any(places[early] == rows.row_of(early) for early in early_of(fates)):
                above = places[kept[place + 1]] - 1 if place + 1 < len(kept) else rows.rows - 1
            assert places[index] == max(rows.row_of(index), above)


@given(FATES, LINES, HEAD)
def test_alone_the_new_context_is_without_gaps(fates: list[bool], lines: int, head: int) -> None:
    kept = kept_of(fates)
    rows = Alignment(0, kept, lines, head)
    assert rows.rows == head + lines + len(kept)
    for place, index in enumerate(kept):
        assert rows.new(rows.row_of(index)) == index == kept[place]
        assert rows.old(rows.row_of(index)) is None
    for index in set(range(len(fates))).difference(kept):
        assert not lines or rows.line(rows.row_of(index)) == 0
