"""The tree of one session for front-ends: rows to draw, and the records behind each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.errors import SessionError
from agent_tui.core.format import format_count, format_too_big
from agent_tui.core.memory import gc_paused
from agent_tui.core.messages import text_of
from agent_tui.core.records import Message, Record, UserMessage
from agent_tui.core.tree import Comparison, Detail, TreePlace, TreeRow
from agent_tui.history.records.compare import compare_branches
from agent_tui.history.records.contents import ReadLog
from agent_tui.history.records.indexed_records import BIG_BYTES
from agent_tui.history.tree.logs import Source, leave_out
from agent_tui.history.tree.outline import Outline
from agent_tui.history.tree.paths import LogPaths, Paths, PlacedPaths, RecordPaths
from agent_tui.history.tree.placed_records import PlacedRecords
from agent_tui.history.tree.record_links import ROOT, Tree, build_tree
from agent_tui.history.tree.record_tree import RecordTree, build_record_tree
from agent_tui.history.tree.shape import TreeShape
from agent_tui.importers.imported import ImportedBranch, ImportedCompaction
from agent_tui.importers.listing import stamp_of
from agent_tui.sessions.replay import Entry, SessionState, read_log

WHOLE_BYTES = 256 << 20
"""Up to this size what cannot be read in parts is read whole: it takes a few seconds."""

_MOST_BACK = 1_000
_SLICE = 40


class SessionTree:
    """One tree over the live log of a session, its archives and its forks, as they were when read.

    Attributes:
        shape: runs, branch points and what leads to the present.
        paths: the records on the way to any place.
        compactions: of agents that keep compacted messages in their log, by archive.
        left_out: what lies in place of an archive and is no regular file: its name.
    """

    def __init__(
        self,
        tree: Tree,
        live: int,
        paths: Paths | None,
        state: SessionState,
        *,
        count: Callable[[Message], int],
        compactions: Mapping[int, ImportedCompaction] | None = None,
        left_out: Sequence[str] = (),
    ) -> None:
        self.tree = tree
        self.left_out = left_out
        self.compactions = compactions or {}
        self._count = count
        self.shape = TreeShape(tree, live)
        if compactions:
            self.shape.forget_compacted()
        self.paths = paths or LogPaths(self.shape, state)
        self._outlines: dict[Detail, Outline] = {}
        self.outline("turns")

    @classmethod
    def of_logs(
        cls,
        sources: Sequence[Source],
        live: int,
        state: SessionState,
        count: Callable[[Message], int],
    ) -> SessionTree:
        """Read the logs; takes long for big ones, so call it in a thread."""
        kept, live, left_out = leave_out(sources, live)
        with gc_paused(_size_of(kept)):
            return cls(build_tree(kept), live, None, state, count=count, left_out=left_out)

    @classmethod
    def of_records(
        cls,
        logs: Sequence[tuple[Source, Sequence[Record]]],
        compactions: Mapping[int, ImportedCompaction],
        count: Callable[[Message], int],
    ) -> SessionTree:
        """The tree of a session that is in memory; the live log comes last."""
        tree = build_record_tree(logs)
        paths, live = RecordPaths(tree), len(logs) - 1
        return cls(tree, live, paths, SessionState(), count=count, compactions=compactions)

    @classmethod
    def of_files(cls, sources: Sequence[Source], live: int = -1) -> SessionTree:
        """The tree of logs of ours, the last one live unless another is named.

        Where they are big, their records stay on disk.
        """
        kept, live, left_out = leave_out(sources, live % len(sources))
        counter = TokenCounter()
        with gc_paused(_size_of(kept)):
            tree = build_tree(kept)
            if tree.size < BIG_BYTES:
                state, count = read_log(kept[live].path), counter.count_message
                return cls(tree, live, None, state, count=count, left_out=left_out)
            paths, count = PlacedPaths(tree), counter.quick_message_count
            return cls(tree, live, paths, SessionState(), count=count, left_out=left_out)

    @property
    def session_id(self) -> str:
        """The session whose live log is the present."""
        return self.tree.sources[self.shape.live].session_id

    @property
    def is_imported(self) -> bool:
        """Whether another agent wrote the session."""
        return isinstance(self.tree, RecordTree)

    @property
    def present(self) -> int:
        """The place where the live log ends."""
        return self.shape.leaf

    @property
    def archive_count(self) -> int:
        """How many archives the tree is made of."""
        return sum(bool(source.archive) for source in self.tree.sources)

    @property
    def warning(self) -> str:
        """What was left out, counted and named; empty where nothing was."""
        if not self.left_out:
            return ""
        files = format_count(len(self.left_out), "log")
        names = ", ".join(self.left_out)
        return f"{files} left out, not a regular file: {names}."

    def entry_id(self, row: TreeRow) -> str | None:
        """The id of the record that a row is about; None where its log gave it none."""
        return self.tree.uuids[row.place]

    def name_of(self, row: TreeRow) -> str:
        """What commands call the record that a row is about: its id, or its place in its log."""
        return self.tree.uuid(row.place)

    @property
    def branch_count(self) -> int:
        """How many branches were left, as the folded tree shows them."""
        return len(self.outline("turns").branch_rows())

    def outline(self, detail: Detail) -> Outline:
        """The rows at a level of detail; made once, which takes a moment for very long sessions."""
        found = self._outlines.get(detail)
        if found is None:
            found = self._outlines[detail] = Outline(self.shape, detail)
        return found

    async def prepare(self, detail: Detail) -> Outline:
        """The rows at a level of detail, made off the loop."""
        return await asyncio.to_thread(self.outline, detail)

    async def describe(self, places: Sequence[int]) -> dict[int, Record]:
        """The records at a few places; those that cannot be read are left out."""
        items = await asyncio.to_thread(self.tree.read, places)
        pairs = zip(places, items, strict=True)
        return {place: item.record for place, item in pairs if isinstance(item, Entry)}

    def contents_at(self, row: TreeRow) -> ReadLog:
        """The log as it was at the end of a row. Reads the disk: call it in a thread."""
        return ReadLog.of_records(self.paths.records_to(row.end), self._count)

    def records_back(self, place: int) -> Iterator[Record]:
        """The records near a place, from it backwards, read a few at a time. Blocks."""
        most = _MOST_BACK
        while place != ROOT and most > 0:
            path: list[int] = []
            most -= _SLICE
            while place != ROOT and len(path) < _SLICE:
                path.append(place)
                place = self.tree.parents[place]
            yield from (each.record for each in self.tree.read(path) if isinstance(each, Entry))

    def _branch_point(self, row: TreeRow) -> int:
        if row.kind != "prompt":
            return row.end
        before = self.tree.parents[row.start]
        if before == ROOT:
            raise SessionError("Nothing comes before this prompt: it is where the log begins.")
        return before

    def place_of(self, uuid: str) -> int:
        """Where an entry is, by its id or the beginning of it; in the context where it is twice.

        Raises:
            SessionError: the tree has no such entry, or several ids begin like this.
        """
        places = [p for p in range(len(self.tree)) if uuid and self.tree.uuid(p).startswith(uuid)]
        exact = [place for place in places if self.tree.uuid(place) == uuid] or places
        if len({self.tree.uuid(place) for place in exact}) != 1:
            trouble = "is the beginning of several ids" if exact else "is not an entry's id"
            raise SessionError(f"{uuid!r} {trouble}. agent-tui tree ID --json lists them.")
        return next((place for place in exact if place in self.shape.context), exact[0])

    async def branch_place(self, row: TreeRow) -> TreePlace:
        """Where a branch or a fork from a row begins: before a prompt, behind anything else.

        Raises:
            SessionError: nothing comes before it.
        """
        place = await asyncio.to_thread(self._place, self._branch_point(row))
        return replace(place, prompt=await self.prompt_at(row))

    async def end_place(self, row: TreeRow) -> TreePlace:
        """Where the newest branch through a row ends."""
        return await asyncio.to_thread(self._place, self.leaf_of(row))

    def _place(self, place: int) -> TreePlace:
        tree, source = self.tree, self.tree.source_of(place)
        in_context = place in self.shape.context
        logs = zip(tree.sources, tree.leaves_of, strict=True)
        ends = (
            log.archive
            for log, leaf in logs
            if leaf == place and log.archive and log.session_id == self.session_id
        )
        return TreePlace(
            name=tree.uuid(place),
            uuid=tree.uuids[place],
            session_id=source.session_id,
            log=str(source.path),
            offset=tree.offset(place),
            archive=source.archive,
            ends=next(ends, 0),
            in_context=in_context,
            is_present=in_context and place == self.shape.leaf,
            path=() if in_context else tuple(map(tree.uuid, tree.path_to(place))),
        )

    def label_of(self, row: TreeRow) -> str:
        """The name that a person gave to the record that a row is about; else empty."""
        return self.tree.label(row.place)

    async def fork_place(self, row: TreeRow) -> TreePlace | ImportedBranch:
        """What a fork from a row is made of; raises SessionError where nothing comes before it."""
        if self.is_imported:
            return await asyncio.to_thread(self._imported_branch, row)
        return await self.branch_place(row)

    def _imported_branch(self, row: TreeRow) -> ImportedBranch:
        is_prompt = row.kind == "prompt"
        return ImportedBranch(
            path=self.tree.source_of(row.place).path,
            session_id=self.session_id,
            records=tuple(self.paths.records_to(row.place if is_prompt else row.end)),
            compactions=tuple(self.compactions.values()),
            ends_in_prompt=is_prompt,
        )

    async def prompt_at(self, row: TreeRow) -> str:
        """What the user said in a row; empty where it is not a prompt."""
        if row.kind != "prompt":
            return ""
        record = (await self.describe([row.place])).get(row.place)
        return text_of(record.content) if isinstance(record, UserMessage) else ""

    def leaf_of(self, row: TreeRow) -> int:
        """The end of the newest branch that goes through a row."""
        return self.shape.leaf_under(row.end)

    async def compare(
        self, left: TreeRow, right: TreeRow | None, titles: tuple[str, str]
    ) -> Comparison:
        """Two branches beside each other, each to its end; the right one is the present if None."""
        ends = (self.leaf_of(left), self.leaf_of(right) if right else self.shape.leaf)
        return await asyncio.to_thread(self._compare, ends, titles)

    def _compare(self, ends: tuple[int, int], titles: tuple[str, str]) -> Comparison:
        left, right = (self.paths.records_to(end) for end in ends)
        if isinstance(left, PlacedRecords) and isinstance(right, PlacedRecords):
            return _compare_placed((titles[0], left), (titles[1], right), self._count)
        return compare_branches((titles[0], left), (titles[1], right), self._count)

    async def messages_left(self, row: TreeRow) -> list[Message]:
        """What was said on the branch of a row after it parted from the present one."""
        return await asyncio.to_thread(self._messages_left, self.leaf_of(row))

    def _messages_left(self, leaf: int) -> list[Message]:
        path = self.tree.path_to(leaf)
        records = self.paths.records_to(leaf)
        return [
            record
            for place, record in zip(path, records, strict=True)
            if place not in self.shape.context and isinstance(record, Message)
        ]


def _compare_placed(
    left: tuple[str, PlacedRecords],
    right: tuple[str, PlacedRecords],
    count: Callable[[Message], int],
) -> Comparison:
    """Two branches of a big log: what both have in common is read and counted once."""
    common = left[1].common_with(right[1])
    size = max(left[1].size, right[1].size)
    if size > WHOLE_BYTES:
        raise SessionError(format_too_big("One of the branches", "compare", size, WHOLE_BYTES))
    counted: dict[int, int] = {}

    def count_once(message: Message) -> int:
        if id(message) not in counted:
            counted[id(message)] = count(message)
        return counted[id(message)]

    with gc_paused(size):
        one = list(left[1])
        other = [*one[:common], *right[1][common:]]
        return compare_branches((left[0], one), (right[0], other), count_once)


def _size_of(sources: Iterable[Source]) -> int:
    return sum(stamp_of(source.path)[0] for source in sources)
