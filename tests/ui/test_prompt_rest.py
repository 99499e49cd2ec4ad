"""The cursor stops blinking where nobody types: an idle program costs next to nothing."""

from __future__ import annotations

import pytest

from agent_tui.ui.widgets.prompt import prompt as prompt_module
from agent_tui.ui.widgets.prompt.prompt import Prompt
from tests.ui.stage import Stage
from tests.waiting import until


async def test_the_cursor_rests_until_a_key_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_module, "_REST_SECONDS", 0.05)
    field = Prompt(lambda _key: False, lambda _text: None)
    app = Stage([field])
    async with app.run_test() as pilot:
        field.focus()
        await until(pilot, lambda: not field.cursor_blink)
        blinked: list[bool] = []

        def note(*, blinks: bool) -> None:
            blinked.append(blinks)

        field.watch(field, "cursor_blink", lambda blinks: note(blinks=blinks), init=False)
        await pilot.press("a")
        await until(pilot, lambda: blinked)
        assert blinked[0], "on a busy machine it may rest again by now"


async def test_a_cursor_that_was_told_not_to_blink_stays_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prompt_module, "_REST_SECONDS", 0.05)
    field = Prompt(lambda _key: False, lambda _text: None)
    async with Stage([field]).run_test() as pilot:
        field.cursor_blink = False
        await pilot.pause(0.2)
        await pilot.press("a")
        assert not field.cursor_blink


async def test_a_long_text_can_be_taken_away_by_undo() -> None:
    """Its scroll bar goes with it, which made the whole program fail."""
    field = Prompt(lambda _key: False, lambda _text: None)
    field.styles.max_height = 8
    async with Stage([field]).run_test(size=(80, 24)) as pilot:
        field.focus()
        field.set_text("\n".join(f"line {number}" for number in range(40)))
        await pilot.pause()
        assert field.show_vertical_scrollbar
        await pilot.press("ctrl+underscore")
        assert field.text == ""
