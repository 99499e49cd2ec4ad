"""A diff that waits for approval has the colours that it has in the conversation."""

from __future__ import annotations

from textual.color import Color
from textual.content import Content

from agent_tui.ui.themes.theme import DARK
from agent_tui.ui.widgets.panes.action_colours import DiffColours
from agent_tui.ui.widgets.panes.action_fold import ActionFold
from tests.ui.stage import Stage

DIFF = (
    '--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n def a():\n     """What it does."""\n-    1\n+    2\n'
)


def rows_at(width: int) -> list[Content]:
    """The rows of the diff, folded to a width and coloured."""
    colours = DiffColours("a.py")
    assert colours.load()
    fold = ActionFold(DIFF, width, is_diff=True)
    fold.ensure(100)
    variables = Stage(theme=DARK.name).get_css_variables()
    return [colours.row(fold.rows, index, variables) for index in range(len(fold.rows))]


def inks(rows: list[Content]) -> set[Color | None]:
    """The colours of some rows, without those of blanks."""
    spans = [(row.plain[span.start : span.end], span.style) for row in rows for span in row.spans]
    return {getattr(style, "foreground", None) for text, style in spans if text.strip()}


def test_a_docstring_that_takes_two_rows_has_the_colour_of_one() -> None:
    whole, folded = rows_at(80), rows_at(16)
    assert [row.plain for row in folded[1:3]] == ['    """What it d', 'oes."""']
    assert inks(folded[1:3]) == inks(whole[1:2])
