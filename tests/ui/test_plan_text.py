"""A plan is broken between words, and no character of it is lost."""

from __future__ import annotations

import pytest
from textual.content import Content

from agent_tui.ui.widgets.panes.plan_text import break_at_words, mark_up_plan

PLANS = [
    "# Round once\n\n1. **`report.py`**: round the height once and let Python write the sign.",
    "x" * 200 + " and " + "y" * 200,
    "rm -rf x" + " " * 400 + "; touch y",
    "",
    " " * 100,
]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("width", [8, 40, 100])
def test_only_single_blanks_are_broken(plan: str, width: int) -> None:
    broken = break_at_words(plan, width)
    assert len(broken) == len(plan)
    assert broken.replace("\n", " ") == plan.replace("\n", " ")
    for row in broken.split("\n"):
        assert len(row) <= width or " " not in row[:width].strip() or "  " in row


@pytest.mark.parametrize("plan", PLANS)
def test_marking_up_keeps_every_character(plan: str) -> None:
    assert mark_up_plan(Content(plan), 0, plan).plain == plan
