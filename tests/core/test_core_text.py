"""Marks of Markdown go, stars and underscores that mean something stay."""

import pytest

from agent_tui.core.text import without_marks


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
