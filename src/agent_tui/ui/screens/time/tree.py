"""One tree of everything that a session ever was: its log, its archives, its forks."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.text import clean, first_line
from agent_tui.core.tree import Detail, TreeRow
from agent_tui.history.exchanges import Exchange, exchanges_back
from agent_tui.history.tree.record_words import describe_record
from agent_tui.resources import stylesheet
from agent_tui.ui.commands.table import name_keys_of_hint
from agent_tui.ui.screens.dialogs.panel import PANEL_SHEETS, WITH_PREVIEW, Panel
from agent_tui.ui.screens.time.compare import CompareScreen
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.lists.tree_rows import TreeRows, draw_tree_heads
from agent_tui.ui.widgets.panes.preview import PastPreview

if TYPE_CHECKING:
    from agent_tui.history.tree.session_tree import SessionTree
    from agent_tui.history.view import SessionView
    from agent_tui.ui.screens.time.lead import Lead

TreeAct: TypeAlias = Literal[
    "branch", "switch", "fork", "label", "summarise", "undo", "redo", "leave"
]
"""What to do in the tree; ``leave`` once the session was changed from there."""
PRESENT = -1
"""Where a tree begins when nobody asked for another place."""

_DETAILS: tuple[Detail, ...] = ("turns", "steps", "records")


@dataclass(frozen=True, slots=True)
class TreeChoice:
    """What the user wants done, and where; ``detail`` lets the screen be shown again as it was."""

    act: TreeAct
    tree: SessionTree
    row: TreeRow
    detail: Detail


class TreeScreen(Panel[TreeChoice]):
    """The tree of a session; dismissed with an operation on it, or None.

    Args:
        view: the session.
        lead: shows what a row leads to.
        can_fork: whether a session of its own can be made out of a row, which changes nothing here.
        at: the place to begin at, or the id of an entry.
        detail: how far it is folded at first.
        told: what was just done, to be said.
    """

    CSS_PATH = [*PANEL_SHEETS, stylesheet("widgets/preview.tcss")]
    AUTO_FOCUS = "TreeRows"
    HORIZONTAL_BREAKPOINTS = WITH_PREVIEW
    BINDINGS = [
        Binding("enter", "open_row", "view", key_display="Enter"),
        Binding("b", "act('branch')", "branch", key_display="b"),
        Binding("r", "act('switch')", "switch", key_display="r"),
        Binding("f", "fork", "fork", key_display="f"),
        Binding("c", "compare", "compare", key_display="c"),
        Binding("l", "act('label')", "label", key_display="l"),
        Binding("s", "scrub", "replay from here", key_display="s", show=False),
        Binding("d", "fold", "more or less detail", key_display="d", show=False),
        Binding("u", "act('undo')", "undo", key_display="u"),
        Binding("U,shift+u", "act('redo')", "redo", key_display="U", show=False),
        Binding("m", "act('summarise')", "summarise the branch", key_display="m", show=False),
        Binding("space", "mark", "mark to compare", key_display="Space", show=False),
        Binding(
            "right_square_bracket", "next_branch(1)", "next branch", key_display="[ ]", show=False
        ),
        Binding("left_square_bracket", "next_branch(-1)", show=False),
    ]
    ABOUT_ROWS = frozenset(
        {"open_row", "act", "fork", "compare", "scrub", "fold", "mark", "next_branch"}
    )

    def __init__(
        self,
        view: SessionView,
        lead: Lead,
        *,
        can_fork: bool = False,
        at: int | str = PRESENT,
        detail: Detail = "turns",
        told: str = "",
    ) -> None:
        super().__init__()
        self._view = view
        self._lead = lead
        self._can_fork = can_fork
        self._at = at
        self._detail: Detail = detail
        self._told = told
        self._tree_shown: SessionTree | None = None
        self._can_undo = True
        self._marked: TreeRow | None = None
        self._rows = TreeRows()
        self._preview = PastPreview(self._last_said)

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Fitted(self._draw_heads, id="heads")
        yield Horizontal(self._rows, self._preview, id="beside")
        yield self.key_hints()

    async def on_resize(self) -> None:
        self.call_after_refresh(self.draw_heads)  # the rows have a width then

    def _draw_heads(self, width: int) -> Content:
        return draw_tree_heads(self._rows.scrollable_content_region.width or width - 1)

    @on(Rows.Highlighted, "TreeRows")
    def _follow_cursor(self) -> None:
        self.refresh_bindings()
        if (row := self._rows.row) is not None:
            tokens = f" · {format_tokens(row.tokens)} tokens" if row.tokens else ""
            heading = Content.assemble(("Until here", "bold"), (tokens, "$muted"))
            self._preview.show_place(row.end, heading)

    async def _last_said(self, place: int) -> Sequence[Exchange]:
        if (tree := self._tree_shown) is None:
            return ()
        return await asyncio.to_thread(lambda: exchanges_back(tree.records_back(place), 1))

    def on_mount(self) -> None:
        self.show_heading("Tree", self._view.title)
        if self._told:
            self.call_after_refresh(self.tell, self._told)
        self._load()

    @work(exclusive=True, group="tree")
    async def _load(self) -> None:
        tree = None if self._view.tree_refusal else await self.attempt(self._view.tree())
        if tree is None:
            refusal = self._view.tree_refusal
            again = "The tree could not be read. Go back and try again."
            self._rows.show_empty(Content(refusal or again))
            return
        self._tree_shown = tree
        if tree.warning:
            self.tell(tree.warning)
        self._can_undo = await asyncio.to_thread(self._lead.find_can_undo)
        self._show(await self._find_place(tree))

    async def _find_place(self, tree: SessionTree) -> int:
        if isinstance(self._at, str):
            place = await self.attempt(asyncio.to_thread(tree.place_of, self._at))
        else:
            place = self._at if self._at > PRESENT else None
        return tree.present if place is None else place

    def _show(self, place: int) -> None:
        """Draw the tree as far folded as it is now, with the cursor on a place."""
        tree = self._tree_shown
        if tree is None:
            return
        outline = tree.outline(self._detail)
        self._rows.show_empty(Content("No messages yet: the tree begins with a prompt."))
        self._rows.show_outline(len(outline), outline.row, tree.describe, outline.row_of(place))
        archives = tree.archive_count
        key = name_keys_of_hint(self.app, "press {tree-compare:c} to compare")
        self.show_heading(
            "Tree",
            first_line(self._view.title, 40),
            format_count(tree.branch_count, "branch", "branches") if tree.branch_count else "",
            format_count(archives, "archive") if archives else "",
            f"{len(tree.left_out)} left out" if tree.left_out else "",
            "" if self._detail == "turns" else f"every {self._detail[:-1]}",
            *(("1 marked", key) if self._marked else ()),
        )

    def has_rows(self) -> bool:
        return self._rows.row is not None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "fork" and not self._can_fork:
            return False
        if action == "act" and self._view.read_only:
            return False
        return super().check_action(action, parameters)

    def offers(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Nothing can be compared with itself, nor switched to where the session is already."""
        tree, row = self._tree_shown, self._rows.row
        if tree is None or row is None:
            return True
        if action == "compare":
            return tree.leaf_of(row) != self._other_leaf(tree)
        if action == "act" and parameters == ("switch",):
            return bool(row.session_id) or tree.leaf_of(row) != tree.present
        return action != "act" or parameters != ("undo",) or self._can_undo

    def _other_leaf(self, tree: SessionTree) -> int:
        """The end of the branch that a row is compared with: the marked one, or the present."""
        return tree.leaf_of(self._marked) if self._marked else tree.present

    @on(Rows.Chosen)
    def action_open_row(self) -> None:
        if self._tree_shown is not None and (row := self._rows.row) is not None:
            self._open(self._tree_shown, row)

    @work(exclusive=True, group="tree-look")
    async def _open(self, tree: SessionTree, row: TreeRow) -> None:
        title = f"As it was after “{await self._call_it(tree, row)}”"
        if await self.attempt(self._lead.moment(tree, row, title)):
            self.dismiss(TreeChoice("leave", tree, row, self._detail))

    async def _call_it(self, tree: SessionTree, row: TreeRow) -> str:
        """A row in a few words, for headings."""
        record = (await tree.describe([row.place])).get(row.place)
        words = row.label or (describe_record(record) if record is not None else "this")
        return first_line(words, 40)

    def action_act(self, act: TreeAct) -> None:
        """Dismiss with an operation; whoever showed the screen carries it out."""
        tree, row = self._tree_shown, self._rows.row
        if tree is None or row is None:
            return
        if act in ("label",) and row.session_id:
            key = name_keys_of_hint(self.app, "Press {tree-branch:b} to open it.")
            self.tell(f"This row belongs to session {clean(row.session_id)}. {key}")
            return
        self.dismiss(TreeChoice(act, tree, row, self._detail))

    def action_fork(self) -> None:
        """Dismiss with the request for a fork that ends at this row."""
        self.action_act("fork")

    def action_fold(self) -> None:
        """Move to the next level of detail; the cursor stays where it was."""
        row = self._rows.row
        self._detail = _DETAILS[(_DETAILS.index(self._detail) + 1) % len(_DETAILS)]
        if row is not None:
            self._fold(row.place)

    @work(exclusive=True, group="tree")
    async def _fold(self, place: int) -> None:
        if self._tree_shown is not None:
            await self._tree_shown.prepare(self._detail)
            self._show(place)

    def action_next_branch(self, step: int) -> None:
        """Go to the next (or previous) row at which a branch begins."""
        if self._tree_shown is None:
            return
        rows = self._tree_shown.outline(self._detail).branch_rows()
        cursor = self._rows.cursor
        index = bisect_right(rows, cursor) if step > 0 else bisect_left(rows, cursor) - 1
        if 0 <= index < len(rows):
            self._rows.cursor = rows[index]

    def action_mark(self) -> None:
        """Mark the row for a comparison, or unmark it."""
        row = self._rows.row
        if row is None:
            return
        self._marked = None if self._marked and self._marked.place == row.place else row
        self._rows.marked = self._marked.place if self._marked else -1
        self._show(row.place)

    def action_compare(self) -> None:
        """Show the branch of this row beside the marked one, or beside the present."""
        tree, row = self._tree_shown, self._rows.row
        if tree is None or row is None:
            return
        other = self._marked
        if tree.leaf_of(row) == self._other_leaf(tree):
            what = "The marked row is on this branch too" if other else "This is the current branch"
            template = "Press {tree-compare:c} on a row of another branch."
            self.tell(f"{what}. {name_keys_of_hint(self.app, template)}")
            return
        self._compare(tree, row, other)

    @work(exclusive=True, group="tree-look")
    async def _compare(self, tree: SessionTree, row: TreeRow, other: TreeRow | None) -> None:
        left = await self._call_it(tree, row)
        right = await self._call_it(tree, other) if other else "now"
        screen = CompareScreen(lambda: tree.compare(row, other, (left, right)))
        await self.app.push_screen_wait(screen)

    @work(exclusive=True, group="tree-look")
    async def action_scrub(self) -> None:
        """Replay the session step by step, from this row on."""
        tree, row = self._tree_shown, self._rows.row
        if tree is not None and row is not None:
            await self.attempt(self._lead.scrub(tree, row.place))
