"""The list of what is allowed without asking."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agent_tui.agent.approval import Approvals
from agent_tui.agent.permissions import Rule
from agent_tui.ui.flows.general import show_approvals
from agent_tui.ui.screens.dialogs.choice import ChoiceScreen


@pytest.mark.parametrize("row", range(3))
async def test_a_rule_is_revoked_only_where_its_row_says(row: int) -> None:
    edits = Rule.parse("edits")

    def keep(rule: Rule, *, kept: bool) -> tuple[Rule, ...]:
        return (rule,) if kept else ()

    approvals = Approvals(lambda _: None, always=[edits], kept=[edits], keep=keep)
    approvals.session_rules.append(edits)
    rows = [row, None]

    async def choose(screen: ChoiceScreen) -> str | None:
        place = rows.pop(0)
        return None if place is None else screen._choices[place].value

    chat: Any = SimpleNamespace(
        app=SimpleNamespace(push_screen_wait=choose),
        holder=SimpleNamespace(require_session=lambda: SimpleNamespace(approvals=approvals)),
    )
    await show_approvals(chat, "")
    left = [approvals.session_rules, approvals.kept_rules, approvals.always]
    assert [len(each) for each in left] == [int(place != row) for place in range(3)]
