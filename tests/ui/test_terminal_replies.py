"""What the terminal says of its background is no key, however it arrives among keys."""

from __future__ import annotations

import time

import pytest
from textual import constants
from textual.events import Key, MouseMove, Paste
from textual.message import Message

from agent_tui.ui import terminal_replies
from agent_tui.ui.terminal_replies import BackgroundTold, FeaturesTold, ReplyParser, is_dark

WHITE = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"


def hear(*pieces: str) -> tuple[list[bool], str]:
    """What was told of the background, and what was typed."""
    parser = ReplyParser()
    heard = [message for piece in pieces for message in parser.feed(piece)]
    return [each.dark for each in heard if isinstance(each, BackgroundTold)], typed_in(heard)


def typed_in(heard: list[Message]) -> str:
    """What was typed, and then what was pasted."""
    typed = "".join(each.character or each.key for each in heard if isinstance(each, Key))
    return typed + "".join(each.text for each in heard if isinstance(each, Paste))


@pytest.mark.parametrize(
    ("colour", "dark"),
    [
        ("rgb:0000/0000/0000", True),
        ("rgb:ffff/ffff/ffff", False),
        ("rgb:fd/f6/e3", False),
        ("rgba:2828/2a2a/3636/ffff", True),
        ("#002b36", True),
        ("tide", None),
    ],
)
def test_a_background_is_dark_or_light(colour: str, dark: bool | None) -> None:
    assert is_dark(colour) is dark


def test_a_reply_among_keys_is_no_key() -> None:
    assert hear(f"ab{WHITE}c") == ([False], "abc")
    assert hear("a\x1b]11;rgb:0/0/0\x07b") == ([True], "ab")


@pytest.mark.parametrize("cut", range(3, len(WHITE)))
def test_a_reply_may_come_in_two_pieces(cut: int) -> None:
    assert hear("a" + WHITE[:cut], WHITE[cut:] + "b") == ([False], "ab")


def test_a_change_of_the_scheme_is_told() -> None:
    assert hear("\x1b[?997;1n", "\x1b[?997;2n") == ([True, False], "")


def test_a_colour_that_cannot_be_read_tells_nothing_and_types_nothing() -> None:
    assert hear("\x1b]11;tide\x07") == ([], "")


def test_other_keys_are_as_they_were() -> None:
    assert hear("\x1b[A", "\x1b1", "x") == ([], hear("\x1b[A")[1] + hear("\x1b1")[1] + "x")


@pytest.mark.parametrize(
    ("reply", "sixel"),
    [
        ("\x1b[?64;1;2;4;22c", True),
        ("\x1b[?62;22c", False),
        ("\x1b[?4;6c", False),
        ("\x1b[?6c", False),
    ],
)
def test_the_terminal_says_whether_it_draws_sixel(reply: str, sixel: bool) -> None:
    for cut in range(3, len(reply) + 1):
        parser = ReplyParser()
        heard = [
            each for piece in (f"a{reply[:cut]}", f"{reply[cut:]}b") for each in parser.feed(piece)
        ]
        assert [each.sixel for each in heard if isinstance(each, FeaturesTold)] == [sixel]
        assert [each.character for each in heard if isinstance(each, Key)] == ["a", "b"]


def test_a_lone_esc_is_waited_for_no_longer_than_it_takes_to_know_it() -> None:
    """Asking ten times a second made it up to a tenth of a second late."""
    parser = ReplyParser()
    assert parser.seconds_to_wait(60.0) == 60.0
    assert not list(parser.feed("\x1b"))
    wait = parser.seconds_to_wait(60.0)
    assert 0 <= wait <= constants.ESCAPE_DELAY
    time.sleep(wait)
    assert [event.key for event in parser.tick() if isinstance(event, Key)] == ["escape"]
    assert parser.seconds_to_wait(60.0) == 60.0


@pytest.mark.parametrize("sign", ["/", "!", "@"])
def test_an_esc_right_before_a_sign_is_a_key_of_its_own(sign: str) -> None:
    heard = list(ReplyParser().feed(f"\x1b{sign}quit"))
    assert all(isinstance(each, Key) for each in heard)
    assert typed_in(heard) == f"\x1b{sign}quit"


@pytest.mark.parametrize("behind", ["", "\x1b[<35;10;10M", "\x1bu", "\x1b[A", "x"])
@pytest.mark.parametrize("pieces", [("\x1bu",), ("\x1b", "u")])
def test_a_key_with_alt_is_none_other_whatever_follows_it(
    pieces: tuple[str, ...], behind: str
) -> None:
    """Beside a mouse that moves, or held down, it was typed as ``^u``."""
    parser = ReplyParser()
    heard = [
        message for piece in (*pieces, *filter(None, [behind])) for message in parser.feed(piece)
    ]
    keys = [each.key for each in heard if isinstance(each, Key)]
    assert keys[0] == "alt+u"
    assert not {"circumflex_accent", "escape"} & set(keys)


def test_alt_and_enter_are_one_key() -> None:
    heard = [each for each in ReplyParser().feed("a\x1b\rb") if isinstance(each, Key)]
    assert [each.key for each in heard] == ["a", "alt+enter", "b"]


PASTE = "\x1b[200~a\x1bu\x1b/\x1b[200~\x1b\r\x1b[Ab\x1b[201~"


@pytest.mark.parametrize("cut", range(8, len(PASTE)))
def test_what_is_pasted_never_acts_as_a_key(cut: int) -> None:
    """Not every terminal takes Esc out of what it pastes; Enter behind one sent the prompt."""
    parser = ReplyParser()
    heard = [each for piece in (PASTE[:cut], PASTE[cut:] + "c") for each in parser.feed(piece)]
    assert [each.text for each in heard if isinstance(each, Paste)] == ["au/[200~\r[Ab"]
    assert [each.key for each in heard if isinstance(each, Key)] == ["c"]


KEYS = {
    "up": ("\x1b[A", "up"),
    "f1": ("\x1bOP", "f1"),
    "shift+tab": ("\x1b[Z", "shift+tab"),
    "ctrl+left": ("\x1b[1;5D", "ctrl+left"),
    "delete": ("\x1b[3~", "delete"),
    "enter": ("\x1b[13;2u", "shift+enter"),
    "mouse": ("\x1b[<35;10;12M", ""),
    "paste": ("\x1b[200~one\rtwo\x1b[201~", ""),
}


PAUSE = 0.03


@pytest.fixture
def slow_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that cuts keys with longer pauses than an Esc is waited for."""
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 0.01)
    monkeypatch.setattr(terminal_replies, "_LATE_SECONDS", 5)  # this machine may be busy
    monkeypatch.setattr(terminal_replies, "_HELD_SECONDS", 5)


def type_in_pieces(*pieces: str) -> list[Message]:
    """What is heard of pieces with a pause between them, which is told to the parser, too."""
    parser, heard = ReplyParser(), list[Message]()
    for piece in pieces:
        heard += parser.feed(piece)
        until = time.monotonic() + PAUSE
        while (left := until - time.monotonic()) > 0:
            time.sleep(parser.seconds_to_wait(left))
            heard += parser.tick()
    return heard


@pytest.mark.usefixtures("slow_line")
@pytest.mark.parametrize("name", KEYS)
def test_a_key_that_comes_in_pieces_is_that_key(name: str) -> None:
    """Over a slow line its rest was typed: ``[A``, or the lines of a paste, each one sent."""
    sequence, key = KEYS[name]
    for cut in range(2, min(len(sequence), 8)):
        heard = type_in_pieces(sequence[:cut], f"{sequence[cut:]}x")
        assert [each.key for each in heard if isinstance(each, Key)] == [*filter(None, [key]), "x"]
        pasted = [each.text for each in heard if isinstance(each, Paste)]
        assert pasted == (["one\rtwo"] if name == "paste" else [])


@pytest.mark.usefixtures("slow_line")
@pytest.mark.parametrize("name", KEYS)
def test_the_rest_of_a_key_is_not_typed_though_its_esc_was_told(name: str) -> None:
    sequence, key = KEYS[name]
    heard = type_in_pieces("\x1b", sequence[1:])
    keys = [each.key for each in heard if isinstance(each, Key)]
    assert keys == ["escape", *filter(None, [key])]
    assert sum(isinstance(each, Paste) for each in heard) == (name == "paste")


@pytest.mark.usefixtures("slow_line")
@pytest.mark.parametrize("name", sorted(KEYS.keys() - {"f1"}))  # O is typed right before text
def test_the_rest_of_a_key_is_not_typed_in_however_many_pieces_it_comes(name: str) -> None:
    """``[`` and ``A`` behind an Esc that was told were typed, and the lines of a paste sent."""
    sequence, key = KEYS[name]
    heard = type_in_pieces("\x1b", *sequence[1:6], f"{sequence[6:]}x")
    keys = [each.key for each in heard if isinstance(each, Key)]
    assert keys == ["escape", *filter(None, [key]), "x"]
    pasted = [each.text for each in heard if isinstance(each, Paste)]
    assert pasted == (["one\rtwo"] if name == "paste" else [])


@pytest.mark.usefixtures("slow_line")
@pytest.mark.parametrize("pieces", [(WHITE[1:],), (WHITE[1:2], WHITE[2:3], WHITE[3:])])
def test_a_reply_behind_an_esc_that_was_told_is_not_typed(pieces: tuple[str, ...]) -> None:
    heard = type_in_pieces("\x1b", *pieces, "x")
    assert [each.dark for each in heard if isinstance(each, BackgroundTold)] == [False]
    assert typed_in(heard) == "\x1bx"


@pytest.mark.usefixtures("slow_line")
@pytest.mark.parametrize("text", ["[", "[x", "[note]", "[undo]", "O", "OK", "Once", "[1]", "]"])
@pytest.mark.parametrize("is_at_once", [True, False])
def test_what_is_typed_behind_an_esc_stays_what_it_is(
    text: str, is_at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_replies, "_HELD_SECONDS", 0.01)
    pieces = (text,) if is_at_once else tuple(text)
    heard = type_in_pieces("\x1b", *pieces)
    assert typed_in(heard) == f"\x1b{text}"


@pytest.mark.usefixtures("slow_line")
@pytest.mark.parametrize("text", ["[A", "[200~", "]11;"])
def test_what_is_typed_long_after_an_esc_is_text(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_replies, "_LATE_SECONDS", 0.01)  # less than each pause
    heard = type_in_pieces("\x1b", *text)
    assert typed_in(heard) == f"\x1b{text}"


def test_a_sequence_without_an_end_is_given_up() -> None:
    parser = ReplyParser()
    assert not list(parser.feed("\x1b["))
    assert 0.3 < parser.seconds_to_wait(60.0) < 1
    time.sleep(parser.seconds_to_wait(60.0))
    assert [each.character for each in parser.tick() if isinstance(each, Key)] == ["["]
    assert parser.seconds_to_wait(60.0) == 60.0


def test_a_move_of_the_mouse_leaves_out_those_behind_it_but_no_press() -> None:
    moves = ReplyParser().feed("\x1b[<35;2;3M\x1b[<35;9;8M\x1b[<32;9;8M")
    first, second, dragged = moves
    assert isinstance(second, MouseMove)
    assert (second.x, second.y, second.screen_x) == (8, 7, 8)
    assert second.handler_name == "on_mouse_move"
    assert first.can_replace(second)
    assert not second.can_replace(dragged), "a button is held from here on"
    assert not second.can_replace(*ReplyParser().feed("\x1b[<0;9;8M"))
