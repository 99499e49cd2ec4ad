"""Marks of Markdown go, stars and underscores that mean something stay."""

import pytest

from agent_tui.core.text import find_letters, without_marks


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("## What *is* **it**?", "What is it?"),
        ("* a point, ***quite strong***", "a point, quite strong"),
        ("- Read `a.py`.", "Read a.py."),
        ("*Stars.* And **more**, (*here*)", "Stars. And more, (here)"),
        ("**Important:** 5 * 3 * 2, 2**10, a*b*c", "Important: 5 * 3 * 2, 2**10, a*b*c"),
        ("**cut off before its e", "cut off before its e"),
        ("egan before it** and goes on", "egan before it and goes on"),
    ],
)
def test_marks_of_markdown_are_left_out(line: str, plain: str) -> None:
    assert without_marks(line) == plain


@pytest.mark.parametrize(
    "line",
    [
        "src/**/*.py and **/*.md",
        "*.py, *.txt and lib*.so*",
        "__init__.py calls _run_ with x ** y and x ** 2",
        ".*foo.* matches /*/x/*",
        "#1234 is fixed",
        "-5 degrees",
    ],
)
def test_what_only_looks_like_a_mark_stays(line: str) -> None:
    assert without_marks(line) == line


def test_letters_are_found_in_their_order_and_the_closest_reach_is_told() -> None:
    texts = ["fix the parser", "report", "p a r s e r", "prs", "s r p", "a\nprs"]
    assert list(find_letters(("prs",), texts)) == [(0, 4), (2, 7), (3, 3), (5, 3)]
    assert list(find_letters(("fix", "prs"), texts)) == [(0, 7)]
    assert list(find_letters((".*",), texts)) == []
    assert list(find_letters(("^-]\\",), ["a^b-c]d\\e"])) == [(0, 7)]


def test_letters_that_repeat_are_not_tried_in_every_way() -> None:
    """As a glob of many stars once was: it would take longer than anybody waits."""
    assert list(find_letters(("a" * 40 + "b",), ["a" * 4_000])) == []
