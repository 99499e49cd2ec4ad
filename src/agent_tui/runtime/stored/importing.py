"""Another agent's session continued as one of ours: its messages up to some point, copied.

The new session works in the folder it is made from, asks its own model, and carries no approvals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from agent_tui.core.messages import text_of
from agent_tui.core.records import Checkpoint, Record, is_prompt
from agent_tui.core.tree import Fork
from agent_tui.history.records.checkpoints import find_checkpoint, prompt_after
from agent_tui.importers.imported import ImportedBranch, ImportedCompaction, Records, count_messages
from agent_tui.importers.registry import (
    import_session,
    importer_of,
    locate,
    summarise,
)
from agent_tui.importers.resume import find_message, records_to_resume
from agent_tui.runtime.stored.headers import new_header
from agent_tui.runtime.stored.naming import name_copy
from agent_tui.sessions.store import Durability, SessionLog, SessionStore

Instruct: TypeAlias = Callable[[SessionLog], Awaitable[object]]
"""Writes the system prompt of a new session."""


@dataclass(frozen=True, slots=True)
class NewSessions:
    """How a session of ours is made: where, in which folder, and what is written into it first."""

    store: SessionStore
    workspace: Path
    instruct: Instruct


@dataclass(frozen=True, slots=True)
class Original:
    """The session that one of ours continues, as its header tells it."""

    source: str
    session_id: str
    path: Path
    title: str


async def resume_path(new: NewSessions, path: Path, at: str) -> Fork:
    """Continue the session at a path; ``at`` is a message's number or id, the last one if empty.

    Raises:
        SessionError, StorageError: it cannot be read, or has no such message.
    """
    found = await asyncio.to_thread(import_session, path)
    place = find_message(found.records, at) if at else len(found.records) - 1
    original = Original(found.source, found.session_id, found.path, found.title)
    whole = (found.records, found.compactions)
    return await resume_records(new, *whole, original, place, is_chosen=bool(at))


async def resume_checkpoint(new: NewSessions, path: Path, checkpoint: int) -> Fork:
    """Continue the session at a path before one of its checkpoints.

    A session that has no checkpoints is continued behind the message of that number.

    Raises:
        SessionError, StorageError: it cannot be read, or has neither.
    """
    found = await asyncio.to_thread(import_session, path)
    if not any(isinstance(record, Checkpoint) for record in found.records):
        return await resume_path(new, path, str(checkpoint))
    position = find_checkpoint(found.records, checkpoint)
    original = Original(found.source, found.session_id, found.path, found.title)
    whole = (found.records, found.compactions)
    fork = await resume_records(new, *whole, original, position - 1, is_chosen=False)
    return replace(fork, prompt=prompt_after(found.records, position))


@dataclass(frozen=True, slots=True)
class ImportRepair:
    """A copy of a session at a path: its id, its messages, and how many records are not in it.

    ``left_out`` counts the records of the file that say nothing there, by why.
    """

    session_id: str
    messages: int
    left_out: dict[str, int]


async def repair_path(new: NewSessions, path: Path) -> ImportRepair:
    """Copy what can be read of the session at a path into one of ours.

    Raises:
        SessionError: nothing of it could be continued.
    """
    found = await asyncio.to_thread(import_session, path)
    original = Original(found.source, found.session_id, found.path, found.title)
    whole, last = (found.records, found.compactions), len(found.records) - 1
    fork = await resume_records(new, *whole, original, last, is_chosen=False)
    resumed = await asyncio.to_thread(records_to_resume, *whole, last)
    book = found.accounting
    left_out = {f"not understood: {kind}": count for kind, count in book.unknown.items()}
    left_out |= {
        f"not part of the conversation: {kind}": count for kind, count in book.skipped.items()
    }
    left_out |= {"damaged": book.damaged} if book.damaged else {}
    return ImportRepair(fork.session_id, count_messages(resumed), left_out)


async def fork_imported(new: NewSessions, branch: ImportedBranch) -> Fork:
    """Continue a branch of an imported session.

    Raises:
        SessionError: nothing of it could be continued.
    """
    found = await asyncio.to_thread(locate, branch.path)
    summary = await asyncio.to_thread(summarise, found)
    original = Original(found.source, branch.session_id, branch.path, summary.title)
    whole, last = (branch.records, branch.compactions), len(branch.records) - 1
    return await resume_records(new, *whole, original, last, is_chosen=branch.ends_in_prompt)


async def resume_records(
    new: NewSessions,
    records: Records,
    compactions: Iterable[ImportedCompaction],
    original: Original,
    place: int,
    *,
    is_chosen: bool,
) -> Fork:
    """Continue behind the record at a place; a prompt that was chosen comes back to be edited.

    Raises:
        SessionError: nothing before it could be continued.
    """
    prompt = _prompt(records[place]) if is_chosen else ""
    last = place - 1 if prompt else place
    resumed = await asyncio.to_thread(records_to_resume, records, compactions, last)
    header = await asyncio.to_thread(new_header, new.workspace)
    told = {
        "agent": original.source,
        "session_id": original.session_id,
        "path": str(original.path),
        "records": last + 1,
    }
    log = await new.store.create(replace(header, parent={"imported_from": told}))
    try:
        await new.instruct(log)
        await log.append(*resumed, durability=Durability.D1)
    except BaseException:
        await log.close()
        raise
    name = importer_of(original.source).name
    await name_copy(log, f"{original.title or original.path.name} (from {name})")
    return Fork(header.session_id, prompt)


def _prompt(record: Record) -> str:
    """The text of a person's prompt; empty for anything else."""
    return text_of(record.content) if is_prompt(record) else ""
