"""How a tree is drawn: its runs of records, its branch points, and what leads to the present.

A compaction and a clear start a new context, but for people they continue what they replaced:
they are shown hanging off the end of the archive that they made.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from agent_tui.core.records import MESSAGE_ROLES
from agent_tui.history.tree.record_links import ROOT, Tree

_GOES_ON = ("compaction", "clear")


class Intervals:
    """Places that are one path: whole stretches of numbers, oldest first."""

    def __init__(self, stretches: Iterable[tuple[int, int]]) -> None:
        self._stretches = sorted(stretches)
        self._starts = [start for start, _ in self._stretches]

    def __contains__(self, place: object) -> bool:
        assert isinstance(place, int)
        index = bisect_right(self._starts, place) - 1
        return index >= 0 and place <= self._stretches[index][1]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._stretches)

    def count_to(self, place: int) -> int:
        """How many places of the path come up to one that is on it, itself included."""
        total = 0
        for start, end in self._stretches:
            if start > place:
                break
            total += min(end, place) - start + 1
        return total


class TreeShape:
    """Runs and branch points of a tree as it is shown.

    Attributes:
        live: the number of the source that is the live log.
        leaf: the place where the live log's next record hangs.
        lineage: what led to the present, compacted contexts included.
        context: the active path of the live log.
        copies: places where a compaction repeats a message that it kept.
    """

    def __init__(self, tree: Tree, live: int) -> None:
        self.tree = tree
        self.live = live
        self.leaf = tree.leaves_of[live]
        self._moved = dict(self._continuations())
        parents = tree.parents
        self._real_starts = [p for p, parent in enumerate(parents) if parent != p - 1 or not p]
        self._starts = sorted({*self._real_starts, *self._moved})
        self._starts = [p for p in self._starts if self.parent(p) != p - 1 or not p]
        self._jumps: dict[int, list[int]] = {}
        for place in self._starts:
            self._jumps.setdefault(self.parent(place), []).append(place)
        self._forks = sorted(place for place in self._jumps if place != ROOT)
        roles = tree.roles
        self._texts = [p for p, role in enumerate(roles) if role in MESSAGE_ROLES]
        self._usages = sorted(tree.token_counts)
        self.lineage = Intervals(self._walk(self.leaf, self._starts, real=False))
        self.context = Intervals(self._walk(self.leaf, self._real_starts, real=True))
        self.copies = frozenset(self._find_copies())

    def _continuations(self) -> Iterator[tuple[int, int]]:
        """Compactions and clears, each with the end of the archive that it made."""
        tree = self.tree
        ends = {
            (source.session_id, source.archive): leaf
            for source, leaf in zip(tree.sources, tree.leaves_of, strict=True)
            if source.archive
        }
        for place, act in tree.acts.items():
            if act in _GOES_ON:
                source = tree.source_of(place)
                end = ends.get((source.session_id, tree.archive_of(place)), ROOT)
                if ROOT < end < place:
                    yield place, end

    def forget_compacted(self) -> None:
        """Take out of the context what an agent keeps in its log though it was compacted."""
        compactions = [p for p, act in self.tree.acts.items() if act == "compaction"]
        last = max((place for place in compactions if place in self.context), default=ROOT)
        if last > ROOT:
            stretches = ((max(start, last), end) for start, end in self.context if end >= last)
            self.context = Intervals(stretches)

    def parent(self, place: int) -> int:
        """What a place is shown to hang off."""
        moved = self._moved.get(place)
        return self.tree.parents[place] if moved is None else moved

    def children(self, place: int) -> list[int]:
        """What is shown to hang off a place, oldest first."""
        following = place + 1
        jumps = self._jumps.get(place, ())
        if following < len(self.tree) and self.parent(following) == place:
            return sorted({following, *jumps})
        return list(jumps)

    def segment_end(self, place: int) -> int:
        """The last place that follows without a branch."""
        index = bisect_right(self._starts, place)
        end = (self._starts[index] if index < len(self._starts) else len(self.tree)) - 1
        fork = bisect_left(self._forks, place)
        return min(end, self._forks[fork]) if fork < len(self._forks) else end

    def speaks(self, start: int, end: int) -> bool:
        """Whether there is a message in a stretch."""
        index = bisect_left(self._texts, start)
        return index < len(self._texts) and self._texts[index] <= end

    def is_silent(self, start: int) -> bool:
        """Whether a branch is a dead end in which nobody ever spoke."""
        end = self.segment_end(start)
        return not self.speaks(start, end) and not self.children(end)

    def leaf_under(self, place: int) -> int:
        """Where the newest branch from a place ends; the live leaf where it leads there."""
        while True:
            end = self.segment_end(place)
            if place <= self.leaf <= end:
                return self.leaf
            children = self.children(end)
            if not children:
                return end
            place = next((c for c in children if c in self.lineage), children[-1])

    def tokens_at(self, place: int) -> int:
        """What the last usage on the path to a place says; 0 without one."""
        while place > ROOT:
            start = self._real_starts[bisect_right(self._real_starts, place) - 1]
            index = bisect_right(self._usages, place) - 1
            if index >= 0 and self._usages[index] >= start:
                return self.tree.token_counts[self._usages[index]]
            place = self.tree.parents[start]
        return 0

    def usage_after(self, place: int) -> int:
        """The usage record that tells of an answer; the place itself where there is none."""
        index = bisect_right(self._usages, place)
        if index < len(self._usages) and self._usages[index] <= place + 2:
            return self._usages[index]
        return place

    def end_of_change(self, place: int) -> int:
        """Where the context is complete that a change began: behind what a compaction kept."""
        if self.tree.act(place) != "compaction":
            return place
        end = place
        for later in range(place + 1, self.line_end(place) + 1):
            role, origin = self.tree.role(later), self.tree.origin(later)
            if role == "_usage":
                return later
            if role in MESSAGE_ROLES and later not in self.copies and origin != "compaction":
                break
            if role == "_checkpoint" and later > place + 1:
                break
            end = later
        return end

    def line_end(self, place: int) -> int:
        """The last place of the run of records that a place is in, as they stand in their log."""
        index = bisect_right(self._real_starts, place)
        return (self._real_starts[index] if index < len(self._real_starts) else len(self.tree)) - 1

    def _walk(self, leaf: int, starts: list[int], *, real: bool) -> Iterator[tuple[int, int]]:
        while leaf > ROOT:
            start = starts[bisect_right(starts, leaf) - 1]
            yield start, leaf
            leaf = self.tree.parents[start] if real else self.parent(start)

    def _find_copies(self) -> Iterator[int]:
        tree = self.tree
        compactions = sorted(p for p, act in tree.acts.items() if act == "compaction")
        if not compactions:
            return
        seen: dict[str, int] = {}
        for place in self._texts:
            seen.setdefault(tree.uuid(place), place)
        for place in compactions:
            for later in range(place + 1, len(tree)):
                if tree.role(later) not in MESSAGE_ROLES or tree.origin(later) == "compaction":
                    continue
                if seen[tree.uuid(later)] == later:
                    break
                yield later
