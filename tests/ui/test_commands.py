"""The table of commands: one declaration feeds keys, slash forms, palette and help."""

from __future__ import annotations

import inspect
from pkgutil import resolve_name

import pytest
from textual.widgets import TextArea

from agent_tui.ui.chat import key_bindings
from agent_tui.ui.commands import FLOWS
from agent_tui.ui.commands.table import (
    ALIASES,
    BY_NAME,
    COMMANDS,
    find_command,
    slash_commands,
)
from agent_tui.ui.screens.dialogs.palette import PaletteScreen, find_commands
from agent_tui.ui.widgets.prompt.completion import match_commands
from agent_tui.ui.widgets.prompt.prompt import Prompt
from tests.ui.stage import Stage


def test_names_and_keys_are_unique() -> None:
    names = [command.name for command in COMMANDS]
    keys = [command.key for command in COMMANDS if command.key]
    assert len(names) == len(set(names))
    assert len(keys) == len(set(keys))
    assert not set(ALIASES) & set(names)


def test_no_command_takes_a_key_that_editing_a_prompt_needs() -> None:
    taken = {key for binding in TextArea.BINDINGS for key in binding.key.split(",")}  # type: ignore[union-attr]
    given_up = {"ctrl+z"}
    bound = {key for binding in Prompt.BINDINGS for key in binding.key.split(",")}  # type: ignore[union-attr]
    assert not given_up & bound
    assert bound | given_up >= taken
    # While nothing pasted is folded there, this one is the conversation's.
    assert bound & {command.key for command in COMMANDS} == {"ctrl+o"}


EXPECTED = (
    "help new sessions resume rename compact clear revert branch fork undo redo archives tree "
    "model connect thinking agent tools mcp approvals plan yolo todo usage cost context export "
    "editor theme keys debug init btw exit"
)


@pytest.mark.parametrize("name", EXPECTED.split())
def test_the_commands_that_every_user_expects_can_be_typed(name: str) -> None:
    command = find_command(name)
    assert command in slash_commands()
    assert command is not None
    assert command.help
    assert match_commands(name)[0].text == f"/{command.name}"


def test_every_key_becomes_a_binding_of_its_command() -> None:
    actions = {binding.key: binding.action for binding in key_bindings()}
    assert actions == {each.key: f"command('{each.name}')" for each in COMMANDS if each.key}


def test_an_alias_finds_its_command() -> None:
    assert find_command("quit") is BY_NAME["exit"]
    assert find_command("c") is BY_NAME["compact"]
    assert find_command("nonsense") is None


def test_completion_puts_the_closest_name_first() -> None:
    assert match_commands("co")[0].text == "/compact"
    assert match_commands("c")[0].text == "/compact", "/c and Enter never clear the context"
    assert match_commands("arc")[0].text == "/archives"
    assert match_commands("cpt")[0].text == "/compact"
    assert not match_commands("zzz")
    assert len(match_commands("")) == len(slash_commands())


async def test_the_palette_finds_a_command_by_a_few_letters_and_gives_its_name() -> None:
    app = Stage(screen=PaletteScreen())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"arch")
        assert "\u276f Archives" in app.text
        await pilot.press("enter")
        assert app.results == ["archives"]


def test_the_palette_offers_all_commands_and_puts_the_closest_first() -> None:
    assert [command for command, _ in find_commands("")] == list(COMMANDS)
    command, title = find_commands("comp")[0]
    assert command is BY_NAME["compact"]
    assert title.plain == command.title
    assert {title.plain[span.start : span.end] for span in title.spans} >= {"C", "o", "m", "p"}


def test_every_command_names_what_carries_it_out() -> None:
    for command in COMMANDS:
        flow = resolve_name(f"{FLOWS}.{command.run}")
        assert inspect.iscoroutinefunction(flow)
        assert next(iter(inspect.signature(flow).parameters)) == "chat"


def test_what_a_command_does_fits_beside_its_name_at_80_columns() -> None:
    assert [command.help for command in COMMANDS if len(command.help) > 48] == []
