"""Markdown looks the same however it was cut into chunks, fits its width, and is only text."""

from collections.abc import Callable
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agent_tui.core.messages import CommandDisplay
from agent_tui.core.shell import SHELL_INTERRUPTED
from agent_tui.core.words import INTERRUPTED
from agent_tui.ui.blocks import AssistantBlock, ShellBlock, ToolBlock
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.inline import style_inline
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.lines import (
    Line,
    break_line,
    crop_text,
    finish_row,
    wrap_spans,
    wrap_text,
)
from agent_tui.ui.renderers.long_text import draw_text, is_long
from agent_tui.ui.renderers.markdown import MarkdownWriter, draw_markdown
from agent_tui.ui.renderers.message import draw_assistant
from agent_tui.ui.renderers.shell import draw_shell
from agent_tui.ui.renderers.tool import draw_tool
from agent_tui.ui.themes.palette import read_palette
from agent_tui.ui.themes.theme import DARK, tokens_of

VARIABLES = DARK.to_color_system().generate()
PALETTE = read_palette(VARIABLES | tokens_of(DARK, VARIABLES))
LANGUAGES = Languages()
LANGUAGES.find("python")
LANGUAGES.load_missing()

DOCUMENT = """# Plan

Two **problems** in `parser.py`, see [the lexer](https://example.org/x).
And a second line of the paragraph.

1. first
   - nested *item*

   more of the first
2. second
- [x] done

```python
def f():
    '''long
    string'''
    return 1
```

> quoted
> twice

| Name | Size |
|:-----|-----:|
| a    | 1    |
| 日本 | 22   |

---
Title
=====
last
"""


def canvas(width: int = 60) -> Canvas:
    return Canvas(width, PALETTE, LANGUAGES)


def texts(lines: list[Line]) -> list[str]:
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def draw(text: str, width: int = 60) -> list[str]:
    return texts(draw_markdown(text, canvas(width)))


def stream(chunks: list[str], width: int = 60) -> list[Line]:
    writer = MarkdownWriter(canvas(width))
    for chunk in chunks:
        before = list(writer.lines)
        writer.feed(chunk)
        writer.preview()
        assert writer.lines[: len(before)] == before
    return writer.finish()


def test_a_document_is_drawn() -> None:
    assert draw(DOCUMENT) == [
        "Plan",
        "",
        "Two problems in parser.py, see the lexer",
        "(https://example.org/x).",
        "And a second line of the paragraph.",
        "",
        "1. first",
        "   ◦ nested item",
        "",
        "   more of the first",
        "2. second",
        "☑ done",
        "",
        " " * 53 + "python",
        " def f():",
        "     '''long",
        "     string'''",
        "     return 1",
        "",
        "▎ quoted",
        "▎ twice",
        "",
        "Name │ Size",
        "─────┼─────",
        "a    │    1",
        "日本 │   22",
        "",
        "─" * 60,
        "",
        "Title",
        "",
        "last",
    ]


def test_every_chunking_looks_the_same() -> None:
    whole = draw_markdown(DOCUMENT, canvas())
    for size in (1, 2, 3, 7, 50):
        chunks = [DOCUMENT[start : start + size] for start in range(0, len(DOCUMENT), size)]
        assert stream(chunks) == whole


PIECES = st.sampled_from(
    ["# ", "- ", "1. ", "> ", "```", "```py\n", "|", "|---|", "\n", "\n\n", "  ", "    ", "**", "`",
     "*", "_", "word ", "日本", "[a](b)", "---", "===", "\\", "~~", "<br>", "https://x.y/z "]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40), st.integers(12, 70))
def test_any_text_streams_as_it_reloads_and_fits(pieces: list[str], width: int) -> None:
    lines = stream(pieces, width)
    assert lines == draw_markdown("".join(pieces), canvas(width))
    for line in lines:
        row = finish_row(line, width, PALETTE.base)
        assert sum(cell_len(segment.text) for segment in row) == width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a **b** *c* `d` ~~e~~", "a b c d e"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("**open", "**open"),
        ("\\*no\\*", "*no*"),
        ("`` a`b ``", "a`b"),
        ("[text](https://a.b/c_(d))", "text (https://a.b/c_(d))"),
        ("a &lt; b", "a < b"),
        ("[@click=app.quit]x[/]", "[@click=app.quit]x[/]"),
    ],
)
def test_marks_inside_a_line(text: str, shown: str) -> None:
    assert "".join(piece.text for piece in style_inline(text, PALETTE.text, PALETTE)) == shown


def test_emphasis_has_its_style() -> None:
    pieces = style_inline("**a *b* c**", PALETTE.text, PALETTE)
    styles = {piece.text: piece.style for piece in pieces}
    outer, inner = styles["a "], styles["b"]
    assert outer is not None
    assert inner is not None
    assert (outer.bold, bool(outer.italic)) == (True, False)
    assert (inner.bold, inner.italic) == (True, True)


def test_no_control_sequence_passes_the_choke_point() -> None:
    row = finish_row(
        [*style_inline("a\x1b[31mb\x00\x9b\u202e", PALETTE.text, PALETTE)], 40, PALETTE.base
    )
    text = "".join(segment.text for segment in row)
    assert text.isprintable()
    assert text.rstrip() == "a␛[31mb␀<U+009B><U+202E>"


@pytest.mark.parametrize("mark", ["\u0301", "\u200d", "\ufe0f", "\u20dd"], ids=ascii)
def test_no_row_is_heavier_than_its_width(mark: str) -> None:
    """A drawing counts the cells of its rows anew each time: 500,000 accents took it seconds."""
    for text in (f"e{mark}", f"e{mark * 30}x", "日本", "नमस्ते"):
        whole = finish_row([Segment(text * 2)], 40, PALETTE.base)
        assert "".join(segment.text for segment in whole).rstrip() == text * 2
    heaped = finish_row([Segment("e"), Segment(mark * 100_000 + "x")], 40, PALETTE.base)
    shown = "".join(segment.text for segment in heaped)
    assert shown.rstrip() == f"e{mark * 30}x"
    assert cell_len(shown) == 40


@given(st.text(alphabet="ab 日本é\u200d👩", max_size=60), st.integers(2, 20))
def test_wrapping_loses_only_spaces_and_fits(text: str, width: int) -> None:
    rows = [text[start:end] for start, end in break_line(text, width)]
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    if "\u200d" not in text:
        assert all(cell_len(row) <= width for row in rows)


def test_a_line_of_many_pieces_wraps_in_linear_time() -> None:
    """Each row looked for its pieces from the beginning of the line."""

    def cost(pieces: int) -> float:
        line = [Segment("tide "), Segment("*")] * (pieces // 2)
        start = process_time()
        rows = wrap_spans(line, 40)
        taken = process_time() - start
        assert "".join(piece.text for row in rows for piece in row).count("*") == pieces // 2
        return taken

    cost(100)
    assert cost(60_000) < 40 * max(cost(6_000), 0.005)


def test_words_stay_whole_where_they_can() -> None:
    assert wrap_text("the quick brown fox\njumps", 10) == ["the quick", "brown fox", "jumps"]


def test_a_cropped_text_says_so() -> None:
    assert crop_text("abcdef", 4) == "abc…"
    assert crop_text("日本語", 4) == "日…"
    assert crop_text("abc", 3) == "abc"


def test_a_giant_line_does_not_stay_open() -> None:
    writer = MarkdownWriter(canvas())
    for _ in range(2_000):
        writer.feed("word word word ")
    assert len(writer.preview()) < 120


def test_a_call_below_a_text_is_no_wider_than_the_text() -> None:
    call = ToolBlock("1", "run_command", '{"command": "sleep 300"}', "interrupted")
    drawing = draw_assistant(AssistantBlock("Step 3.", calls=(call,)), canvas(60), expanded=False)
    (row,) = ["".join(piece.text for piece in line) for line in drawing.rows if len(line) > 2]
    assert row.endswith("interrupted")
    assert len(row) == 60


@pytest.mark.parametrize(
    ("code", "words"), [(3, "exit 3"), (-15, "SIGTERM"), (-9, "SIGKILL"), (-99, "signal 99")]
)
def test_a_command_that_a_signal_ended_has_no_exit_code(code: int, words: str) -> None:
    display = CommandDisplay("x", "", code)
    call = ToolBlock("1", "run_command", '{"command": "x"}', "error", "[ended]", display)
    shell = ShellBlock("x", "[ended]", "error", code)
    for drawing in (
        draw_tool(call, canvas(), expanded=False),
        draw_shell(shell, canvas(), expanded=False),
    ):
        assert drawing.rows[0][-1].text.strip() == words


def test_that_somebody_stopped_a_command_is_told_once() -> None:
    call = ToolBlock(
        "1", "run_command", '{"command": "x"}', "interrupted", f"started\n{INTERRUPTED}"
    )
    shell = ShellBlock("x", f"started\n{SHELL_INTERRUPTED}", "interrupted")
    for drawing in (
        draw_tool(call, canvas(), expanded=False),
        draw_shell(shell, canvas(), expanded=False),
        draw_shell(shell, canvas(), expanded=True),
    ):
        text = "\n".join("".join(piece.text for piece in line) for line in drawing.rows)
        assert "started" in text
        assert text.lower().count("interrupted") == 1
    whole = draw_tool(call, canvas(), expanded=True)
    assert "Check its effects" in " ".join(piece.text for line in whole.rows for piece in line)


def test_a_long_run_of_backticks_is_read_in_one_pass() -> None:
    started = process_time()
    line = style_inline("`" * 2_000, Style(), PALETTE)
    assert process_time() - started < 1, "every part of the run was tried"
    assert "".join(piece.text for piece in line) == "`" * 2_000
    line = style_inline("`code`, ``a`", Style(), PALETTE)
    assert "".join(piece.text for piece in line) == "code, ``a`"


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "*a* " * n,
        lambda n: "**a*b " * n,
        lambda n: "_a " * n + "a* " * n,
        lambda n: "**a " * n + "a** " * n,
    ],
    ids=["pairs", "halves", "no opener", "nested"],
)
def test_emphasis_takes_time_by_its_length(make: Callable[[int], str]) -> None:
    """Eight times the text took sixty times as long, and a key waited for it."""

    def seconds(count: int) -> float:
        text = make(count)
        started = process_time()
        style_inline(text, Style(), PALETTE)
        return process_time() - started

    seconds(250)
    few = min(seconds(250) for _ in range(5))
    many = min(seconds(2_000) for _ in range(3))
    assert many < few * 24


def test_an_endless_line_of_code_is_drawn_plain() -> None:
    rows = draw_markdown("```python\n" + "x = 1 + f('a') " * 400 + "\n```", canvas())
    styles = {segment.style for row in rows[1:] for segment in row if "x = 1" in segment.text}
    assert len(styles) == 1
    short = draw_markdown("```python\nx = 1 + f('a')\n```", canvas())
    assert len({segment.style for row in short[1:] for segment in row}) > 2


def last_rows(code: str, rows: int) -> list[Line]:
    return draw_markdown(f"```python\n{code}\n```", canvas())[-rows:]


LONG = "word " * 500


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("a = 1", f"b = 2  # {LONG}"),
        ("a = 1", f"b = '''{LONG}"),
        ("a = '''", LONG),
        ("a = '''", f"{LONG}'''"),
    ],
)
def test_the_code_behind_an_endless_line_is_coloured_as_behind_a_short_one(
    before: str, line: str
) -> None:
    after = "return f(1)  # one\n'''\nreturn 2"
    short = line.replace(LONG, "word ")
    assert last_rows(f"{before}\n{line}\n{after}", 3) == last_rows(f"{before}\n{short}\n{after}", 3)


def test_the_code_before_an_endless_line_keeps_its_colours() -> None:
    (row,) = last_rows("return f(1)", 1)
    assert row in draw_markdown(f"```python\nreturn f(1)\n{LONG}\n```", canvas())


def test_a_line_beyond_reading_leaves_the_colours_as_they_were() -> None:
    code = f"a = 1\nb = '''{LONG * 8}\nreturn f(1)"
    assert last_rows(code, 1) == last_rows("return f(1)", 1)


def test_an_endless_line_streams_as_it_reloads() -> None:
    text = f"```python\na = '''\n{LONG}'''\nreturn f(1)\n{LONG}\n```\n"
    chunks = [text[at : at + 40] for at in range(0, len(text), 40)]
    assert stream(chunks) == draw_markdown(text, canvas())


@pytest.mark.parametrize("name", ["text", "txt", "Plain", "plaintext", "none", "nohighlight", ""])
def test_a_fence_that_says_it_holds_no_language_has_no_label(name: str) -> None:
    assert draw(f"```{name}\na -> b\n```") == [" a -> b"]


def test_the_label_of_a_fence_stands_at_the_right_of_its_code() -> None:
    label, code = draw_markdown("```python\nx = 1\n```", canvas())
    text = "".join(segment.text for segment in label)
    assert text.rstrip().endswith("python")
    assert text.strip() == "python"
    assert len(text) == sum(len(segment.text) for segment in code) == canvas().width


def test_a_label_without_room_is_cut_with_a_mark() -> None:
    label, _ = draw(f"```{'name' * 20}\nx = 1\n```", 20)
    assert label == " " + ("name" * 5)[:17] + "…"


@pytest.mark.parametrize("text", ["-\n" * 3_900, "- a\n" * 30_000])
def test_of_many_short_lines_only_the_ends_are_drawn_while_a_key_waits(text: str) -> None:
    assert is_long(text)
    drawn, gap = draw_text(text, canvas(), glance=True)
    assert 100 < gap < len(drawn) < 1_000
    whole, _ = draw_text(text, canvas(), glance=False)
    assert len(whole) > 3_000


def test_a_table_that_grows_styles_each_cell_once_and_none_out_of_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    styled: list[str] = []

    def count(cell: str, *rest: Any) -> Line:
        styled.append(cell)
        return style_inline(cell, *rest)

    monkeypatch.setattr("agent_tui.ui.renderers.table.style_inline", count)
    columns, rows = 500, 12
    text = "\n".join(["|a" * columns, "|-" * columns, *["|b" * columns] * rows, ""])
    writer = MarkdownWriter(Canvas(100, PALETTE, LANGUAGES))
    for line in text.splitlines(keepends=True):
        writer.feed(line)
        writer.preview()
    assert styled.count("b") < rows * 100 * 2


@pytest.mark.parametrize("before", ["", "> "])
def test_looking_ahead_in_a_table_changes_nothing_of_it(before: str) -> None:
    lines = ["|name|what|", "|:-|-:|", *(f"|row **{n}**|{'long ' * n}|" for n in range(30))]
    text = "".join(f"{before}{line}\n" for line in lines)
    canvas = Canvas(60, PALETTE, LANGUAGES)
    looked, whole = MarkdownWriter(canvas), MarkdownWriter(canvas)
    for start in range(0, len(text), 7):
        looked.feed(text[start : start + 7])
        looked.preview()
    whole.feed(text)
    assert looked.finish() == whole.finish()
