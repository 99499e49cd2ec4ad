"""What the screen says of a turn: short enough for 80 columns, and the way on that helps."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from agent_tui.core.events import StepRetried, TurnEnd
from agent_tui.core.modes import MODE_HELP
from agent_tui.ui.conversation.turn_listener import TurnListener, invite_to_retry

_TITLE_CELLS = 72
"""Cells for a sentence in the frame of the prompt on a screen of 80 columns."""
_WORK_CELLS = 30
"""Cells for what runs now, beside its clock, the mode and the gauge, on such a screen."""


@pytest.mark.parametrize(
    ("is_connected", "way"),
    [(True, "press Alt+A to retry, or use /model"), (False, "use /connect")],
)
def test_after_a_failure_the_prompt_says_what_helps(is_connected: bool, way: str) -> None:
    chat = Mock(app=Mock(_keymap={}), session=None)
    chat.status.is_connected = is_connected
    TurnListener(chat).turn_finished("failed", 1)
    chat.panes.invite.assert_called_once_with(way)


def test_once_a_model_is_connected_the_prompt_says_how_to_retry() -> None:
    chat = Mock(app=Mock(_keymap={}))
    for invited, way in (("use /connect", ["press Alt+A to retry, or use /model"]), ("", [])):
        chat.panes.invited = invited
        chat.panes.invite.reset_mock()
        invite_to_retry(chat)
        assert [each.args[0] for each in chat.panes.invite.call_args_list] == way


@pytest.mark.parametrize(
    ("end", "ways"),
    [
        ("max_steps", ["press Alt+A to continue"]),
        ("limit", ["press Alt+A to continue"]),
        ("repetition", []),
    ],
)
def test_after_a_limit_the_prompt_says_how_to_continue(end: TurnEnd, ways: list[str]) -> None:
    chat = Mock(app=Mock(_keymap={}), session=None)
    TurnListener(chat).turn_finished(end, 1)
    assert [each.args[0] for each in chat.panes.invite.call_args_list] == ways


def test_a_long_summary_leaves_room_for_the_clock_and_the_mode() -> None:
    chat = Mock()
    listener = TurnListener(chat)
    listener.compaction_began("user", 9_000)
    listener.compaction_streamed("x" * 21_268)
    assert chat.status.work == "summarising, 21,268 characters"
    assert len(chat.status.work) <= _WORK_CELLS


def test_what_a_mode_allows_is_said_whole_on_a_narrow_screen() -> None:
    assert max(map(len, MODE_HELP.values())) <= _TITLE_CELLS


def test_the_agent_is_not_said_to_think_while_a_request_waits_to_be_repeated() -> None:
    chat = Mock()
    TurnListener(chat).step_retried(StepRetried(1, 8.0, "the server asks to slow down (429)"))
    assert chat.status.work == "retrying"
