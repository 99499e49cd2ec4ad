"""The prompt_box: what is sent, what is completed, and that a paste never acts by itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.app import ComposeResult
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.widgets import TextArea

from agent_tui.resources import stylesheet
from agent_tui.ui.themes.themed import ThemedApp
from agent_tui.ui.widgets.prompt.completion import Completion
from agent_tui.ui.widgets.prompt.pastes import mention_pictures
from agent_tui.ui.widgets.prompt.prompt import Prompt
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
from tests.ui.stage import Stage
from tests.waiting import settle

PATHS = ("README.md", "src/", "src/main.py", "tests/", "evil\x1b[2J.py")


def complete_path(prefix: str) -> Sequence[str]:
    return [path for path in PATHS if path.startswith(prefix)]


class Host(Stage):
    def __init__(self, history: Sequence[str] = ()) -> None:
        self.prompt_box = PromptBox(complete_path, history)
        self.sent: list[tuple[str, str]] = []
        self.pages: list[int] = []
        super().__init__([self.prompt_box])

    def on_mount(self) -> None:
        self.prompt_box.focus()

    def on_prompt_box_submitted(self, message: PromptBox.Submitted) -> None:
        self.sent.append(("shell" if message.shell else "prompt", message.text))

    def on_prompt_box_command_entered(self, message: PromptBox.CommandEntered) -> None:
        self.sent.append((f"/{message.name}", message.argument))

    def on_prompt_box_page_turned(self, message: PromptBox.PageTurned) -> None:
        self.pages.append(message.step)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def is_offering(self) -> bool:
        return any(completion.is_offering for completion in self.query(Completion))


async def type_text(pilot: Pilot[None], text: str) -> None:
    names = {" ": "space", "\n": "ctrl+j"}
    await pilot.press(*(names.get(character, character) for character in text))


async def test_enter_sends_the_whole_prompt_and_empties_the_field() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "fix it\nplease")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("prompt", "fix it\nplease")]
        assert app.prompt_box.text == ""


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_newline_keys_do_not_send(key: str) -> None:
    async with (app := Host()).run_test() as pilot:
        await pilot.press("a", key, "b")
        assert app.prompt_box.text == "a\nb"
        assert app.sent == []


async def test_a_backslash_before_enter_makes_a_new_line() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "a\\")
        await pilot.press("enter", "b")
        assert app.prompt_box.text == "a\nb"
        assert app.sent == []


async def test_nothing_is_sent_when_nothing_is_written() -> None:
    async with (app := Host()).run_test() as pilot:
        await pilot.press("space", "enter")
        await pilot.pause()
        assert app.sent == []


async def test_a_slash_word_is_a_command_with_its_argument() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "/compact the parser work")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("/compact", "the parser work")]


async def test_a_path_that_begins_with_a_slash_is_a_prompt() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "/usr/bin/env is missing")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("prompt", "/usr/bin/env is missing")]


async def test_an_exclamation_mark_sends_a_shell_command() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "!ls -la")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("shell", "ls -la")]


async def test_enter_on_an_offered_command_runs_it() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "/arch")
        assert app.is_offering
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("/archives", "")]


async def test_an_argument_typed_faster_than_the_list_follows_is_sent() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await type_text(pilot, "/rename")
        await settle(pilot, workers=True)
        for character in " Tide":
            app.prompt.post_message(Key({" ": "space"}.get(character, character), character))
        app.prompt.post_message(Key("enter", "\r"))
        await settle(pilot, workers=True)
        assert app.sent == [("/rename", "Tide")]


async def test_enter_on_a_command_that_needs_an_argument_only_completes_it() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "/rena")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == []
        assert app.prompt_box.text == "/rename "


async def test_tab_completes_and_arrows_choose() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "/comp")
        await pilot.press("down", "tab")
        assert app.prompt_box.text == "/compactions "
        assert not app.is_offering


async def test_escape_closes_the_list_and_keeps_the_text() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "/comp")
        await pilot.press("escape")
        await pilot.pause()
        assert not app.is_offering
        assert app.prompt_box.text == "/comp"


async def test_an_at_sign_completes_paths_of_the_workspace() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "look at @s")
        await settle(pilot, workers=True)
        await pilot.press("enter")
        assert app.prompt_box.text == "look at @src/"
        await type_text(pilot, "m")
        await settle(pilot, workers=True)
        await pilot.press("tab")
        assert app.prompt_box.text == "look at @src/main.py "


async def test_a_path_with_control_characters_is_never_offered() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "@evil")
        await settle(pilot, workers=True)
        assert not app.is_offering


async def test_an_at_sign_inside_a_word_offers_nothing() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "me@s")
        await settle(pilot, workers=True)
        assert not app.is_offering


async def test_up_and_down_walk_history_and_come_back_to_the_draft() -> None:
    async with (app := Host(["one", "two\nlines"])).run_test() as pilot:
        await type_text(pilot, "draft")
        await pilot.press("up")
        assert app.prompt_box.text == "two\nlines"
        await pilot.press("up")
        assert app.prompt_box.text == "one"
        await pilot.press("up")
        assert app.prompt_box.text == "one"
        await pilot.press("down")
        assert app.prompt_box.text == "two\nlines"
        await pilot.press("down")
        assert app.prompt_box.text == "draft"


async def test_what_was_sent_is_the_newest_history() -> None:
    async with (app := Host(["one"])).run_test() as pilot:
        await type_text(pilot, "two")
        await pilot.press("enter", "up")
        assert app.prompt_box.text == "two"


async def test_a_draft_is_not_lost_when_an_earlier_prompt_is_sent_in_its_place() -> None:
    async with (app := Host(["one", "two"])).run_test() as pilot:
        await type_text(pilot, "draft")
        await pilot.press("up", "up", "enter")
        assert app.sent == [("prompt", "one")]
        await pilot.press("up")
        assert app.prompt_box.text == "draft"
        await pilot.press("up", "down", "down")
        assert app.prompt_box.text == ""
        await type_text(pilot, "again")
        await pilot.press("up", "down")
        await type_text(pilot, " and more")
        await pilot.press("enter", "up")
        assert app.prompt_box.text == "again and more"
        await pilot.press("up")
        assert app.prompt_box.text == "draft"


async def test_a_draft_is_not_lost_when_one_that_was_searched_takes_its_place() -> None:
    async with (app := Host(["fix the parser", "write tests"])).run_test() as pilot:
        await type_text(pilot, "pars")
        await pilot.press("ctrl+r")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt_box.text == "fix the parser"
        await pilot.press("up")
        assert app.prompt_box.text == "pars"


async def test_ctrl_r_finds_an_earlier_prompt_and_does_not_send_it() -> None:
    async with (
        app := Host(["fix the parser", "write tests", "fix the gauge"])
    ).run_test() as pilot:
        await type_text(pilot, "")
        await pilot.press("ctrl+r")
        await type_text(pilot, "pars")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt_box.text == "fix the parser"
        assert app.sent == []


async def test_a_search_without_a_match_says_so() -> None:
    async with (app := Host(["fix the parser"])).run_test(size=(80, 24)) as pilot:
        app.prompt_box.styles.dock = "bottom"
        await pilot.press("ctrl+r", "z")
        await pilot.pause()
        assert "No earlier prompt matches · Esc back" in app.text
        await pilot.press("backspace", "f")
        await pilot.pause()
        assert "Enter use · Esc back" in app.text


async def test_escape_leaves_the_search_with_the_draft() -> None:
    async with (app := Host(["fix the parser"])).run_test() as pilot:
        await type_text(pilot, "my draft")
        await pilot.press("ctrl+r", "x", "escape")
        await pilot.pause()
        assert app.prompt_box.text == "my draft"
        assert not app.is_offering


async def test_a_paste_never_sends_and_never_opens_the_list() -> None:
    async with (app := Host()).run_test() as pilot:
        app.prompt.post_message(Paste("/exit\r\n/clear\r"))
        await pilot.pause()
        assert app.sent == []
        assert app.prompt_box.text == "/exit\n/clear\n"
        assert not app.is_offering


async def test_a_paste_is_cleaned() -> None:
    async with (app := Host()).run_test() as pilot:
        app.prompt.post_message(Paste("a\x1b[31mb\u202ec"))
        await pilot.pause()
        assert app.prompt_box.text == "a␛[31mb<U+202E>c"


async def test_a_long_paste_is_folded_and_sent_whole() -> None:
    text = "\n".join(f"line {number}" for number in range(240))
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "see ")
        app.prompt.post_message(Paste(text))
        await pilot.pause()
        assert app.prompt.text == "see [paste #1: 240 lines]\n"
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("prompt", f"see {text}")]


async def test_a_folded_paste_is_shown_whole_on_its_key_and_folded_by_undo() -> None:
    async with (app := Host()).run_test(size=(80, 24)) as pilot:
        paste = "\n".join(f"line {number}" for number in range(40))
        app.prompt_box.paste(paste)
        await pilot.pause()
        assert "Ctrl+O unfold the paste" in app.text
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert app.prompt.text == f"{paste}\n"
        assert "unfold" not in app.text
        await pilot.press("ctrl+underscore")
        assert app.prompt.text == "[paste #1: 40 lines]\n"
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("prompt", paste)]


async def test_a_paste_too_long_for_the_field_stays_folded() -> None:
    async with (app := Host()).run_test(size=(80, 24)) as pilot:
        app.prompt_box.paste("line\n" * 100_000)
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert app.prompt.text == "[paste #1: 100,000 lines]\n"
        assert "unfold" not in app.text


async def test_what_is_typed_behind_a_folded_paste_stands_on_a_line_of_its_own() -> None:
    text = "\n".join(f"line {number}" for number in range(240))
    async with (app := Host()).run_test() as pilot:
        app.prompt.post_message(Paste(text))
        await pilot.pause()
        await type_text(pilot, "why")
        assert app.prompt.text == "[paste #1: 240 lines]\nwhy"
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [("prompt", f"{text}\nwhy")]


async def test_backspace_after_a_folded_paste_removes_all_of_it() -> None:
    async with (app := Host()).run_test() as pilot:
        app.prompt.post_message(Paste("x\n" * 50))
        await pilot.pause()
        await pilot.press("backspace")
        assert app.prompt.text == ""


async def test_a_question_mark_in_an_empty_prompt_asks_for_help() -> None:
    async with (app := Host()).run_test() as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert app.sent == [("/help", "")]
        await pilot.press("a", "question_mark")
        assert app.prompt_box.text == "a?"


async def test_a_read_only_session_takes_no_prompt() -> None:
    async with (app := Host()).run_test() as pilot:
        app.prompt_box.frame.read_only = "open in another window"
        await type_text(pilot, "hello")
        app.prompt.post_message(Paste("hello"))
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt_box.text == ""
        assert app.sent == []
        assert "F1 help" in str(app.prompt_box.frame.border_subtitle)


async def test_a_question_around_a_long_paste_is_never_folded_away() -> None:
    code = "\n".join(f"    total += {number}" for number in range(40))
    async with (app := Host()).run_test() as pilot:
        app.prompt.post_message(Paste(f"This is slow:\n{code}\n\nWhy does it take so long?"))
        await pilot.pause()
        lines = app.prompt.text.split("\n")
        assert lines == ["This is slow:", "[paste #1: 40 lines]", "", "Why does it take so long?"]
        assert app.prompt_box.text == f"This is slow:\n{code}\n\nWhy does it take so long?"


async def test_ctrl_d_quits_on_an_empty_prompt_only() -> None:
    async with (app := Host()).run_test() as pilot:
        await type_text(pilot, "ab")
        await pilot.press("home", "ctrl+d")
        assert app.prompt_box.text == "b"
        await pilot.press("ctrl+d", "ctrl+d")
        await pilot.pause()
        assert app.sent == [("/exit", "")]


async def test_the_hints_are_those_of_what_has_the_focus() -> None:
    async with (app := Host()).run_test(size=(120, 20)) as pilot:
        assert "Enter send" in app.text
        app.prompt_box.frame.elsewhere = ("y copy · " + "q quote · " * 8 + "Tab back", "Tab back")
        await pilot.pause()
        assert "y copy" in app.text
        assert "Enter send" not in app.text
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert "y copy" not in app.text
        assert "Tab back" in app.text


@pytest.mark.parametrize(
    ("keys", "hint"),
    [
        (["/", "c", "o", "m"], "↑↓ choose · Enter run · Tab complete · Esc close"),
        (["/", "c", "o", "m", "escape"], "Enter send"),
        (["@"], "↑↓ choose · Enter insert · Esc close"),
        (["@", "tab"], "Enter send"),
        (["ctrl+r"], "↑↓ choose · Enter use · Esc back"),
    ],
)
async def test_the_hints_say_what_the_keys_do_in_the_list_over_the_prompt(
    keys: list[str], hint: str
) -> None:
    async with (app := Host(history=["one thing"])).run_test(size=(120, 30)) as pilot:
        app.prompt_box.styles.dock = "bottom"
        await pilot.press(*keys)
        await settle(pilot, workers=True)
        assert hint in app.text
        assert ("Enter send" in app.text) == (hint == "Enter send")


async def test_a_click_takes_an_offered_command() -> None:
    async with (app := Host()).run_test(size=(80, 24)) as pilot:
        app.prompt_box.styles.dock = "bottom"
        await type_text(pilot, "/arch")
        await pilot.pause()
        await pilot.click(Completion, offset=(4, 1))
        assert app.prompt_box.text == "/archives "


@pytest.mark.parametrize("size", [(40, 12), (120, 40)])
async def test_the_field_grows_with_its_text_up_to_a_share_of_the_screen(
    size: tuple[int, int],
) -> None:
    async with (app := Host()).run_test(size=size) as pilot:
        await type_text(pilot, "a\nb\nc")
        await pilot.pause()
        assert app.prompt.size.height == 3
        await type_text(pilot, "\n" * 40)
        await pilot.pause()
        assert app.prompt.size.height <= size[1] * 0.4


@pytest.mark.parametrize("read_only", ["", "open in another window"])
async def test_page_keys_are_meant_for_the_conversation(read_only: str) -> None:
    async with (app := Host()).run_test(size=(60, 12)) as pilot:
        app.prompt_box.frame.read_only = read_only
        await pilot.press("pageup", "pagedown", "pageup")
        assert app.pages == [-1, 1, -1]


async def test_a_key_with_alt_is_a_command_and_types_nothing() -> None:
    async with (app := Host()).run_test(size=(60, 12)) as pilot:
        app.prompt.post_message(Key("alt+u", "u"))
        await pilot.pause()
        assert app.prompt_box.text == ""


@pytest.mark.parametrize(
    ("dropped", "mention"),
    [
        ("/home/me/shot.png", "@/home/me/shot.png "),
        ("'/home/me/my shot.PNG' ", '@"/home/me/my shot.PNG" '),
        (r"/home/me/my\ shot.jpg", '@"/home/me/my shot.jpg" '),
        ("file:///home/me/my%20shot.webp", '@"/home/me/my shot.webp" '),
        ("/a.gif /b.jpeg", "@/a.gif @/b.jpeg "),
        ("/home/me/notes.txt", ""),
        ("/a.png is broken", ""),
        ("'unfinished.png", ""),
        ("see /a.png", ""),
        ("/a.png\n/b.png", ""),
    ],
)
def test_the_path_of_a_dropped_picture_becomes_a_mention(dropped: str, mention: str) -> None:
    assert mention_pictures(dropped) == mention


async def test_a_picture_that_is_dropped_on_the_terminal_is_mentioned() -> None:
    app = Stage([PromptBox()])
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(PromptBox).focus()
        app.query_one(PromptBox).paste("'/home/me/my shot.png'")
        await pilot.press(*"hi")
        assert app.query_one(PromptBox).text == '@"/home/me/my shot.png" hi'


async def test_a_turn_that_begins_changes_the_look_of_the_frame_alone() -> None:
    async with (app := Host()).run_test() as pilot:
        frame, before = app.prompt_box.frame, app.prompt_box.frame.styles.border_top
        app.prompt_box.frame.running = True
        await pilot.pause()
        assert frame.styles.border_top != before
        shown = frame.styles.border_top
        app.prompt_box.update_node_styles()
        assert frame.styles.border_top == shown
        app.prompt_box.frame.running = False
        await pilot.pause()
        assert frame.styles.border_top == before


@pytest.mark.parametrize(
    ("columns", "hint"), [(80, "Esc interrupt"), (40, "Enter steer · Esc interrupt")]
)
async def test_the_key_that_interrupts_is_told_in_one_word(columns: int, hint: str) -> None:
    async with (app := Host()).run_test(size=(columns, 12)) as pilot:
        app.prompt_box.frame.running = True
        await pilot.pause()
        assert hint in str(app.prompt_box.frame.border_subtitle)


class Early(ThemedApp[None]):
    """Knows only the styles of the first frame."""

    CSS_PATH = [stylesheet("base.tcss"), stylesheet("widgets/prompt_box.tcss")]

    def compose(self) -> ComposeResult:
        yield PromptBox(complete_path)


async def test_what_is_completed_before_anything_else_is_loaded_is_styled_all_the_same() -> None:
    async with (app := Early()).run_test() as pilot:
        app.query_one(PromptBox).focus()
        await pilot.press("/")
        await pilot.pause()
        (completion,) = app.query(Completion)
        assert completion.styles.overlay == "screen"
        assert completion.styles.scrollbar_size_vertical == 1


@pytest.mark.parametrize(
    ("columns", "told"),
    [(60, "Ask anything, or choose"), (24, "Ask, or choose"), (18, "Ask, or cho…")],
)
async def test_the_words_of_an_empty_prompt_fit_or_say_that_they_do_not(
    columns: int, told: str
) -> None:
    box = PromptBox()
    async with (app := Stage([box])).run_test(size=(columns, 24)) as pilot:
        box.frame.invitation = ("Ask anything, or choose", "Ask, or choose")
        await pilot.pause()
        (row,) = (line for line in app.text.splitlines() if "Ask" in line)
        assert row.strip("│ \u276f") == told


@pytest.mark.parametrize("theme", ["agent-dark", "agent-light", "agent-16", "agent-16-light"])
@pytest.mark.parametrize("read_only", [False, True])
async def test_cursor_and_selection_look_as_in_any_text_area(theme: str, read_only: bool) -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.theme = theme
        app.prompt.read_only = read_only
        await pilot.pause()
        parts = ("text-area--cursor", "text-area--selection")
        alone = [app.prompt.get_component_styles(part).get_rules() for part in parts]
        other = TextArea()
        await app.prompt_box.frame.mount(other)
        other.read_only = read_only
        await pilot.pause()
        assert alone == [other.get_component_styles(part).get_rules() for part in parts]
        assert all(alone)
        assert app.prompt.styles.color == other.styles.color
        assert app.prompt.styles.pointer == other.styles.pointer
