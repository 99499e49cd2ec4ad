"""One tree over a live log, its archives and its forks: every state that the session ever had.

Logs share their beginnings byte for byte, so each record is looked up under the one it hangs off:
what two logs have in common is one path, and where they part is a branch. A revert, a clear, a
compaction, a restore or a ``_head`` is the record that opens the new branch. A record that a
compaction kept occurs twice, once in each context that it was part of.

Only what links records is held, about 150 bytes each; ``read`` fetches the records themselves.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Any

from agent_tui.core.dataclass import dataclass
from agent_tui.core.jsonl import LineReader
from agent_tui.core.memory import gc_paused
from agent_tui.core.origins import Origin, read_origin
from agent_tui.core.record_writing import role_of
from agent_tui.core.records import (
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    Record,
    RevertRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.history.records.repeats import act_of
from agent_tui.history.tree.logs import Source
from agent_tui.sessions.disk import open_regular, translate_os_errors
from agent_tui.sessions.replay import Damage, Entry, Item, parse_item

ROOT = -1
_OPENS_BRANCH = {"_revert", "_compaction", "_head"}
_TELLING = {*_OPENS_BRANCH, "_label", "_usage", "user"}


@dataclass
class Tree:
    """Every record of a few logs, each at one place; a place is a number from 0 up.

    Attributes:
        sources: the logs, in the order in which they were read.
        labels: names that people gave to records, by uuid, from all logs.
        leaves_of: for each source, the place where its next record would hang.
    """

    sources: tuple[Source, ...]
    labels: dict[str, str] = field(default_factory=dict)
    leaves_of: list[int] = field(default_factory=list)
    _parents: array[int] = field(default_factory=lambda: array("q"))
    _logs: array[int] = field(default_factory=lambda: array("L"))
    _offsets: array[int] = field(default_factory=lambda: array("Q"))
    _lengths: array[int] = field(default_factory=lambda: array("Q"))
    _roles: list[str] = field(default_factory=list)
    _uuids: list[str | None] = field(default_factory=list)
    _acts: dict[int, str] = field(default_factory=dict)
    _archives: dict[int, int] = field(default_factory=dict)
    _origins: dict[int, Origin] = field(default_factory=dict)
    _tokens: dict[int, int] = field(default_factory=dict)
    _children: dict[int, list[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._parents)

    def parent(self, place: int) -> int:
        """The place that a record hangs off; ROOT for a first record."""
        return self._parents[place]

    def children(self, place: int) -> Sequence[int]:
        """What hangs off a place (or ROOT), oldest first."""
        if not self._children and self._parents:
            for child, parent in enumerate(self._parents):
                self._children.setdefault(parent, []).append(child)
        return self._children.get(place, ())

    def path_to(self, place: int) -> list[int]:
        """The places from the first record to this one."""
        path = []
        while place != ROOT:
            path.append(place)
            place = self._parents[place]
        return path[::-1]

    def source_of(self, place: int) -> Source:
        """The log in which a record was first found."""
        return self.sources[self._logs[place]]

    def offset(self, place: int) -> int:
        """Where a record begins in the log in which it was first found."""
        return self._offsets[place]

    def length(self, place: int) -> int:
        """How many bytes a record takes in its log."""
        return self._lengths[place]

    @property
    def size(self) -> int:
        """How many bytes all records take."""
        return sum(self._lengths)

    @property
    def parents(self) -> Sequence[int]:
        """What each place hangs off, by place."""
        return self._parents

    @property
    def roles(self) -> Sequence[str]:
        """The role of each record, by place."""
        return self._roles

    def source_number(self, place: int) -> int:
        """The index of the log in which a record was first found."""
        return self._logs[place]

    def role(self, place: int) -> str:
        """The role of a record."""
        return self._roles[place]

    def origin(self, place: int) -> Origin | None:
        """Who really said a user message; None for a prompt."""
        return self._origins.get(place)

    @property
    def token_counts(self) -> Mapping[int, int]:
        """What each usage record says that the context took, by its place."""
        return self._tokens

    @property
    def acts(self) -> Mapping[int, str]:
        """The records that open a branch, by place: what ``act`` says of them."""
        return self._acts

    def archive_of(self, place: int) -> int:
        """The archive that a compaction or a revert made; 0 for every other record."""
        return self._archives.get(place, 0)

    def uuid(self, place: int) -> str:
        """The id of a record; one made from log and offset where it has none of its own."""
        own = self._uuids[place]
        return own or f"@{self._logs[place]}:{self._offsets[place]}"

    @property
    def uuids(self) -> Sequence[str | None]:
        """The id of each record that has one, by place."""
        return self._uuids

    def label(self, place: int) -> str:
        """The name that a person gave to a record, or an empty string."""
        return self.labels.get(self.uuid(place), "")

    def act(self, place: int) -> str:
        """What opened a branch here, as ``act_of`` names it; empty for other records."""
        return self._acts.get(place, "")

    def read(self, places: Iterable[int]) -> list[Item]:
        """The records at some places. Reads the disk."""
        wanted = list(places)
        descriptors: dict[int, int] = {}
        try:
            for log in {self._logs[place] for place in wanted}:
                with translate_os_errors("read", self.sources[log].path):
                    descriptors[log] = open_regular(self.sources[log].path)[0]
            return [self._read_one(descriptors[self._logs[place]], place) for place in wanted]
        finally:
            for descriptor in descriptors.values():
                os.close(descriptor)

    def _read_one(self, descriptor: int, place: int) -> Item:
        offset, length = self._offsets[place], self._lengths[place]
        line = os.pread(descriptor, length, offset).removesuffix(b"\n")
        item = parse_item(line, offset, length)
        return item or Damage(offset, length, "the log was changed since the tree was built")


def build_tree(sources: Sequence[Source]) -> Tree:
    """Read the links of every record of the logs, and join the logs where they agree.

    Raises:
        SessionNotFound, StorageError: a log cannot be read.
    """
    tree = Tree(tuple(sources))
    joints = Joints()
    for number, source in enumerate(sources):
        with translate_os_errors("read", source.path):
            descriptor, status = open_regular(source.path)
            try:
                with gc_paused(status.st_size):
                    leaf = add_log(tree, joints, number, _links(descriptor))
            finally:
                os.close(descriptor)
        tree.leaves_of.append(leaf)
    return tree


@dataclass(slots=True)
class _Link:
    """What a line says about its place; the same fields as the decoded lines have."""

    role: str
    uuid: str | None = None
    to: str | None = None
    reason: str | None = None
    target: str | None = None
    label: str | None = None
    origin: str | None = None
    archive: int | None = None
    token_count: int | None = None


@dataclass(slots=True)
class Joints:
    """What finds a record again that another log brought already.

    A record is looked for right behind the one it hangs off, where it mostly is; ``jumps`` knows
    those that are elsewhere. ``digests`` tell records without an id apart.
    """

    jumps: dict[tuple[int, object], int] = field(default_factory=dict)
    digests: dict[int, int] = field(default_factory=dict)


def add_log(
    tree: Tree, joints: Joints, number: int, links: Iterable[tuple[int, int, Any, int]]
) -> int:
    """Add the lines of one log under what is known already; returns the place of its leaf."""
    parents, logs, roles, uuids = tree._parents, tree._logs, tree._roles, tree._uuids
    offsets, lengths = tree._offsets, tree._lengths
    jumps, digests = joints.jumps, joints.digests
    leaf, count = ROOT, len(parents)
    seen: list[int] = []
    targets: dict[str | None, int] = {}  # as far as heads made it necessary to know them
    for offset, length, link, digest in links:
        uuid, role = link.uuid, link.role
        parent = leaf
        if role == "_head":
            targets.update((uuids[each], each) for each in seen)
            seen.clear()
            parent = leaf if link.to is None else targets.get(link.to, leaf)
        place = parent + 1
        if place < count and (
            parents[place] != parent
            or uuids[place] != uuid
            or (uuid is None and digests[place] != digest)
        ):
            place = jumps.get((parent, uuid or digest), count)
        if place == count:
            parents.append(parent)
            logs.append(number)
            offsets.append(offset)
            lengths.append(length)
            roles.append(role)
            uuids.append(uuid)
            count += 1
            if uuid is None:
                digests[place] = digest
            if parent != place - 1:
                jumps[parent, uuid or digest] = place
            if role in _TELLING:
                _note(tree, place, link)
        seen.append(place)
        leaf = place
    return leaf


def _note(tree: Tree, place: int, link: Any) -> None:
    """Remember what a record that is new to the tree says about the tree itself."""
    role = link.role
    if role == "_label" and link.target is not None:
        if link.label:
            tree.labels[link.target] = link.label
        else:
            tree.labels.pop(link.target, None)
    elif role == "_usage":
        if link.token_count is not None:
            tree._tokens[place] = link.token_count
    elif role == "user":
        origin = read_origin(link.origin)
        if origin is not None and origin != "human":
            tree._origins[place] = origin
    elif role in _OPENS_BRANCH:
        tree._acts[place] = act_of(role, link.reason)
        if link.archive is not None:
            tree._archives[place] = link.archive


def _links(descriptor: int) -> Iterator[tuple[int, int, Any, int]]:
    """Offset, length, link and a digest of each record of an open log; damage is passed over."""
    decode, failures = _decoder()
    for offset, length, line in LineReader(descriptor).lines():
        if line is None:
            continue
        try:
            link = decode(line)
        except failures:
            link = _slow_link(line, offset, length)
        if link is not None:
            yield offset, length, link, 0 if link.uuid else hash(line)


def _slow_link(line: bytes, offset: int, length: int) -> _Link | None:
    """The link of a line that only the lenient reader takes: padded, or with odd fields."""
    item = parse_item(line, offset, length)
    return link_of(item.record) if isinstance(item, Entry) else None


def link_of(record: Record) -> _Link:
    """What a record says about its place."""
    link = _Link(role_of(record), record.stamp.uuid)
    if isinstance(record, RevertRecord):
        link.reason, link.archive = record.reason, record.archive
    elif isinstance(record, CompactionRecord):
        link.archive = record.archive
    elif isinstance(record, UserMessage):
        link.origin = record.origin
    elif isinstance(record, UsageRecord):
        link.token_count = record.token_count
    elif isinstance(record, HeadRecord):
        link.to, link.reason = record.to, record.reason
    elif isinstance(record, LabelRecord):
        link.target, link.label = record.target, record.label
    return link


@cache
def _decoder() -> tuple[Callable[[bytes], Any], tuple[type[Exception], ...]]:
    """A decoder that reads the fields of a link and skips the rest; loaded on first use."""
    import msgspec

    words = ("uuid", "to", "reason", "target", "label", "origin")
    numbers = ("archive", "token_count")
    optional: list[tuple[str, Any, Any]] = [(name, str | None, None) for name in words]
    optional += [(name, int | None, None) for name in numbers]
    line = msgspec.defstruct("Line", [("role", str), *optional], gc=False)
    failures = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
    return msgspec.json.Decoder(line).decode, failures
