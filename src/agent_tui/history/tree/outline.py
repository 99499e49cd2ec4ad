"""A tree folded to rows: the trunk straight down, every branch that was left beside its parting."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from agent_tui.core.origins import ASKED, Origin
from agent_tui.core.records import MESSAGE_ROLES
from agent_tui.core.tree import Detail, RowKind, Standing, TreeRow
from agent_tui.history.records.repeats import FAR, SILENT, says_again
from agent_tui.history.tree.record_links import ROOT
from agent_tui.history.tree.shape import TreeShape

_DEEPEST = 200
_NO_ROW = -1
_WITH_ROW: frozenset[Origin | None] = ASKED | {"branch"}
"""The origins of user messages that have a row at every level of detail."""
_KINDS: dict[str, RowKind] = {
    "assistant": "step",
    "tool": "tool",
    "_checkpoint": "checkpoint",
    "_branch_summary": "summary",
    "_compaction": "compaction",
    "_head": "head",
}
_REVERTS: dict[str, RowKind] = {
    "dmail": "dmail",
    "undo": "undo",
    "redo": "redo",
    "restore": "restore",
    "clear": "clear",
}
_DEEPEST_RAIL = 63


class Outline:
    """The rows of a tree at one level of detail, in the order in which they are shown."""

    def __init__(self, shape: TreeShape, detail: Detail) -> None:
        self.detail = detail
        self._shape = shape
        self._tree = shape.tree
        self._places: array[int] = array("q")
        self._starts: array[int] = array("q")
        self._ends: array[int] = array("q")
        self._depths: array[int] = array("B")
        self._opens = bytearray()
        self._pieces: list[tuple[int, int]] = []
        self._labels = self._find_labels()
        self._wanted = self._choose()
        self._lay_out()
        self._rails = find_rails(self._depths, self._opens)
        self._trunk = array("q", (row for row, depth in enumerate(self._depths) if not depth))
        self._pieces.sort()
        self._piece_starts = [start for start, _ in self._pieces]
        self._leaves: dict[int, tuple[str, ...]] = {}
        self._titles: dict[int, tuple[str, ...]] = {}
        for leaf, name, titles in self._name_leaves():
            row = self.row_of(leaf)
            self._leaves[row] = (*self._leaves.get(row, ()), name)
            self._titles[row] = self._titles.get(row, ()) + titles

    def __len__(self) -> int:
        return len(self._places)

    def row(self, index: int) -> TreeRow:
        """One row; cheap enough to be made when it is drawn."""
        place = self._places[index]
        source = self._tree.source_of(place)
        own = self._tree.sources[self._shape.live].session_id
        return TreeRow(
            place=place,
            start=self._starts[index],
            end=self._ends[index],
            depth=self._depths[index],
            opens=bool(self._opens[index]),
            kind=self._kind(place),
            standing=self._standing(place),
            label=self._label_in(index),
            tokens=self._shape.tokens_at(self._ends[index]),
            leaves=self._leaves.get(index, ()),
            leaf_titles=self._titles.get(index, ()),
            session_id="" if source.session_id == own else source.session_id,
            rails=self._rails[index],
            trunk=self._trunk_at(index),
        )

    def row_of(self, place: int) -> int:
        """The row in whose stretch a place lies."""
        index = bisect_right(self._piece_starts, place) - 1
        return max(0, self._pieces[index][1]) if index >= 0 else 0

    def prompt_places(self) -> list[int]:
        """Where a person spoke, in the order of time."""
        tree = self._tree
        return sorted(p for p in self._places if tree.role(p) == "user" and tree.origin(p) is None)

    def branch_rows(self) -> list[int]:
        """The rows at which a side branch begins."""
        return [index for index, opens in enumerate(self._opens) if opens]

    def _kind(self, place: int) -> RowKind:
        role = self._tree.role(place)
        if role == "_revert":
            return _REVERTS.get(self._tree.act(place), "user")
        if role == "user":
            origin = self._tree.origin(place)
            if origin in ("compaction", "branch"):
                return "summary"
            return "prompt" if origin in ASKED else "record"
        return _KINDS.get(role, "record")

    def _standing(self, place: int) -> Standing:
        if place in self._shape.context:
            return "context"
        return "lineage" if place in self._shape.lineage else "side"

    def _trunk_at(self, index: int) -> Standing:
        below = bisect_left(self._trunk, index)
        return (
            self._standing(self._places[self._trunk[below]]) if below < len(self._trunk) else "side"
        )

    def _find_labels(self) -> dict[int, str]:
        labels = self._tree.labels
        if not labels:
            return {}
        found = {p: labels[u] for p, u in enumerate(self._tree.uuids) if u in labels}
        return {p: label for p, label in found.items() if p not in self._shape.copies}

    def _label_in(self, index: int) -> str:
        label = self._labels.get(self._places[index], "")
        if label or not self._labels:
            return label
        within = range(self._starts[index], self._places[index])
        return next((self._labels[place] for place in within if place in self._labels), "")

    def _name_leaves(self) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        tree, live = self._tree, self._shape.live
        own = tree.sources[live].session_id
        for number, (source, leaf) in enumerate(zip(tree.sources, tree.leaves_of, strict=True)):
            if number == live:
                yield leaf, "live", ()
            elif source.session_id == own:
                yield leaf, f"archive {source.archive}", ()
            elif not source.archive:
                yield leaf, source.session_id, (source.title,)

    def _choose(self) -> Sequence[int]:
        """The places that get a row of their own."""
        tree, copies = self._tree, self._shape.copies
        if self.detail == "records":
            return range(len(tree))
        wanted = {"_compaction", "_revert", "_head", "_branch_summary", "user"}
        if self.detail == "steps":
            wanted.add("assistant")
        chosen = [
            place
            for place, role in enumerate(tree.roles)
            if role in wanted or place in self._labels
        ]
        origin = tree.origin
        return [
            place
            for place in chosen
            if place not in copies
            and (tree.role(place) != "user" or origin(place) in _WITH_ROW)
            and (place in self._labels or not self._repeats(place))
        ]

    def _repeats(self, place: int) -> bool:
        """Whether a row of its own would only say once more what was undone or redone before it."""
        tree = self._tree
        act = tree.act(place)
        if act not in ("undo", "redo"):
            return False
        for _ in range(FAR):
            place = tree.parents[place]
            if place == ROOT or tree.role(place) not in SILENT:
                break
        before = tree.act(place) if place != ROOT else ""
        return says_again(act, before)

    def _lay_out(self) -> None:
        """Walk the tree: sides of a branch point first, one step in, then straight on."""
        shape = self._shape
        stack: list[tuple[int, int, bool, bool, int]] = []
        self._push(stack, shape.children(ROOT), 0, _NO_ROW)
        while stack:
            start, depth, opens, forced, owner = stack.pop()
            end = shape.segment_end(start)
            owner = self._lay_segment(start, end, depth, owner, opens=opens, forced=forced)
            self._push(stack, shape.children(end), depth, owner)

    def _push(
        self,
        stack: list[tuple[int, int, bool, bool, int]],
        children: list[int],
        depth: int,
        owner: int,
    ) -> None:
        if not children:
            return
        trunk = next((c for c in children if c in self._shape.lineage), children[-1])
        sides = [child for child in children if child != trunk]
        if self.detail != "records":
            for hidden in [child for child in sides if self._shape.is_silent(child)]:
                self._pieces.append((hidden, owner))
                sides.remove(hidden)
        if self._is_undone_at_once(trunk):
            self._pieces.append((trunk, owner))
        else:
            stack.append((trunk, depth, False, bool(sides), owner))
        inner = min(depth + 1, _DEEPEST)
        stack += [(child, inner, True, True, owner) for child in reversed(sides)]

    def _is_undone_at_once(self, start: int) -> bool:
        """Whether a branch holds but an undo or a redo that was undone or redone in turn."""
        return (
            self.detail != "records"
            and self._tree.act(start) in ("undo", "redo")
            and start not in self._shape.lineage
            and self._shape.is_silent(start)
        )

    def _lay_segment(
        self, start: int, end: int, depth: int, owner: int, *, opens: bool, forced: bool
    ) -> int:
        """Add the rows of a stretch; returns the row that continues where it ends."""
        wanted = self._wanted
        first, last = bisect_left(wanted, start), bisect_right(wanted, end)
        position = start
        for index in range(first, last):
            place = wanted[index]
            begin = self._with_checkpoint(place, position)
            if begin > position:
                owner, opens, forced = self._go_on(position, begin - 1, depth, owner, opens, forced)
            self._add(place, begin, depth, opens=opens)
            owner, opens, forced = len(self) - 1, False, False
            position = place + 1
            self._ends[owner] = place
        if position <= end:
            owner, _, _ = self._go_on(position, end, depth, owner, opens, forced)
        return owner

    def _go_on(
        self, start: int, end: int, depth: int, owner: int, opens: bool, forced: bool
    ) -> tuple[int, bool, bool]:
        """A stretch without a row of its own: a continuation, or the rest of the row before."""
        silent = not self._shape.speaks(start, end)
        if owner == _NO_ROW and silent and self.detail != "records":
            self._pieces.append((start, 0))
            return owner, opens, forced
        if owner == _NO_ROW or (forced and not silent):
            self._add(self._first_said(start, end), start, depth, opens=opens)
            owner, opens, forced = len(self) - 1, False, False
        elif not forced:
            self._ends[owner] = end
        self._pieces.append((start, owner))
        if self._starts[owner] == start:
            self._ends[owner] = end
        return owner, opens, forced

    def _first_said(self, start: int, end: int) -> int:
        roles, origin = self._tree.roles, self._tree.origin
        spoken = (p for p in range(start, end + 1) if roles[p] in MESSAGE_ROLES)
        return next((p for p in spoken if origin(p) != "checkpoint"), start)

    def _with_checkpoint(self, place: int, earliest: int) -> int:
        """Where the stretch of a prompt begins: at the checkpoint before it."""
        tree = self._tree
        if self.detail == "records" or tree.role(place) not in ("user", "assistant"):
            return place
        while place > earliest and (
            tree.role(place - 1) == "_checkpoint" or tree.origin(place - 1) == "checkpoint"
        ):
            place -= 1
        return place

    def _add(self, place: int, start: int, depth: int, *, opens: bool) -> None:
        self._pieces.append((start, len(self)))
        self._places.append(place)
        self._starts.append(start)
        self._ends.append(place)
        self._depths.append(depth)
        self._opens.append(opens)


def find_rails(depths: Sequence[int], opens: Sequence[int]) -> array[int]:
    """For each row, which of the branches around it continue below it, as bits by their depth.

    A branch continues where a row of it follows, or another one opens from it, before the rows come
    back to what lies further out. Depths beyond the last bit count as that one.
    """
    rails = array("Q", bytes(8 * len(depths)))
    below = 0
    for index in range(len(depths) - 1, -1, -1):
        rails[index] = below
        depth = min(depths[index], _DEEPEST_RAIL)
        column = depth - 1 if opens[index] and depth else depth  # a branch hangs off the one before
        below = below & ((1 << depth) - 1) | 1 << column
    return rails
