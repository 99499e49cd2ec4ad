"""Vim's keys in the prompt: each command as in Vim, and no text is lost by any keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.ui.widgets.prompt.vim import Vim

NAMES = {"$": "dollar_sign", "^": "circumflex_accent", "~": "tilde", "<": "escape"}


def type_keys(keys: str, text: str, cursor: int = 0) -> tuple[str, int, str, str]:
    """What keys make of a text in normal mode: text, cursor, mode, and the last thing passed on."""
    vim, passed = Vim(), ""
    vim.mode = "normal"
    for letter in keys:
        result = vim.take(NAMES.get(letter, letter), text, cursor)
        if result is None:  # typed into the field
            text, cursor = text[:cursor] + letter + text[cursor:], cursor + 1
        else:
            text, cursor, passed = result.text, result.cursor, result.pass_on or passed
    return text, cursor, vim.mode, passed


@pytest.mark.parametrize(
    ("keys", "text", "cursor", "after", "place"),
    [
        ("x", "tide", 0, "ide", 0),
        ("3x", "tide", 0, "e", 0),
        ("$x", "tide", 0, "tid", 2),
        ("X", "tide", 2, "tde", 1),
        ("dw", "high water", 0, "water", 0),
        ("d2w", "one two three", 0, "three", 0),
        ("2dw", "one two three", 0, "three", 0),
        ("de", "high water", 0, " water", 0),
        ("db", "high water", 5, "water", 0),
        ("d$", "high water", 5, "high ", 4),
        ("D", "high\nwater", 1, "h\nwater", 0),
        ("d0", "high water", 5, "water", 0),
        ("dd", "one\ntwo\nthree", 4, "one\nthree", 4),
        ("2dd", "one\ntwo\nthree", 0, "three", 0),
        ("dd", "one\ntwo", 4, "one", 0),
        ("ddp", "one\ntwo", 0, "two\none", 4),
        ("yyP", "one\ntwo", 4, "one\ntwo\ntwo", 4),
        ("ywP", "one two", 0, "one one two", 3),
        ("xp", "ab", 0, "ba", 1),
        ("dgg", "one\ntwo\nthree", 5, "three", 0),
        ("d2G", "one\ntwo\nthree", 0, "three", 0),
        ("rX", "tide", 1, "tXde", 1),
        ("~~", "tide", 0, "TIde", 2),
        ("dG", "one\ntwo\nthree", 5, "one", 0),
        ("cwlow<", "high water", 0, "low water", 2),
        ("cclow<", "one\nhigh\ntwo", 4, "one\nlow\ntwo", 6),
        ("Clow<", "the tide", 4, "the low", 6),
        ("sX<", "tide", 0, "Xide", 0),
        ("a!<", "tide", 3, "tide!", 4),
        ("A!<", "tide\nx", 0, "tide!\nx", 4),
        ("I!<", "  tide", 4, "  !tide", 2),
        ("onew<", "one\ntwo", 0, "one\nnew\ntwo", 6),
        ("Onew<", "one\ntwo", 4, "one\nnew\ntwo", 6),
    ],
)
def test_an_edit_is_as_in_vim(keys: str, text: str, cursor: int, after: str, place: int) -> None:
    assert type_keys(keys, text, cursor)[:2] == (after, place)


@pytest.mark.parametrize(
    ("keys", "cursor", "place"),
    [
        ("w", 0, 4),
        ("2w", 0, 8),
        ("b", 5, 4),
        ("e", 0, 2),
        ("$", 0, 6),
        ("0", 5, 0),
        ("l", 2, 3),
        ("h", 2, 1),
        ("j", 1, 9),
        ("k", 9, 1),
        ("G", 0, 8),
        ("gg", 9, 0),
        ("2G", 0, 8),
    ],
)
def test_a_motion_is_as_in_vim(keys: str, cursor: int, place: int) -> None:
    text = "one two\nthree"
    assert type_keys(keys, text, cursor)[:2] == (text, place)


def test_escape_leaves_typing_and_then_belongs_to_the_program() -> None:
    vim = Vim()
    assert vim.take("a", "", 0) is None
    left = vim.take("escape", "tide", 4)
    assert left is not None
    assert (left.cursor, vim.mode) == (3, "normal")
    assert vim.take("escape", "tide", 3) is None


def test_beyond_the_text_the_keys_of_the_field_take_over() -> None:
    assert type_keys("j", "one")[3] == "down"
    assert type_keys("k", "one")[3] == "up"
    assert type_keys("u", "one")[3] == "undo"


@given(
    keys=st.text("hjklwbe0$^GgdcyxXDCSspPiaIAoOr~u123<", max_size=30),
    text=st.text("ab \n.", max_size=20),
    cursor=st.integers(0, 20),
)
def test_whatever_is_pressed_the_cursor_stands_in_the_text(
    keys: str, text: str, cursor: int
) -> None:
    after, place, _, _ = type_keys(keys, text, min(cursor, len(text)))
    assert 0 <= place <= len(after)
