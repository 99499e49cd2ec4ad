"""The agent's list over the prompt: what is done, what is being done, and what is left."""

from __future__ import annotations

import json

import pytest

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Record, UserMessage
from agent_tui.core.todo import TodoItem, last_todo, read_todo
from agent_tui.ui.widgets.panes.todo_panel import TodoPanel
from tests.ui.stage import Stage

LIST = (TodoItem("Read it", "done"), TodoItem("Mend [x]", "doing"), TodoItem("Test it"))


class Host(Stage):
    def __init__(self) -> None:
        self.panel = TodoPanel()
        super().__init__([self.panel])


def called(*items: dict[str, object]) -> Record:
    call = ToolCall("c", "todo", json.dumps({"items": items}))
    return AssistantMessage("", (call,))


async def test_the_panel_shows_every_item_with_its_state() -> None:
    async with (app := Host()).run_test(size=(60, 24)) as pilot:
        assert not app.panel.display
        app.panel.show_items(LIST)
        await pilot.pause()
        for said in ("1 of 3 done", "✓ Read it", "◐ Mend [x]", "○ Test it"):
            assert said in app.text


async def test_a_click_folds_it_into_one_row_that_says_what_is_being_done() -> None:
    async with (app := Host()).run_test(size=(60, 24)) as pilot:
        app.panel.show_items(LIST)
        await pilot.pause()
        await pilot.click(TodoPanel)
        assert app.panel.size.height == 1
        assert "1 of 3 done · Mend [x]" in app.text
        await pilot.click(TodoPanel)
        assert "○ Test it" in app.text


@pytest.mark.parametrize(("height", "rows"), [(12, 0), (24, 6), (60, 8)])
async def test_a_long_list_shows_what_is_next_and_leaves_room(height: int, rows: int) -> None:
    items = [TodoItem(f"step {n}", "done" if n < 9 else "open") for n in range(20)]
    async with (app := Host()).run_test(size=(60, height)) as pilot:
        app.panel.show_items(items)
        await pilot.pause()
        assert app.panel.size.height == 1 + rows
        assert ("○ step 9" in app.text) is bool(rows)


async def test_a_list_that_is_done_leaves_with_the_next_turn() -> None:
    async with (app := Host()).run_test(size=(60, 24)) as _:
        app.panel.show_items(LIST)
        app.panel.drop_done()
        assert app.panel.display
        app.panel.show_items([TodoItem("Read it", "done")])
        app.panel.drop_done()
        assert not app.panel.display


def test_the_list_in_force_is_that_of_the_last_call() -> None:
    first, second = called({"text": "a"}), called({"text": "a", "state": "doing"}, {"text": "b"})
    said = UserMessage("Hi")
    assert last_todo([first, said, second, said]) == (TodoItem("a", "doing"), TodoItem("b"))
    assert last_todo([first, called({"text": "a", "state": "done"})]) == ()
    assert last_todo([said]) == ()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"items": 3}', '{"items": [1, {"state": "done"}]}']
)
def test_what_is_no_list_has_no_items(text: str) -> None:
    assert read_todo(text) == ()
