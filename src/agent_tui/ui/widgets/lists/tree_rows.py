"""The rows of a session's tree: branches as indents, edges as signs, the present emphasised.

A row is drawn from numbers alone; its words are read from disk when it comes into view.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from textual.content import Content

from agent_tui.core.format import format_age, format_count, format_tokens
from agent_tui.core.records import (
    Record,
)
from agent_tui.core.text import clean
from agent_tui.core.tree import RowKind, Standing, TreeRow
from agent_tui.history.tree.record_words import describe_record
from agent_tui.ui.widgets.lists.rows import Rows

Describe: TypeAlias = Callable[[Sequence[int]], Awaitable[Mapping[int, Record]]]
"""Reads the records at some places, off the loop."""

SIGNS: dict[RowKind, tuple[str, str]] = {
    "prompt": ("●", "$user"),
    "step": ("◦", "$assistant"),
    "tool": ("·", "$tool"),
    "checkpoint": ("◇", "$checkpoint"),
    "summary": ("≡", "$compaction"),
    "compaction": ("≡", "$compaction"),
    "user": ("↶", "$checkpoint"),
    "dmail": ("↶", "$checkpoint"),
    "undo": ("↺", "$checkpoint"),
    "redo": ("↻", "$checkpoint"),
    "restore": ("↺", "$checkpoint"),
    "clear": ("✕", "$danger"),
    "head": ("↳", "$checkpoint"),
    "record": ("·", "$faint"),
}
_BARS: dict[Standing, tuple[str, str]] = {
    "context": ("▌", "$user"),
    "lineage": ("▏", "$faint"),
    "side": (" ", ""),
}
_WITH_FACTS = 60
_SHARE_OF_TAGS = 3
_AGE_WIDTH = 9
_KEPT_RECORDS = 4_000
_AHEAD = 20


class TreeRows(Rows):
    """The virtual list; ``show_outline`` gives it rows to draw.

    Attributes:
        marked: the row that is marked for a comparison, by its place; -1 for none.
    """

    def __init__(self) -> None:
        super().__init__(empty=Content("Reading the tree…"))
        self._row: Callable[[int], TreeRow] | None = None
        self._describe: Describe | None = None
        self._records: dict[int, Record] = {}
        self._asked: set[int] = set()
        self._reading = False
        self.marked = -1

    @property
    def row(self) -> TreeRow | None:
        """The row under the cursor."""
        return self._row(self.cursor) if self._row is not None and self.count else None

    def show_outline(
        self, count: int, row: Callable[[int], TreeRow], describe: Describe, cursor: int
    ) -> None:
        """Show the rows of an outline, the cursor on one of them, in the middle of the view."""
        self._row, self._describe = row, describe
        self._records.clear()
        self._asked.clear()
        self.show_rows(count, cursor=cursor)
        top = max(0, cursor - self.size.height // 2)
        self.scroll_to(y=top, animate=False, immediate=True)

    def mark(self, place: int) -> None:
        """Mark a row, or none."""
        self.marked = place
        self.redraw()

    def draw_row(self, index: int, width: int) -> Content:
        if self._row is None:
            return Content("")
        row = self._row(index)
        record = self._records.get(row.place)
        if record is None:
            self._ask(index)
        facts = _draw_facts(row, record) if width >= _WITH_FACTS else Content("")
        tags = _draw_tags(row, width // _SHARE_OF_TAGS)
        head = _draw_head(row, width, marked=row.place == self.marked)
        room = width - head.cell_length - tags.cell_length - facts.cell_length - 1
        text = _draw_text(row, record).truncate(max(6, room), ellipsis=True, pad=True)
        return Content.assemble(head, text, " ", tags, facts)

    def _ask(self, index: int) -> None:
        """Have what is in view read soon, with a little more on both sides."""
        self._asked.add(index)
        if not self._reading:
            self._reading = True
            self.call_later(self._start_reading)

    def _start_reading(self) -> None:
        self.run_worker(self._read(), group="tree-rows", exit_on_error=False)

    async def _read(self) -> None:
        if self._row is None or self._describe is None:
            return
        describe, row = self._describe, self._row
        first = max(0, min(self._asked, default=0) - _AHEAD)
        last = min(self.count, max(self._asked, default=0) + _AHEAD)
        self._asked.clear()
        places = {row(index).place for index in range(first, last)} - self._records.keys()
        try:
            found = await describe(sorted(places))
        finally:
            self._reading = False
        if describe is not self._describe:
            return
        if len(self._records) > _KEPT_RECORDS:
            self._records.clear()
        self._records.update(found)
        self.redraw()


def draw_tree_heads(width: int) -> Content:
    """The names of the columns of figures, where there is room for them."""
    if width < _WITH_FACTS:
        return Content("")
    return Content(f"{'   PROMPT':<{width - 8 - _AGE_WIDTH}}{'TOKENS':>7}{'WHEN':>{_AGE_WIDTH}} ")


def _draw_head(row: TreeRow, width: int, *, marked: bool) -> Content:
    """The bar of what leads to the present, the lines of the branches around, and the sign."""
    bar, bar_style = _BARS[row.trunk]
    depth = min(row.depth, max(2, width // 6))
    guides = _draw_rails(row, depth)
    sign, style = SIGNS[row.kind]
    if row.standing == "side":
        style = "$muted"
    return Content.assemble(
        (bar, bar_style),
        (guides, "$faint"),
        ("◎" if marked else sign, "$attention" if marked else style),
        " ",
    )


def _draw_rails(row: TreeRow, depth: int) -> str:
    """The lines of the branches around, the innermost last; one ends where nothing follows it."""
    rails = []
    for column in range(row.depth - depth, row.depth):
        goes_on = bool(row.rails >> column & 1)
        if row.opens and column == row.depth - 1:
            rails.append("├─" if goes_on else "└─")
        else:
            rails.append("│ " if goes_on else "  ")
    return "".join(rails)


def _draw_text(row: TreeRow, record: Record | None) -> Content:
    words = describe_record(record) if record is not None else "…"
    style = "$muted"
    if row.kind == "prompt":
        style = {"context": "$foreground", "lineage": "$foreground", "side": "$muted"}[row.standing]
    elif row.kind == "step" and row.standing == "context":
        style = "$foreground"
    if "live" in row.leaves:
        style = "bold $foreground"
    label = Content.styled(f"[{clean(row.label)}] ", "$checkpoint bold") if row.label else ""
    return Content.assemble(label, Content.styled(words, style))


def _draw_tags(row: TreeRow, room: int) -> Content:
    """The logs that end in a row: by their names where there is room for them, else counted."""
    now = Content.styled("◂ now " if "live" in row.leaves else "", "bold $ok")
    others = [leaf for leaf in row.leaves if leaf != "live"]
    archives = [leaf.removeprefix("archive ") for leaf in others if leaf.startswith("archive ")]
    ids = [leaf for leaf in others if not leaf.startswith("archive ")]
    titles = zip_longest(ids, row.leaf_titles, fillvalue="")
    sessions = [clean(f"“{title}”" if title else leaf) for leaf, title in titles]
    named = Content.assemble(
        now,
        (name_all("archive", archives), "$faint"),
        (name_all("session", sessions), "$tool"),
    )
    if named.cell_length <= room:
        return named
    return Content.assemble(
        now,
        (_count_all("archive", archives), "$faint"),
        (_count_all("session", sessions), "$tool"),
    )


def name_all(noun: str, names: Sequence[str]) -> str:
    """Names behind their noun, with a blank: ``archive 1 ``, ``archives 1, 4 ``."""
    nouns = format_count(len(names), noun).partition(" ")[2]
    return f"{nouns} {', '.join(names)} " if names else ""


def _count_all(noun: str, names: Sequence[str]) -> str:
    return f"{format_count(len(names), noun)} " if len(names) > 1 else name_all(noun, names)


def _draw_facts(row: TreeRow, record: Record | None) -> Content:
    tokens = format_tokens(row.tokens) if row.tokens else ""
    age = format_age(record.stamp.at) if record is not None else ""
    return Content.styled(f"{tokens:>7}{age:>{_AGE_WIDTH}} ", "$faint")
