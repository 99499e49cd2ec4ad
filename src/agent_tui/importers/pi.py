"""Sessions of the pi coding agent: one append-only file, linear (v1) or a tree of entries (v2, v3).

Nothing ever leaves such a file: a compaction is an entry that says which entry the context begins
with, so both sides of every compaction are worked out from the file alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    CompactionRecord,
    Record,
    Stamp,
    TitleRecord,
    UnknownRecord,
    UsageRecord,
    UserMessage,
    is_prompt,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import first_line
from agent_tui.importers import fields
from agent_tui.importers.accounting import AccountBook
from agent_tui.importers.imported import (
    ImportedArchive,
    ImportedCompaction,
    ImportedSession,
    ImportedTail,
    Records,
    count_messages,
)
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.lines import Entries, read_ends, read_entries, read_last_entries
from agent_tui.importers.listing import file_refs, shell_command, summary_of
from agent_tui.importers.pi_entries import convert_entry

_TYPES = frozenset(
    {"message", "model_change", "thinking_level_change", "compaction", "branch_summary"}
)
PI = "pi"
_MOST_BRANCHES = 50
_LEFT_OUT = "on a branch where nothing was said, or older than the newest 50 branches"


def is_pi(head: Head) -> bool:
    """Whether lines look like pi's: a session header, or entries in its envelope."""
    return any(_is_header(value) or _is_entry(value) for value in head.objects)


def _is_header(value: dict[str, Any]) -> bool:
    return value.get("type") == "session" and isinstance(value.get("id"), str)


def _is_entry(value: dict[str, Any]) -> bool:
    return fields.text(value, "type") in _TYPES and ("parentId" in value or "message" in value)


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a file of any version.

    Raises:
        SessionError: the file cannot be read.
    """
    return session_of(read_entries(ref.path), PI)


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last entries of a file, on the way to the last one."""
    lines = read_last_entries(ref.path, count)
    return ImportedTail(session_of(lines, PI).records, lines.is_whole)


def session_of(lines: Entries, source: str) -> ImportedSession:
    """A session out of the lines of its file, which are entries of pi."""
    entries: list[dict[str, Any]] = []
    numbers: list[int] = []
    for value, number in lines:
        if isinstance(value.get("type"), str):
            entries.append(value)
            numbers.append(number)
        else:
            lines.damage(number)
    tree = _Tree(entries)
    compactions = tuple(_compactions(tree))
    header = next((entry for entry in entries if entry["type"] == "session"), {})
    records = tuple(record for index in tree.path for record in tree.records[index])
    branches = tuple(_branches(tree))
    _account(tree, numbers, lines.book)
    return ImportedSession(
        source=source,
        session_id=str(header.get("id") or lines.path.stem),
        cwd=str(header.get("cwd") or ""),
        title=_title(records),
        path=lines.path,
        records=records,
        context=tree.context(tree.path),
        damaged=lines.damaged,
        archives=branches,
        compactions=compactions,
        accounting=lines.book.close(),
    )


def _account(tree: _Tree, numbers: Sequence[int], book: AccountBook) -> None:
    """Every entry is on the active path, on a branch that was left, or unknown."""
    for index, number in enumerate(numbers):
        first = next(iter(tree.records[index]), None)
        if first is None:
            book.skip(number, str(tree.entries[index]["type"]))
        elif isinstance(first, UnknownRecord):
            book.leave_unknown(number, first.role)
        elif index in tree.shown:
            book.show(number)
        else:
            book.skip(number, _LEFT_OUT)


def _summarise(ref: SessionRef) -> SessionSummary:
    found = (value for value in read_ends(ref.path).objects if fields.text(value, "type"))
    records = [record for entry in found for record in convert_entry(entry, 0)]
    return summary_of(ref, records)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(PI, ".pi/agent", "PI_CODING_AGENT_DIR")
    return file_refs(PI, folder / "sessions", "*/*.jsonl", "*.jsonl")


def _resume(session_id: str, cwd: str) -> str:
    return shell_command(cwd, "pi", "--session", session_id)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a compaction entry says: its number among all, and where its context begins."""

    number: int
    first_id: str | None
    first_index: int | None


class _Tree:
    """The entries of a file, who hangs off whom, and the path to the last one."""

    def __init__(self, entries: Sequence[dict[str, Any]]) -> None:
        self.entries = entries
        self._places = {
            str(entry["id"]): index for index, entry in enumerate(entries) if _is_node(entry)
        }
        self._linear = not self._places
        self._first = next((i for i, entry in enumerate(entries) if _is_node(entry)), 0)
        self.kept: dict[int, _Kept] = {}
        self.records: list[Records] = []
        for index, entry in enumerate(entries):
            if entry["type"] == "compaction":
                self.kept[index] = _kept(len(self.kept) + 1, entry)
            number = self.kept[index].number if index in self.kept else 0
            self.records.append(convert_entry(entry, number))
        self.path = self.path_to(len(entries) - 1)
        self.shown = set(self.path)

    def parent(self, index: int) -> int:
        """The entry before this one; -1 for the first. Orphans hang off the line before."""
        parent_id = self.entries[index].get("parentId")
        if self._linear or not _is_node(self.entries[index]):
            return index - 1
        if parent_id is None:
            return self._first - 1
        return self._places.get(str(parent_id), index - 1)

    def path_to(self, leaf: int) -> list[int]:
        """The entries from the first one to a leaf; a cycle ends where it closes."""
        path: list[int] = []
        seen: set[int] = set()
        while leaf >= 0 and leaf not in seen:
            seen.add(leaf)
            path.append(leaf)
            leaf = self.parent(leaf)
        return path[::-1]

    def leaves(self) -> list[int]:
        """Entries that nothing hangs off, in file order."""
        parents = {self.parent(index) for index in range(len(self.entries))}
        return [index for index in range(len(self.entries)) if index not in parents]

    def context(self, path: Sequence[int]) -> Records:
        """What the model is sent at the end of a path: the last summary, what was kept, the rest.

        Facts that are no messages (header, models, names) stay whatever was compacted.
        """
        last = next((i for i in range(len(path) - 1, -1, -1) if path[i] in self.kept), None)
        if last is None:
            return self._join(path)
        first = self._first_kept(path, last)
        facts = [index for index in path[:first] if self.entries[index]["type"] != "message"]
        facts = [index for index in facts if index not in self.kept]
        kept = [index for index in path[first:last] if index not in self.kept]
        # What was billed for kept messages was billed for the context that is gone.
        before = (r for r in self._join(kept) if not isinstance(r, UsageRecord))
        return (
            *self._join([*facts, path[last]]),
            *before,
            *self._join(path[last + 1 :]),
        )

    def _first_kept(self, path: Sequence[int], compaction: int) -> int:
        kept = self.kept[path[compaction]]
        for position in range(compaction):
            index = path[position]
            if kept.first_id is not None:
                if self.entries[index].get("id") == kept.first_id:
                    return position
            elif kept.first_index is not None and index >= kept.first_index:
                return position
        return compaction

    def _join(self, path: Iterable[int]) -> Records:
        return tuple(record for index in path for record in self.records[index])


def _is_node(entry: dict[str, Any]) -> bool:
    return entry["type"] != "session" and isinstance(entry.get("id"), str)


def _kept(number: int, entry: dict[str, Any]) -> _Kept:
    first_id, first_index = entry.get("firstKeptEntryId"), entry.get("firstKeptEntryIndex")
    return _Kept(
        number,
        first_id if isinstance(first_id, str) else None,
        first_index if isinstance(first_index, int) else None,
    )


def _compactions(tree: _Tree) -> Iterator[ImportedCompaction]:
    for position, index in enumerate(tree.path):
        if index not in tree.kept:
            continue
        before = tree.context(tree.path[:position])
        kept = count_messages(tree.context(tree.path[: position + 1])) - 1
        record, summary = tree.records[index]
        assert isinstance(record, CompactionRecord)
        assert isinstance(summary, UserMessage)
        record = replace(
            record,
            post_tokens=_next_input(tree, position),
            kept=kept,
            summarised=max(count_messages(before) - kept, 0),
        )
        tree.records[index] = (record, summary)
        if record.post_tokens:
            # Until the next answer the context takes this, and not what was billed before.
            usage = UsageRecord(record.post_tokens, estimated=True, stamp=Stamp(at=record.stamp.at))
            tree.records[index] = (record, summary, usage)
        yield ImportedCompaction(
            archive=record.archive,
            before=before,
            after=tree.context(tree.path[: position + 1]),
            summary=text_of(summary.content),
            tokens_before=record.pre_tokens,
        )


def _next_input(tree: _Tree, position: int) -> int:
    """What the first request after a compaction was billed for; 0 where that is not told."""
    for index in tree.path[position + 1 :]:
        if index in tree.kept:
            break
        for record in tree.records[index]:
            if isinstance(record, UsageRecord) and record.usage:
                return record.usage.input_tokens
    return 0


def _branches(tree: _Tree) -> Iterator[ImportedArchive]:
    """The talk that was left for another branch, newest leaves only; numbered past compactions."""
    seen = set(tree.path)
    left: list[int] = []
    for leaf in reversed(tree.leaves()):
        spoke, index = False, leaf
        while index >= 0 and index not in seen:
            seen.add(index)
            spoke = spoke or tree.entries[index]["type"] == "message"
            index = tree.parent(index)
        if spoke:
            left.append(leaf)
    for number, leaf in enumerate(left[_MOST_BRANCHES - 1 :: -1], len(tree.kept) + 1):
        path = tree.path_to(leaf)
        tree.shown.update(path)
        records = tuple(record for index in path for record in tree.records[index])
        yield ImportedArchive(number, "branch", records)


def _title(records: Sequence[Record]) -> str:
    titles = [record.title for record in records if isinstance(record, TitleRecord)]
    if titles:
        return titles[-1]
    for record in records:
        if is_prompt(record):
            return first_line(text_of(record.content))
    return ""


PI_IMPORTER = Importer(
    source=PI,
    name="pi",
    recognise=is_pi,
    read=read_session,
    summarise=_summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=_resume,
)
