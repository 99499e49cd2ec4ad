"""Vim's keys where they are wanted: the prompt's own keys stay, and nobody else is surprised."""

from __future__ import annotations

from textual.widget import Widget

from tests.ui.test_prompt_box import Host, type_text


async def test_escape_and_commands_edit_what_was_typed() -> None:
    async with (app := Host()).run_test() as pilot:
        app.prompt_box.use_vim()
        await type_text(pilot, "high water")
        await pilot.press("escape", "0", "d", "w")
        assert app.prompt.text == "water"
        await pilot.press("u")
        assert app.prompt.text == "high water"
        await pilot.press("A", "!")
        assert app.prompt.text == "high water!"


async def test_enter_sends_from_normal_mode_and_the_next_prompt_is_typed() -> None:
    async with (app := Host()).run_test() as pilot:
        app.prompt_box.use_vim()
        await type_text(pilot, "tide")
        await pilot.press("escape", "enter")
        await type_text(pilot, "j")
        assert app.sent == [("prompt", "tide")]
        assert app.prompt.text == "j"


async def test_beyond_the_first_line_are_the_earlier_prompts() -> None:
    async with (app := Host(["low"])).run_test() as pilot:
        app.prompt_box.use_vim()
        await type_text(pilot, "high")
        await pilot.press("escape", "k")
        assert app.prompt.text == "low"


async def test_the_frame_says_that_keys_are_commands() -> None:
    async with (app := Host()).run_test() as pilot:
        app.prompt_box.use_vim()
        await pilot.press("escape")
        await pilot.pause()
        frame = app.prompt.parent
        assert isinstance(frame, Widget)
        assert "Enter send" in str(frame.border_subtitle)
        assert "NORMAL" in str(frame.border_subtitle)
        app.prompt_box.frame.running = True
        await pilot.pause()
        assert "Enter steer" in str(frame.border_subtitle)
        assert "NORMAL" in str(frame.border_subtitle)


async def test_an_escape_without_vim_is_not_taken() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "high")
        await pilot.press("escape", "x")
        assert app.prompt.text == "highx"
