"""What a person wrote into a summary is found in the next one, and nothing else of it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.ui.screens.context.summary_edits import BY_HAND, SummaryEdits, keep_by_hand

FIRST = "## Focus\n- The parser.\n\n## Done\n- Read a.py."
SECOND = "## Focus\n- The lexer.\n\n## Done\n- Read a.py."


def test_a_line_kept_by_hand_stands_at_the_end_under_its_heading() -> None:
    once = keep_by_hand(FIRST, "- Tabs.")
    assert once == f"{FIRST}\n\n{BY_HAND}\n- Tabs."
    assert keep_by_hand(once, "- Port 80.") == f"{once}\n- Port 80."


def test_its_heading_is_found_where_a_model_has_moved_it() -> None:
    moved = f"{BY_HAND}\n- Tabs.\n\n{FIRST}"
    assert keep_by_hand(moved, "- Port 80.") == f"{BY_HAND}\n- Tabs.\n- Port 80.\n\n{FIRST}"


def test_lines_that_came_by_hand_come_into_a_new_summary_and_the_old_ones_do_not() -> None:
    edited = FIRST.replace("- Read a.py.", "- Read a.py.\n- Never touch b.py.")
    kept = keep_by_hand(edited, "- Tabs.")
    edits = SummaryEdits().then(FIRST, edited).then(edited, kept)
    assert edits.carry_into(SECOND) == f"{SECOND}\n\n{BY_HAND}\n- Never touch b.py.\n- Tabs."


def test_a_line_taken_out_stays_out_and_headings_stay() -> None:
    edits = SummaryEdits().then(FIRST, "## Focus\n- The parser.")
    assert edits.carry_into(SECOND) == "## Focus\n- The lexer.\n\n## Done"


def test_what_was_taken_back_is_forgotten() -> None:
    edited = f"{FIRST}\n- Tabs."
    edits = SummaryEdits().then(FIRST, edited).then(edited, FIRST)
    assert edits == SummaryEdits()
    assert SummaryEdits().then(FIRST, "").then("", FIRST) == SummaryEdits()


LINES = st.lists(st.sampled_from(["- a", "- b", "  c", "d", "", "## E", BY_HAND]), max_size=6)
TEXTS = LINES.map("\n".join)


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_every_line_by_hand_is_in_the_next_summary_and_none_is_there_twice(
    steps: list[str], fresh: str
) -> None:
    edits = SummaryEdits()
    for before, after in pairwise(steps):
        edits = edits.then(before, after)
    carried = edits.carry_into(fresh).split("\n")
    assert set(edits.added) <= set(carried)
    assert all(line.startswith("#") for line in edits.removed.intersection(carried))
    for line in edits.added:
        assert carried.count(line) == max(1, fresh.split("\n").count(line))
