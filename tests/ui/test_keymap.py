"""Keys that a person gave commands: used, shown, and refused in a sentence where they collide."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App

from agent_tui.ui.blocks import NoticeBlock
from agent_tui.ui.chat import ChatScreen
from agent_tui.ui.commands.table import BY_NAME, name_keys, name_keys_of_hint
from agent_tui.ui.keymap import read_keymap
from agent_tui.ui.screens.dialogs.answer_guard import GUARD_SECONDS
from agent_tui.ui.screens.dialogs.aside import AsideScreen
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.help import HelpScreen
from agent_tui.ui.screens.dialogs.keys import KeysScreen, describe_keys
from agent_tui.ui.screens.dialogs.palette import PaletteScreen
from agent_tui.ui.screens.dialogs.trust import TrustScreen
from agent_tui.ui.screens.dialogs.typed_answers import WIDE_HOLD_SECONDS
from agent_tui.ui.screens.remapping import remappable_keys
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen
from agent_tui.ui.screens.time.revert_preview import RevertPreviewScreen
from agent_tui.ui.screens.time.tree import TreeScreen
from tests.ui.stage import Stage, shown
from tests.ui.test_aside import Answerer
from tests.ui.test_chat_acts import Desk, desk
from tests.ui.test_checkpoints import CHECKPOINTS, COMPACTED
from tests.ui.test_commands_carried_out import run
from tests.ui.test_session_list import THREE, Sessions
from tests.ui.test_small_screens import PREVIEW
from tests.ui.test_tree import branched, tree_stage
from tests.waiting import settle, until


@pytest.mark.parametrize(
    ("chosen", "trouble"),
    [
        ({"revert": "ctrl+t"}, "keys.revert is ctrl+t, which is the key of tree."),
        ({"undo": "f12", "redo": "F12"}, "keys.redo is f12, which is the key of undo."),
        ({"find": "f4"}, "keys.find is f4, which is the key of compact."),
        ({"revrt": "f12"}, "keys.revrt names no command; did you mean keys.revert?"),
        ({"revert": "control-k"}, "keys.revert expects a key such as f12"),
        ({"revert": ""}, "keys.revert expects a key such as f12"),
        ({"revert": "r"}, "keys.revert cannot be 'r', which is typed into the prompt"),
        ({"revert": "enter"}, "keys.revert cannot be enter, which the prompt needs."),
        ({"revert": "ctrl+k"}, "keys.revert cannot be ctrl+k, which the prompt needs."),
    ],
)
def test_what_cannot_be_a_key_is_named_with_its_place(chosen: dict[str, str], trouble: str) -> None:
    keymap = read_keymap(chosen, dict.fromkeys(chosen, "config.toml:7"))
    (said,) = keymap.troubles
    assert said.startswith(f"config.toml:7: {trouble}")
    assert len(keymap.keys) == len(chosen) - 1


def test_of_many_keys_that_cannot_be_used_the_first_are_named() -> None:
    keymap = read_keymap({f"revrt{n}": "f12" for n in range(900)}, {})
    assert len(keymap.troubles) == 9
    assert keymap.troubles[-1].startswith("settings: 892 more keys not read.")


@pytest.mark.parametrize(
    ("chosen", "trouble"),
    [
        ({"tree-branch": "f"}, "keys.tree-branch is f, which is the key of tree-fork."),
        ({"tree-branch": "escape"}, "keys.tree-branch is escape, which is the key of panel-leave."),
        ({"tree-branch": "x", "tree-fork": "x"}, "keys.tree-fork is x, which is the key of"),
        ({"tree-brunch": "x"}, "keys.tree-brunch names no command; did you mean keys.tree-branch?"),
        ({"tree-branch": "kk"}, "keys.tree-branch expects a key such as f12"),
        ({"timeline-copy": "q"}, "keys.timeline-copy is q, which is the key of timeline-quote."),
        ({"read-only-fork": "f3"}, "keys.read-only-fork is f3, which is the key of revert."),
    ],
)
def test_what_cannot_be_a_key_of_a_screen_is_named(chosen: dict[str, str], trouble: str) -> None:
    troubles = read_keymap(chosen, {}, remappable_keys(ChatScreen)).troubles
    assert any(trouble in said for said in troubles), troubles


def test_keys_of_a_screen_may_be_letters_and_change_places() -> None:
    chosen = {"tree-branch": "f", "tree-fork": "B", "timeline-copy": "c", "panel-leave": "x"}
    keymap = read_keymap(chosen, {}, remappable_keys(ChatScreen))
    assert not keymap.troubles
    assert keymap.keys == chosen


def test_every_key_of_a_screen_has_a_name_of_its_own() -> None:
    names = remappable_keys(ChatScreen)
    assert {"tree-branch", "session-list-rename", "scrubber-step-on", "timeline-move-on"} <= set(
        names
    )
    assert not set(names) & set(BY_NAME)
    unnamed = {
        action
        for places in names.values()
        for place in places
        for action in place
        if action.startswith("(")
    }
    assert not {
        each for each in unnamed if "." not in each and not each.startswith(("(scroll", "(page"))
    }, unnamed


async def test_a_key_of_a_screen_works_and_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_keys(tmp_path, 'tree-fork = "x"\npanel-leave = "z"\n')
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        await run(here, "/tree", TreeScreen)
        await here.until(lambda: "z back" in shown(here.app))
        assert "x fork" in shown(here.app)
        await here.pilot.press("question_mark")
        await here.until(lambda: any("tree-fork" in line for line in lines_of(here)))
        (row,) = (line for line in lines_of(here) if "tree-fork" in line)
        assert " x " in row
        await here.pilot.press("escape", "z")
        await here.until(lambda: here.app.screen is here.app.chat_screen)


async def test_the_prompts_own_keys_are_named_as_they_are_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_keys(tmp_path, 'prompt-new-line = "f12"\nprompt-undo = "f9"\n')
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: "F12 new line" in shown(here.app))
        await run(here, "/help", HelpScreen)
        assert isinstance(here.app.screen, HelpScreen)
        told = str([*here.app.screen._describe()])
        assert "F12" in told
        assert "F9" in told
        assert "Ctrl+J" not in told
        assert "Ctrl+_" not in told
        await here.pilot.press("escape")


async def test_the_letters_of_a_question_that_grants_more_are_those_of_the_settings() -> None:
    for key, expected in (("j", [True]), ("x", [False]), ("y", []), ("n", [])):
        app = Stage(make_screen=lambda _: TrustScreen("/project", ["AGENTS.md"]))
        app.set_keymap({"confirm-answer-yes": "j", "confirm-answer-no": "x,escape"})
        async with app.run_test() as pilot:
            await pilot.pause(GUARD_SECONDS + 0.2)
            await pilot.press(key)
            await pilot.pause(WIDE_HOLD_SECONDS + 0.3)
            assert app.results == expected


def test_commands_may_exchange_their_keys() -> None:
    keymap = read_keymap({"revert": "ctrl+t", "tree": "f3", "export": "alt+e", "undo": "none"}, {})
    assert not keymap.troubles
    assert keymap.keys == {
        "command.revert": "ctrl+t",
        "command.tree": "f3",
        "command.export": "alt+e",
        "command.undo": "none",
    }


@pytest.mark.slow
async def test_a_key_of_the_settings_works_and_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_keys(tmp_path, 'tree = "f12"\nhelp = "alt+h"\nnew = "f3"\n')
    async with desk(tmp_path, monkeypatch) as here:
        await here.until(lambda: any(isinstance(each, NoticeBlock) for each in here.shown))
        notices = [each.text for each in here.shown if isinstance(each, NoticeBlock)]
        trouble = "config.toml:4: keys.new is f3, which is the key of revert"
        assert [trouble in each for each in notices] == [True]
        assert "Alt+H help" in shown(here.app)
        await here.say("one thing")
        await here.pilot.press("ctrl+t")
        await here.pilot.pause(0.2)
        assert here.app.screen is here.app.chat_screen
        await here.pilot.press("f12")
        await here.until(lambda: isinstance(here.app.screen, TreeScreen))
        await here.pilot.press("escape")
        await run(here, "/keys", KeysScreen)
        await here.pilot.press(*["down"] * 8)
        await here.until(
            lambda: any("Tree of branches" in line and "F12" in line for line in lines_of(here))
        )
        await here.pilot.press("escape")
        await run(here, "/help", HelpScreen)
        await here.pilot.press("end")
        await here.until(lambda: any("/tree" in line and "F12" in line for line in lines_of(here)))


async def test_how_to_change_a_key_is_told_without_a_colour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with desk(tmp_path, monkeypatch) as here:
        await run(here, "/keys", KeysScreen)
        await here.until(lambda: any("a name in the last column" in x for x in lines_of(here)))
        assert not any("grey" in line for line in lines_of(here))
        row = next(line for line in lines_of(here) if "Tree of branches" in line)
        assert row.strip("│ ").endswith(" tree")


async def test_every_hint_names_the_keys_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_keys(
        tmp_path,
        'help = "alt+h"\nsessions = "none"\nfind = "f11"\ncompact = "f12"\n'
        'picture = "alt+o"\npopup-leave = "alt+x"\n'
        '"timeline-copy" = "c"\n"timeline-find" = "f"\n',
    )
    async with desk(tmp_path, monkeypatch) as here:
        text = shown(here.app)
        assert "Alt+H help" in text
        assert "F1" not in text
        assert "F2" not in text
        await here.pilot.press(*"/nonsense", "enter")
        await here.until(lambda: "Alt+H to list them all." in shown(here.app))
        await here.pilot.press("ctrl+c")
        await here.say("one thing")
        here.chat.timeline.focus()
        await here.until(lambda: "c copy · q quote · f find" in shown(here.app))
        await here.pilot.press("alt+h")
        await here.until(lambda: "Use F12 to see" in shown(here.app))
        await here.pilot.press("escape", "ctrl+p")
        await here.until(lambda: "Enter run · Alt+X back" in shown(here.app))


@pytest.mark.parametrize(
    ("chosen", "sentence", "hint"),
    [
        ({}, "F1 helps", "F1 help · y copy · plain"),
        (
            {"command.help": "alt+h", "timeline-copy": "c"},
            "Alt+H helps",
            "Alt+H help · c copy · plain",
        ),
        ({"command.help": "none", "timeline-copy": "none"}, "/help helps", "plain"),
    ],
)
def test_a_command_without_a_key_is_named_and_its_hint_left_out(
    chosen: dict[str, str], sentence: str, hint: str
) -> None:
    app = App[None]()
    app.set_keymap(chosen)
    assert name_keys(app, "{help} helps") == sentence
    assert name_keys_of_hint(app, "{help} help · {timeline-copy:y} copy · plain") == hint


def choose_keys(folder: Path, keys: str) -> None:
    (folder / "home").mkdir()
    (folder / "home" / "config.toml").write_text(f"[keys]\n{keys}")


def lines_of(here: Desk) -> list[str]:
    return shown(here.app).splitlines()


async def test_keys_are_spelled_for_people_and_those_of_every_text_field_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        told = list(describe_keys(here.app.screen))
    assert not [row for row in told if "shift+" in row.term or "^" in row.term]
    assert not [row for row in told if row.meaning.startswith("Cursor ")]
    assert any(row.term.startswith("Ctrl+") for row in told)
    keys = {row.meaning.strip(): row.term for row in told}
    assert (keys["Select all"], keys["Undo typing"]) == ("F7", "Ctrl+_")
    assert keys["Delete character left"] == "Backspace"
    assert keys["Delete character right"] == "Delete"


async def test_new_line_and_palette_have_the_keys_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_keys(
        tmp_path, 'palette = "alt+x"\nprompt-new-line = "alt+l"\nconfirm-answer-yes = "j"\n'
    )
    async with desk(tmp_path, monkeypatch) as here:
        assert not [each for each in here.shown if isinstance(each, NoticeBlock)]
        await here.pilot.press("a", "alt+l", "b", "ctrl+j", "c")
        assert here.chat.prompt_box.text == "a\nbc"
        await here.pilot.press("ctrl+p")
        assert here.app.screen is here.app.chat_screen
        await here.pilot.press("alt+x")
        await here.until(lambda: isinstance(here.app.screen, PaletteScreen))
        await here.pilot.press("escape")
        here.app.push_screen(ConfirmScreen("Do it?", "It is done.", "Do it"))
        await here.until(lambda: isinstance(here.app.screen, ConfirmScreen))
        await here.until(lambda: any(line.rstrip(" │").endswith(" j") for line in lines_of(here)))
        await here.pilot.press("y")
        assert isinstance(here.app.screen, ConfirmScreen)
        await here.pilot.press("j")
        await here.until(lambda: here.app.screen is here.app.chat_screen)


async def test_sentences_of_a_screen_name_the_keys_of_the_settings() -> None:
    keys = {
        "session-list-undelete": "z",
        "session-list-delete": "x,delete",
        "session-list-new": "m",
    }
    async with (app := Stage(screen=SessionListScreen(Sessions(*THREE)))).run_test() as pilot:
        app.set_keymap({**keys, "session-list-export": "none", "panel-leave": "q"})
        await settle(pilot, workers=True)
        await pilot.press("space")
        await until(pilot, lambda: "1 marked. x delete · q unmark" in app.text)
        await pilot.press("space", "space", "f3")
        await until(pilot, lambda: "F3 works in the conversation. Press q to go back." in app.text)
        await pilot.press("x")
        await until(pilot, lambda: "Undo with z." in app.text)
        await pilot.press("y")
        await until(pilot, lambda: "Deleted 3 sessions. Undo with z." in app.text)
        await until(pilot, lambda: "No sessions yet. Press m to start one." in app.text)


async def test_sentences_of_the_tree_name_the_keys_of_the_settings() -> None:
    async with (app := tree_stage(branched())).run_test(size=(120, 24)) as pilot:
        app.set_keymap({"tree-compare": "x", "tree-mark": "z"})
        await settle(pilot)
        await pilot.press("z", "x")
        await until(pilot, lambda: "1 marked  press x to compare" in app.text)
        await until(pilot, lambda: "Press x on a row of another branch." in app.text)


@pytest.mark.parametrize(("key", "told"), [("x", "archive 2 (x)"), ("none", "archive 2 ")])
async def test_the_checkpoints_name_the_key_that_leads_to_archives(key: str, told: str) -> None:
    app = Stage(make_screen=lambda _: CheckpointsScreen(CHECKPOINTS, COMPACTED))
    app.set_keymap({"checkpoints-list-archives": key})
    async with app.run_test(size=(80, 24)):
        assert told in app.text
        assert "(a)" not in app.text


async def test_the_question_before_a_revert_names_the_keys_of_the_settings() -> None:
    app = Stage(make_screen=lambda _: RevertPreviewScreen(PREVIEW))
    keys = {"revert-preview-answer-yes": "n", "revert-preview-answer-no": "y,escape"}
    app.set_keymap({**keys, "revert-preview-scroll-leaving-on": "f12"})
    async with app.run_test(size=(80, 24)) as pilot:
        lines = [line.strip(" │").split() for line in app.text.splitlines()]
        answers = [
            line[-1] for line in lines if {"Revert", "Cancel"} & {*line} and "to" not in line
        ]
        assert answers == ["n", "y"]
        assert "PgUp F12 scroll" in app.text
        await pilot.press("n")
    assert app.results == [True]


async def test_a_side_question_names_the_keys_of_the_settings() -> None:
    app = Stage(make_screen=lambda _: AsideScreen("Why?", Answerer().ask))
    app.set_keymap({"aside-find": "f12", "aside-switch-source": "none"})
    async with app.run_test(size=(80, 24)):
        assert " F12 find · Esc back " in app.text
