"""One row of the session list, read from the head and the tail of a log, never from all of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from itertools import islice
from operator import and_
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError, BadRecord
from agent_tui.core.jsonl import decode_line
from agent_tui.core.messages import text_of
from agent_tui.core.record_parsing import parse_record
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    ModelRecord,
    Record,
    RevertRecord,
    SessionHeader,
    TitleRecord,
    is_message,
    is_prompt,
)
from agent_tui.core.summary import ArchiveSummary, SessionSummary
from agent_tui.core.text import first_line
from agent_tui.sessions.archive import LIVE, archive_path, finished_archives
from agent_tui.sessions.disk import reading
from agent_tui.sessions.index import LogIndex
from agent_tui.sessions.lineage import SESSION_ID, holder_of
from agent_tui.sessions.replay import Entry, SessionState, read_log

HEAD_BYTES = 16 << 10
_SMALL_LOG = 4 << 20
TAIL_BYTES = 48 << 10
_BEYOND_EVERY_ARCHIVE = 10**18
_MOST_CHECKPOINTS = 500
"""Of a big log, how far back a checkpoint is looked for by reading lines."""
_TO_PROMPT = 4
"""How many lines may lie between a checkpoint and the prompt that it is about."""


def read_session_summary(folder: Path) -> SessionSummary:
    """What the session list shows of one session; an unreadable one says so in its title."""
    try:
        return _read_parts_of_summary(folder)
    except AgentTuiError as error:
        return unreadable_summary(folder, error)


def unreadable_summary(folder: Path, error: AgentTuiError) -> SessionSummary:
    """What the session list shows of a folder that cannot be read."""
    return SessionSummary(
        session_id=folder.name,
        folder=str(folder),
        title=f"unreadable: {error}",
        cwd="",
        created_at="",
        updated_at="",
        size_bytes=0,
        archives=0,
    )


def read_header(path: Path) -> SessionHeader | None:
    """The first line of a log, if it is a header.

    Raises:
        SessionNotFound, SessionReadOnly, StorageError: the log cannot be read.
    """
    with reading(path) as (descriptor, _):
        records = _records(os.pread(descriptor, HEAD_BYTES, 0).partition(b"\n")[0])
    return records[0] if records and isinstance(records[0], SessionHeader) else None


def parent_session(path: Path) -> str:
    """The id of the session that a log was forked from, or an empty string."""
    return str(_parent(path).get("session_id", ""))


def parents_of(path: Path) -> frozenset[str]:
    """What names the session that a log began as a copy of: its id, and its file if it is foreign.

    Empty for a log that is no copy.
    """
    parent = _parent(path)
    told = parent.get("imported_from")
    imported = told if isinstance(told, dict) else {}
    names = (parent.get("session_id"), imported.get("session_id"), imported.get("path"))
    return frozenset(name for name in names if isinstance(name, str) and name)


def _parent(path: Path) -> Mapping[str, Any]:
    try:
        header = read_header(path)
    except AgentTuiError:
        return {}
    return header.parent or {} if header else {}


def _read_parts_of_summary(folder: Path) -> SessionSummary:
    from agent_tui.core.times import known_time, time_of_file  # no turn waits for it

    path = folder / LIVE
    with reading(path) as (descriptor, status):
        size = status.st_size
        head = os.pread(descriptor, HEAD_BYTES, 0)
        tail = b""
        if size > HEAD_BYTES:
            start = max(HEAD_BYTES, size - TAIL_BYTES)
            tail = os.pread(descriptor, size - start, start)
    archives = len(finished_archives(folder))
    first = _records(head)
    both = [*first, *_records(tail)]
    header = next((record for record in first if isinstance(record, SessionHeader)), None)
    titles = [record.title for record in both if isinstance(record, TitleRecord)]
    models = [record.model for record in both if isinstance(record, ModelRecord)]
    compactions = [record for record in both if isinstance(record, CompactionRecord)]
    last = compactions[-1] if compactions else None
    prompt = _first_prompt(folder, header, both)
    times = [at for record in both if (at := known_time(record.stamp.at))]
    updated_at = times[-1] if times else time_of_file(status.st_mtime)
    return SessionSummary(
        session_id=folder.name,  # by which it is found; the header of a copy names the original
        folder=str(folder),
        title=(titles[-1] if titles else "") or first_line(prompt),
        cwd=header.cwd if header else "",
        created_at=known_time(header.created_at if header else "") or updated_at,
        updated_at=updated_at,
        size_bytes=size,
        archives=archives,
        first_prompt=first_line(prompt, 200),
        model=models[-1] if models else "",
        agent_of=str((header.parent or {}).get("agent_of", "")) if header else "",
        tokens_before=last.pre_tokens if last else 0,
        tokens_after=last.post_tokens if last else 0,
        messages_dropped=last.dropped if last else 0,
    )


def _first_prompt(folder: Path, header: SessionHeader | None, ends: list[Record]) -> str:
    """What a session began with: of a log that was compacted, what the log before it began with.

    Args:
        folder: where the log is.
        header: the log's own, which tells whose archives it names.
        ends: the records at the log's head and tail.
    """
    prompt, act = _opening(ends)
    older_than = _BEYOND_EVERY_ARCHIVE
    while act is not None and act.archive < older_than:  # or damage could lead in a circle
        older_than = act.archive
        holder = holder_of(header, act.archive)
        if holder and not SESSION_ID.fullmatch(holder):
            break
        folder = folder.parent / holder if holder else folder
        try:
            with reading(archive_path(folder, act.archive)) as (descriptor, _):
                records = _records(os.pread(descriptor, HEAD_BYTES, 0))
        except AgentTuiError:
            break  # it was pruned: the first that was kept is the first that is known
        header = next((one for one in records if isinstance(one, SessionHeader)), None)
        earlier, act = _opening(records)
        prompt = earlier or prompt
    return prompt


def _opening(records: list[Record]) -> tuple[str, CompactionRecord | None]:
    """The first prompt of a log, and the compaction that went before it."""
    act = None
    for record in records:
        if isinstance(record, CompactionRecord):
            act = act or record
        elif text := _prompt(record):
            return text, act
    return "", act


_Act: TypeAlias = CompactionRecord | RevertRecord


@dataclass(frozen=True, slots=True)
class _Contents:
    size: int
    messages: int
    checkpoints: int
    acts: tuple[_Act, ...]
    prompts: Mapping[int, Asked] = field(default_factory=dict)
    said: frozenset[str] | None = None
    trouble: str = ""
    index: LogIndex | None = None


def list_archive_summaries(folder: Path) -> list[ArchiveSummary]:
    """Every archive of a session, oldest first, with why and when it was rotated out.

    The log that took an archive's place tells why: the next archive, or the live log.
    """
    numbers = finished_archives(folder)
    contents = {number: _try_to_look_into(archive_path(folder, number)) for number in numbers}
    acts: dict[int, _Act] = {}
    live = _look_into(folder / LIVE)
    for content in (*contents.values(), live):
        acts |= {act.archive: act for act in content.acts}
    summaries = []
    for number, content in contents.items():
        counted = ArchiveSummary(
            number=number,
            path=str(archive_path(folder, number)),
            reason="",
            at="",
            size_bytes=content.size,
            messages=content.messages,
            checkpoints=content.checkpoints,
            trouble=content.trouble,
        )
        act = acts.get(number)
        summaries.append(told_by(act, counted, content.prompts or _prompt_of_big(act, content)))
    said = {number: each.said for number, each in contents.items()}
    return count_gone(find_repeated(summaries, said), said, live.said)


def told_by(
    act: _Act | None, archive: ArchiveSummary, prompts: Mapping[int, Asked]
) -> ArchiveSummary:
    """An archive with what the operation that made it tells; ``prompts`` are its own."""
    at = (act.stamp.at or "") if act else ""
    if not isinstance(act, RevertRecord):
        return replace(archive, reason="compaction" if act else "", at=at)
    place = act.checkpoint
    asked = prompts.get(place, Asked("")) if place is not None else Asked("")
    archive = replace(archive, prompt=first_line(asked.prompt, 200), is_part=asked.is_begun)
    return replace(archive, reason=act.reason, at=at, checkpoint=place, of=act.of)


def find_repeated(
    archives: Sequence[ArchiveSummary], said: Mapping[int, frozenset[str] | None]
) -> list[ArchiveSummary]:
    """The archives, those that an undo or a redo left with the one that holds all of them.

    Args:
        archives: oldest first.
        said: the messages in each archive, as ``ids_of_messages`` gives them.
    """
    in_doubt = _held_together(archives, said)
    asked = frozenset[str]().union(*(said[number] or () for number in in_doubt))
    told: list[ArchiveSummary] = []
    holders: dict[str, int] = {}  # where a message is: a bit for each archive
    for archive in archives:
        own, common = said[archive.number] or frozenset(), 0
        if archive.number in in_doubt:
            common = reduce(and_, (holders.get(uuid, 0) for uuid in own))
        if common:
            within = told[(common & -common).bit_length() - 1].number
            told.append(replace(archive, within=within))
            continue
        bit = 1 << len(told)
        for uuid in own & asked:
            holders[uuid] = holders.get(uuid, 0) | bit
        told.append(replace(archive, within=0))
    return told


def count_gone(
    archives: Sequence[ArchiveSummary],
    said: Mapping[int, frozenset[str] | None],
    live: frozenset[str] | None,
) -> list[ArchiveSummary]:
    """The archives, each with how many of its messages the live log holds no more."""
    if live is None:
        return list(archives)
    held = ((each, said[each.number]) for each in archives)
    return [
        each if own is None else replace(each, gone=min(each.messages, len(own - live)))
        for each, own in held
    ]


def _held_together(
    archives: Sequence[ArchiveSummary], said: Mapping[int, frozenset[str] | None]
) -> set[int]:
    """What an undo or a redo left and the earlier archives, taken together, hold all of."""
    found, seen = set(), set[str]()
    for archive in archives:
        own = said[archive.number] or frozenset()
        if own and archive.reason in ("undo", "redo") and own <= seen:
            found.add(archive.number)
        seen |= own
    return found


def ids_of_messages(state: SessionState) -> frozenset[str] | None:
    """The ids of all messages of a log, other branches included; None where one has no id."""
    ids = {each.record.stamp.uuid for each in state.all_entries if is_message(each.record)}
    return None if None in ids else frozenset(uuid for uuid in ids if uuid is not None)


class Asked(NamedTuple):
    """The prompt at a checkpoint, and whether that is inside its turn, not before it."""

    prompt: str
    is_begun: bool = False


def prompts_by_checkpoint(records: Iterable[Record]) -> dict[int, Asked]:
    """The prompt that follows each checkpoint; inside a turn, the turn's own."""
    prompts: dict[int, Asked] = {}
    waiting: list[int] = []
    last = ""
    for record in records:
        if isinstance(record, Checkpoint):
            prompts[record.id] = Asked(last, is_begun=True)
            waiting.append(record.id)
        elif text := _prompt(record):
            prompts |= dict.fromkeys(waiting, Asked(text))
            last = text
            waiting.clear()
        elif isinstance(record, AssistantMessage):
            waiting.clear()
    return prompts


def _try_to_look_into(path: Path) -> _Contents:
    """What an archive holds, or why it cannot be read: what is in its place hides no other."""
    try:
        return _look_into(path)
    except AgentTuiError as error:
        why = str(error).replace(str(path), path.name)
        return _Contents(0, 0, 0, (), trouble=why)


def _look_into(path: Path) -> _Contents:
    """Count what a log holds: exactly, or for a big one by the first bytes of its lines."""
    index = LogIndex(path)
    if index.size < _SMALL_LOG:
        state = read_log(path)
        acts: tuple[_Act, ...] = (*state.compactions, *state.reverts)
        prompts = prompts_by_checkpoint(entry.record for entry in state.entries)
        counts = (state.size, len(state.messages), len(state.checkpoints))
        return _Contents(*counts, acts, prompts, ids_of_messages(state))
    index.grow()
    found = []
    for role in ("_compaction", "_revert"):
        for line in index.lines_of(role):
            found += [item for item in index.read(line, line + 1) if isinstance(item, Entry)]
    acts = tuple(e.record for e in found if isinstance(e.record, CompactionRecord | RevertRecord))
    messages = index.count_in_all_branches()
    return _Contents(index.size, messages, index.count("_checkpoint"), acts, index=index)


def _prompt_of_big(act: _Act | None, content: _Contents) -> Mapping[int, Asked]:
    """The prompt that a revert of a big log removed, found from its end; nothing far before it."""
    index, wanted = content.index, act.checkpoint if isinstance(act, RevertRecord) else None
    if index is None or wanted is None:
        return {}
    for line in islice(reversed(list(index.lines_of("_checkpoint"))), _MOST_CHECKPOINTS):
        found = _records_of_lines(index, line, line + 1)
        if found and isinstance(found[0], Checkpoint) and found[0].id == wanted:
            follows = prompts_by_checkpoint(_records_of_lines(index, line, line + _TO_PROMPT))
            asked = follows[wanted]
            if not asked.prompt:
                asked = Asked(_prompt_above(index, line), is_begun=True)
            return {wanted: asked}
    return {}


def _prompt_above(index: LogIndex, line: int) -> str:
    asked = (each for each in reversed(list(index.lines_of("user"))) if each < line)
    said = (_records_of_lines(index, each, each + 1) for each in islice(asked, _TO_PROMPT))
    return next((text for records in said for each in records if (text := _prompt(each))), "")


def _records_of_lines(index: LogIndex, start: int, stop: int) -> list[Record]:
    return [item.record for item in index.read(start, stop) if isinstance(item, Entry)]


def _records(data: bytes) -> list[Record]:
    """The records whose lines are whole in a cut-out of a log."""
    records = []
    for line in data.split(b"\n"):
        try:
            records.append(parse_record(decode_line(line)))
        except BadRecord:
            continue
    return records


def _prompt(record: Record) -> str:
    if is_prompt(record):
        return text_of(record.content)
    return ""
