"""Diffs: numbered, without headings, coloured like code, and read no further than they are seen."""

from __future__ import annotations

from itertools import islice

from rich.segment import Segment

from agent_tui.ui.blocks import Changed
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.diff import count_changes, draw_changed, draw_diff, read_diff
from agent_tui.ui.renderers.languages import Languages, language_of
from agent_tui.ui.renderers.lines import Line
from agent_tui.ui.renderers.output import Ends
from agent_tui.ui.themes.palette import Palette, read_palette
from agent_tui.ui.themes.theme import ANSI, DARK
from agent_tui.ui.widgets.panes.action_fold import ActionFold
from tests.ui.stage import Stage

DIFF = """--- a/a.py
+++ b/a.py
@@ -8,3 +8,3 @@
 def height(metres):
-    return "-"
+    return f"{metres}"
\\ No newline at end of file
@@ -90,2 +90,2 @@
 end
--- a
+++ b
"""


def kinds(diff: str) -> list[tuple[str, int, str]]:
    return [(line.kind, line.number, diff[line.start : line.end]) for line in read_diff(diff)]


def palette_of(theme: str) -> Palette:
    return read_palette(Stage(theme=theme).get_css_variables())


def draw(path: str, theme: str = DARK.name) -> list[Line]:
    canvas = Canvas(60, palette_of(theme), Languages())
    draw_diff(path, DIFF, canvas)
    canvas.languages.load_missing()
    return draw_diff(path, DIFF, canvas)


def pieces(rows: list[Line], text: str) -> Segment:
    return next(piece for row in rows for piece in row if text in piece.text)


def test_each_line_of_a_diff_has_its_number_and_headings_are_gone() -> None:
    assert kinds(DIFF) == [
        (" ", 8, "def height(metres):"),
        ("-", 9, '    return "-"'),
        ("+", 9, '    return f"{metres}"'),
        ("", 0, "\\ No newline at end of file"),
        ("@", 0, ""),
        (" ", 90, "end"),
        ("-", 91, "-- a"),
        ("+", 91, "++ b"),
    ]
    assert count_changes(DIFF) == (2, 2)


def test_a_remark_before_the_first_hunk_is_not_hidden() -> None:
    assert kinds("new mode 100755\n" + DIFF)[0] == ("", 0, "new mode 100755")


def test_a_diff_is_read_only_as_far_as_it_is_looked_at() -> None:
    endless = DIFF + "+x\n" * 2_000_000
    assert len(list(islice(read_diff(endless), 3))) == 3
    fold = ActionFold(endless, 40, is_diff=True)
    fold.ensure(10)
    assert len(fold.rows) == 10


ENDS = Ends(8, 4)


def drawn(diff: str, path: str = "a.py", width: int = 60) -> list[str]:
    """What the rows of a folded diff say, in colours or not."""
    canvas = Canvas(width, palette_of(DARK.name), Languages())
    rows = draw_diff(path, diff, canvas, ENDS)
    return ["".join(piece.text for piece in row).rstrip() for row in rows]


def long_diff(count: int) -> str:
    return "@@ -1,0 +1,9 @@\n" + "".join(f"+line{number} = {number}\n" for number in range(count))


def test_of_a_long_diff_the_first_and_the_last_lines_are_shown_with_their_numbers() -> None:
    rows = drawn(long_diff(300))
    assert rows[0] == "  1 + line0 = 0"
    assert rows[7:10] == ["  8 + line7 = 7", "… 288 lines", "297 + line296 = 296"]
    assert rows[-1] == "300 + line299 = 299"
    assert len(rows) == 13
    assert drawn(long_diff(14))[8] == "… 2 lines"
    assert len(drawn(long_diff(13))) == 13
    assert not any("…" in row for row in drawn(long_diff(13))), "the note would take its row"


def test_hunks_between_the_ends_of_a_diff_are_no_lines_of_it() -> None:
    rows = drawn("".join(f"@@ -{n},1 +{n},1 @@\n-old\n+new\n" for n in range(10, 30)))
    assert rows[2] == " ⋮"
    note = rows.index("… 31 lines")
    assert len([row for row in rows if "old" in row or "new" in row]) == 40 - 31
    assert [rows[note - 1], rows[note + 1]] == ["12 + new", "28 + new"]


def test_a_line_that_takes_many_rows_leaves_the_other_end_in_view() -> None:
    wide = "@@ -1,0 +1,9 @@\n+" + "x " * 900 + "\n" + "+y\n" * 20 + "+" + "z " * 900 + "\n"
    rows = drawn(wide)
    assert rows[0].startswith(" 1 + x x")
    assert rows[8] == "… 20 lines"
    assert rows[9].startswith("22 + z z")
    assert len(rows) == 13
    assert drawn("@@ -1,0 +1 @@\n+" + "x " * 900)[8] == "…"


def test_the_last_lines_of_a_diff_have_the_colours_that_they_have_in_the_whole() -> None:
    """They may begin within a text that was begun far above."""
    diff = long_diff(200) + '+"""A text\n' + "+of many\n" * 12 + '+lines."""\n+return None\n'
    canvas = Canvas(60, palette_of(DARK.name), Languages())
    draw_diff("a.py", diff, canvas)
    canvas.languages.load_missing()
    folded, whole = draw_diff("a.py", diff, canvas, ENDS), draw_diff("a.py", diff, canvas)
    assert folded[-4:] == whole[-4:]
    assert folded[:8] == whole[:8]
    assert pieces(folded[-4:], "return").style != pieces(folded[-4:], "of many").style


def test_code_in_a_diff_is_coloured_on_the_background_of_its_kind() -> None:
    rows = draw("a.py")
    palette = palette_of(DARK.name)
    keyword = pieces(rows, "return")
    assert keyword.style is not None
    assert keyword.style.color == palette.keyword.color
    assert keyword.style.bgcolor == palette.removed_surface.bgcolor
    assert pieces(rows, "def").style == palette.keyword


def test_an_unknown_language_keeps_the_colours_of_the_kinds() -> None:
    palette = palette_of(DARK.name)
    removed = pieces(draw("a.no-such-language"), "return")
    assert removed.style is not None
    assert removed.style.color == palette.removed.color


def test_without_backgrounds_the_kinds_are_told_apart_by_their_text() -> None:
    palette = palette_of(ANSI.name)
    assert palette.added_surface.bgcolor == palette.base.bgcolor
    added = pieces(draw("a.py", ANSI.name), "metres}")
    assert added.style is not None
    assert added.style.color == palette.added.color


def test_the_language_is_known_by_the_ending_or_the_whole_name() -> None:
    assert language_of("src/a.test.ts") == ".ts"
    assert language_of("build/Makefile") == "Makefile"


def test_files_that_are_no_text_are_counted_without_lines() -> None:
    def told(changed: Changed) -> str:
        return "".join(each.text for each in draw_changed(changed, canvas)).strip()

    canvas = Canvas(80, palette_of(DARK.name), Languages())
    assert told(Changed(2, 12, 3)) == "+12 -3 in 2 files"
    assert told(Changed(2, 0, 0)) == "2 files changed"
