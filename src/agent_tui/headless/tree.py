"""The tree of a session, printed: every branch, archive and fork of it; and a fork from it."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from agent_tui.context.filters import ContextFilter
from agent_tui.core.messages import text_of
from agent_tui.core.output import complain, say
from agent_tui.core.records import (
    AssistantMessage,
    Record,
    ToolMessage,
    UserMessage,
)
from agent_tui.core.text import clean, first_line
from agent_tui.core.tree import Detail, Fork, TreeRow
from agent_tui.headless.browse import looked_at
from agent_tui.headless.printing import print_json
from agent_tui.history.records.checkpoints import find_checkpoint, prompt_after
from agent_tui.history.tree.record_words import describe_record
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.live_session import LiveSession

_CHUNK = 1_000
_FIELDS = [
    field.name for field in dataclasses.fields(TreeRow) if field.name not in ("start", "end")
]
_CHECKPOINT = re.compile(r"[0-9]{1,7}")  # an id, or what is left of one, is longer


async def print_tree(engine: Engine, session_id: str, detail: Detail, *, as_json: bool) -> None:
    """One line or object a row; ``standing`` tells what is in the context now."""
    path = Path(session_id)
    if await asyncio.to_thread(path.exists):
        tree = await (await engine.stored.open_path(path)).tree()
        await _print_rows(tree, detail, as_json=as_json)
        return
    await _print_rows(await engine.stored.read_tree(session_id), detail, as_json=as_json)


async def _print_rows(tree: SessionTree, detail: Detail, *, as_json: bool) -> None:
    if tree.warning:
        complain(tree.warning)
    if as_json:
        print_json([fields async for fields in _read_rows(tree, detail)])
        return
    empty = True
    async for fields in _read_rows(tree, detail):  # a million rows are printed, never held
        say(_line(fields))
        empty = False
    if empty:
        say("No messages yet.")


async def fork_session(
    engine: Engine, session_id: str, at: str, *, as_json: bool, part: ContextFilter
) -> None:
    """Make a session of its own of the path to an entry, or of all that a session holds now.

    ``at`` is an entry's id, or the number of a checkpoint in the context. Of another agent's
    session that has no checkpoints it is the number of a message. ``part`` keeps only the newest.
    """
    path = Path(session_id)
    if await asyncio.to_thread(path.exists):
        if _CHECKPOINT.fullmatch(at):
            fork = await engine.stored.resume_checkpoint(path, int(at))
        else:
            fork = await engine.stored.resume_path(path, at)
        await _trim(engine, fork, part)
        _tell_fork(engine, fork, as_json=as_json)
        return
    async with looked_at(engine, session_id) as session:
        fork = await _fork_at(engine, session, at) if at else Fork(await session.operations.fork())
    await _trim(engine, fork, part)
    _tell_fork(engine, fork, as_json=as_json)


async def _trim(engine: Engine, fork: Fork, part: ContextFilter) -> None:
    """Keep only a part of a fork's context, where one is wanted."""
    if not part:
        return
    session = await engine.open_session(fork.session_id)
    try:
        await session.operations.trim(part)
    finally:
        await session.close()


def _tell_fork(engine: Engine, fork: Fork, *, as_json: bool) -> None:
    if as_json:
        print_json(fork)
        return
    say(f"Forked. Continue with: {engine.launch.command(f'-r {fork.session_id}')}")
    if fork.prompt:
        say(f"It ends before the prompt: {clean(fork.prompt)}")


async def _fork_at(engine: Engine, session: LiveSession, at: str) -> Fork:
    records = session.view.records
    checkpoint = find_checkpoint(records, int(at)) if _CHECKPOINT.fullmatch(at) else None
    uuid = at if checkpoint is None else records[checkpoint].stamp.uuid or at
    tree = await session.view.tree()
    outline = await tree.prepare("records")
    row = outline.row(outline.row_of(tree.place_of(uuid)))
    fork = await engine.stored.fork_at(await tree.branch_place(row))
    if checkpoint is None:
        return fork
    return dataclasses.replace(fork, prompt=prompt_after(records, checkpoint))


async def _read_rows(tree: SessionTree, detail: Detail) -> AsyncIterator[dict[str, Any]]:
    outline = await tree.prepare(detail)
    for start in range(0, len(outline), _CHUNK):
        found = [outline.row(i) for i in range(start, min(start + _CHUNK, len(outline)))]
        records = await tree.describe([row.place for row in found])
        for row in found:
            yield _row_fields(row, tree.name_of(row), records)


def _row_fields(row: TreeRow, uuid: str, records: Mapping[int, Record]) -> dict[str, Any]:
    record = records.get(row.place)
    fields = {name: getattr(row, name) for name in _FIELDS}
    at = record.stamp.at if record is not None else None
    return fields | {"uuid": uuid, "at": at or "", "text": _say(row, record)}


def _say(row: TreeRow, record: Record | None) -> str:
    match record:
        case UserMessage() | AssistantMessage() | ToolMessage():
            return first_line(text_of(record.content), 200) or describe_record(record)
        case None:
            return row.kind
        case _:
            return describe_record(record)


def _line(fields: Mapping[str, Any]) -> str:
    depth = fields["depth"]
    guide = "| " * (depth - 1) + ("+-" if fields["opens"] else "| ") if depth else ""
    here = "*" if fields["standing"] == "context" else " "
    label = f"[{fields['label']}] " if fields["label"] else ""
    ends = f"  ({', '.join(fields['leaves'])})" if fields["leaves"] else ""
    return f"{here} {guide}{label}{fields['text']}{ends}".replace("\n", " ")
