"""What a terminal, a clipboard and a hand on the keys can send: text stays text, in good time."""

from __future__ import annotations

import time

import pytest
from textual.events import Key, MouseMove, Paste

from agent_tui.ui.terminal_replies import BackgroundTold, ReplyParser
from agent_tui.ui.widgets.prompt.vim import Vim
from tests.ui.test_terminal_replies import hear
from tests.ui.test_vim import type_keys

START, END = "\x1b[200~", "\x1b[201~"
REPLIES = [
    "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
    "\x1b]11;rgb:0/0/0\x07",
    "\x1b[?997;1n",
    "\x1b[?997;2n",
]
BIG = "high water at six, low at noon\n" * 3_300


@pytest.mark.parametrize("reply", REPLIES, ids=ascii)
def test_a_reply_inside_of_a_paste_is_text(reply: str) -> None:
    """All of it but Esc, at its place in the paste: none of it is heard, or pressed as a key."""
    whole = f"{START}a{reply}b{END}"
    for cut in range(1, len(whole)):
        parser = ReplyParser()
        heard = [each for piece in (whole[:cut], whole[cut:] + "c") for each in parser.feed(piece)]
        pasted, typed = heard
        assert isinstance(pasted, Paste), cut
        assert pasted.text == f"a{reply}b".replace("\x1b", ""), cut
        assert isinstance(typed, Key), cut
        assert typed.key == "c", cut
        assert [type(each) for each in parser.feed(reply)] == [BackgroundTold], cut
    print(f"a reply in a paste, cut at {len(whole) - 1} places: 0 heard, and behind it each is")


def test_a_flood_of_replies_is_told_once_a_read_and_in_linear_time() -> None:
    def cost(count: int) -> float:
        start = time.process_time()
        told, typed = hear(REPLIES[0] * count + "x")
        assert (told, typed) == ([False], "x")
        return time.process_time() - start

    cost(100)
    assert cost(50_000) < 40 * max(cost(5_000), 0.005)


@pytest.mark.parametrize("begun", ["\x1b]11;", "\x1b]11;rgb:", "\x1b]1", "\x1b[?99"], ids=ascii)
def test_a_reply_that_never_ends_swallows_no_keys(begun: str) -> None:
    parser = ReplyParser()
    assert list(parser.feed(begun)) == []
    parser._begun_at -= 1.0
    assert [getattr(each, "character", None) for each in parser.feed("y")] == ["y"]
    endless = "\x1b]11;" + "f" * 20_000
    start = time.process_time()
    hear(endless)
    assert len(parser._begun) < 80
    assert time.process_time() - start < 20


FOREIGN = ["\x1b]10;rgb:ff/ff/ff\x07", "\x1b]4;1;rgb:0/0/0\x1b\\", "\x1b]52;c;ZXZpbA==\x07"]
FOREIGN += [
    "\x1bP>|xterm(380)\x1b\\",
    "\x1bP1$r0 q\x1b\\",
    "\x1bP1+r544e=78\x1b\\",
    "\x1b_Gi=1;OK\x1b\\",
]


@pytest.mark.parametrize("reply", FOREIGN, ids=ascii)
def test_what_another_program_had_asked_is_not_typed(reply: str) -> None:
    """The end of such an answer is Ctrl+G, which opened the editor on the rest of it."""
    for cut in range(len("\x1bP1$"), len(reply)):
        assert hear(f"a{reply[:cut]}", f"{reply[cut:]}b") == ([], "ab"), cut
    assert hear(f"a{reply * 3}b") == ([], "ab")


NUMBERS = ["1114112u", "99999999999999999999u", "55296u", "97;1:3u", "97;1;1114112u", ":u", "1:A"]
NUMBERS += ["97:65;2u", "97;1;55296u", "1;99999999999999999999:9A"]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_a_number_that_stands_for_no_key_is_no_key(numbers: str) -> None:
    """Textual took it for a character, and the program ended with a traceback."""
    heard = [*(parser := ReplyParser()).feed(f"a\x1b[{numbers}b"), *parser.feed("c")]
    assert [getattr(each, "character", None) for each in heard] == ["a", "b", "c"]


@pytest.mark.parametrize("size", ["48;40;120;0;0t", "48;0;0;0;0t", "48;40;120;800;1200t"])
def test_the_mouse_is_told_in_cells_whatever_is_told_of_pixels(size: str) -> None:
    """A terminal that does not know its pixels had the program divide by nothing."""
    _, mouse = ReplyParser().feed(f"\x1b[{size}\x1b[<35;7;5M")
    assert isinstance(mouse, MouseMove)
    assert (mouse.x, mouse.y) == (6, 4)


COMMANDS = ["9999dd", "9999d9999d", "9999yy9999p", "9999dw", "d9999w", "9999j", "9999k", "9999x"]
COMMANDS += [
    "9999~",
    "9999G",
    "d9999G",
    "9999c9999c<",
    "9999e",
    "9999b",
    "9" * 40 + "dd",
    "y9999yP",
]
COMMANDS += ["yGGp", "dggP", "9999d9999e", "9999rX", "d9999d9999d"]


@pytest.mark.parametrize("keys", COMMANDS)
@pytest.mark.parametrize("kind", ["lines", "one line", "blanks", "newlines", "empty"])
def test_no_count_takes_long_on_a_big_paste(keys: str, kind: str) -> None:
    text = {
        "lines": BIG,
        "one line": BIG.replace("\n", " "),
        "blanks": " " * len(BIG),
        "newlines": "\n" * len(BIG),
        "empty": "",
    }[kind]
    start = time.process_time()
    after, cursor, _, _ = type_keys(keys, text, len(text) // 2)
    assert 0 <= cursor <= len(after)
    assert len(after) <= 2 * len(text) + 10
    assert time.process_time() - start < 5


def test_a_count_has_no_end_but_the_command_has() -> None:
    vim = Vim()
    vim.mode = "normal"
    for _ in range(10_000):
        vim.take("9", BIG, 0)
        assert len(vim._pending) < 20
