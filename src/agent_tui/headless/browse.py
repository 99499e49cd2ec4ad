"""The browser without a screen: sessions, checkpoints, archives and acts on them, printed.

Every function takes an engine, prints for people or as JSON, and returns nothing; what goes wrong
is raised as an AgentTuiError for the command line to print.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agent_tui.context.compaction.strategies.registry import FALLBACK
from agent_tui.context.filters import ContextFilter
from agent_tui.core.format import format_minute, format_size
from agent_tui.core.output import complain, say, say_bytes
from agent_tui.core.summary import OperationReport
from agent_tui.core.text import clean, format_count
from agent_tui.core.words import describe_archive
from agent_tui.headless.printing import print_json, print_rows
from agent_tui.history.view import SessionView
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.stored.exporting import (
    Exported,
    export_file,
    export_view,
    write_private,
)

_NO_SUMMARY = "No model could summarise the rest"
_NAMES = {
    "session_id": "session",
    "token_count": "tokens",
    "token_count_estimated": "tokens are estimated",
    "damaged": "damaged lines",
    "cwd": "folder",
    "resume": "continue with",
}
"""What a fact is called where it is printed for people, unless it is named so already."""


@asynccontextmanager
async def opened(engine: Engine, session_id: str) -> AsyncIterator[LiveSession]:
    """A session for the length of a command that changes it."""
    session = await engine.open_session(session_id)
    try:
        yield session
    finally:
        await session.close()


@asynccontextmanager
async def looked_at(engine: Engine, session_id: str) -> AsyncIterator[LiveSession]:
    """A session for the length of a command that only looks: nothing is locked or written."""
    session = await engine.read_session(session_id)
    try:
        yield session
    finally:
        await session.close()


@asynccontextmanager
async def _view_of(engine: Engine, typed: str) -> AsyncIterator[SessionView]:
    """What can be seen of a session: one of ours by its id, any other by its path."""
    path = Path(typed)
    if await asyncio.to_thread(path.exists):
        yield await engine.stored.open_path(path)
    else:
        async with looked_at(engine, typed) as session:
            yield session.view


async def show_session(engine: Engine, session_id: str, *, as_json: bool) -> None:
    """One session: what is in it, and how full its context is."""
    async with looked_at(engine, session_id) as session:
        view = session.view
        archives = await view.archives()
        facts = {
            "session_id": session.session_id,
            "title": view.title,
            "model": session.recorded_model,
            "messages": view.message_count,
            "checkpoints": len(view.checkpoints()),
            "token_count": session.gauge.tokens,
            "token_count_estimated": session.gauge.estimated,
            "archives": [archive.number for archive in archives],
            "damaged": view.damaged,
        }
    if as_json:
        print_json(facts)
        return
    _print_facts(facts)


async def rename_session(engine: Engine, session_id: str, title: str, *, as_json: bool) -> None:
    """Name a session."""
    async with opened(engine, session_id) as session:
        await session.operations.rename(title)
        _say(as_json, {"session_id": session.session_id, "title": session.view.title}, "Renamed.")


async def delete_session(engine: Engine, session_id: str, *, as_json: bool) -> None:
    """Move a session out of the list, and say where it went."""
    place = await engine.stored.delete_session(session_id)
    _say(
        as_json,
        {"moved_to": place},
        f"Moved to {place}. Restore it with: "
        f"{engine.launch.command(f'sessions undelete {session_id}')}",
    )


async def undelete_session(engine: Engine, session_id: str, *, as_json: bool) -> None:
    """Bring a deleted session back."""
    await engine.stored.undelete_session(session_id)
    _say(as_json, {"session_id": session_id}, "Restored.")


async def list_checkpoints(engine: Engine, session_id: str, *, as_json: bool) -> None:
    """Every place to return to, oldest first."""
    async with _view_of(engine, session_id) as view:
        summaries = view.checkpoints()
    if as_json:
        print_json(summaries)
        return
    print_rows(
        (
            (
                summary.id,
                format_minute(summary.at),
                f"{format_count(summary.messages_before, 'message')} before",
                summary.prompt or "(no prompt)",
            )
            for summary in summaries
        ),
        "This session has no checkpoint yet.",
    )


async def list_archives(engine: Engine, session_id: str, *, as_json: bool) -> None:
    """Every rotated log of a session, newest first."""
    async with _view_of(engine, session_id) as view:
        archives = await view.archives()
    if as_json:
        print_json(archives)
        return
    print_rows(
        (
            (
                each.number,
                describe_archive(each),
                format_minute(each.at),
                format_count(each.messages, "message"),
                format_size(each.size_bytes),
            )
            for each in archives
        ),
        "This session has no archives: nothing was reverted, cleared or compacted yet.",
    )


async def restore_archive(engine: Engine, session_id: str, number: int, *, as_json: bool) -> None:
    """Make an archive the live log again."""
    async with opened(engine, session_id) as session:
        report = await session.operations.restore(number)
    say_rotated(as_json, report, f"Restored archive {number}")


async def prune_archives(engine: Engine, session_id: str, keep: int, *, as_json: bool) -> None:
    """Remove all but the newest ``keep`` archives."""
    async with opened(engine, session_id) as session:
        removed = await session.operations.prune_archives(keep)
    sentence = f"Deleted {format_count(len(removed), 'archive')} (--keep {keep})."
    _say(as_json, {"removed": removed}, sentence)


async def compact_session(
    engine: Engine, session_id: str, focus: str, strategy: str, *, as_json: bool
) -> None:
    """Compact a session's context now."""
    async with opened(engine, session_id) as session:
        report = await session.operations.compact(focus, strategy)
    fields = dataclasses.asdict(report) | {"saved_share": round(report.saved_share, 3)}
    sentence = (
        f"{report.tokens_before:,} → {report.tokens_after:,} tokens "
        f"({report.saved_share:.0%} saved). Messages: {report.kept} kept, {report.summarised} "
        f"summarised, {report.dropped} dropped. The old log is archive {report.archive}."
    )
    if report.usage:
        sentence += f" The summary took {report.usage.total_tokens:,} tokens."
    if report.fallback:
        why = "The rest was not summarised" if strategy == FALLBACK else _NO_SUMMARY
        sentence += (
            f" {why}: only the newest messages were kept. "
            f"Undo with: {engine.launch.command(f'restore {session_id} {report.archive}')}"
        )
    _say(as_json, fields, sentence)


async def open_path(engine: Engine, path: Path, *, as_json: bool) -> None:
    """What a log or session file of any known kind holds."""
    found = await engine.stored.describe_path(path)
    if as_json:
        print_json(found)
        return
    records = found.pop("records")
    found["children"] = [child["path"] or child["session_id"] for child in found["children"]]
    _print_facts(found | {f"records {name}": _counts(n) for name, n in records.items()})


def _print_facts(facts: Mapping[str, object]) -> None:
    print_rows(((_NAMES.get(name, name), _in_words(value)) for name, value in facts.items()), "")


def _counts(value: object) -> object:
    """What was left out or not understood, by kind; a number as it is."""
    if not isinstance(value, dict):
        return value
    return [f"{count} {kind}" for kind, count in value.items()]


async def export_session(
    engine: Engine,
    source: str,
    form: str,
    output: Path | None,
    part: ContextFilter,
    *,
    as_json: bool,
) -> None:
    """Write a session in another format, to a new file or to standard output.

    As JSON, what is no JSON by itself becomes the ``content`` of an object.
    """
    found = await _exported(engine, source, form, part)
    if found.redacted:
        complain(found.redacted)
    if output is not None:
        written = await write_private(output, found.content)
        _say(as_json, {"path": written}, f"Exported to {clean(str(written))}")
    elif as_json and form != "json":
        print_json({"format": form, "content": found.content.decode("utf-8", "replace")})
    else:
        say_bytes(found.content)


async def _exported(engine: Engine, source: str, form: str, part: ContextFilter) -> Exported:
    """A session, by its id or by the path of a file, in another format, without secrets."""
    path = Path(source)
    if await asyncio.to_thread(path.exists):
        return await asyncio.to_thread(export_file, path, form, part)
    async with looked_at(engine, source) as session:
        return await export_view(session.view, form, part)


async def repair_session(engine: Engine, session_id: str, *, as_json: bool) -> None:
    """Copy what can be read into a new session, and account for every byte left out."""
    path = Path(session_id)
    if await asyncio.to_thread(path.exists):
        await _repair_path(engine, path, as_json=as_json)
        return
    report = await engine.stored.repair(session_id)
    if as_json:
        print_json(report)
        return
    say(
        f"Copied {format_count(report.records, 'record')} ({format_size(report.bytes_kept)}) "
        f"into the new session {report.session_id}; the original is unchanged. Left out:"
    )
    rows = (
        (f"byte {left.offset}", f"{left.length} bytes", left.reason, left.excerpt)
        for left in report.left_out
    )
    print_rows(rows, "nothing")


async def _repair_path(engine: Engine, path: Path, *, as_json: bool) -> None:
    report = await engine.stored.repair_path(path)
    if as_json:
        print_json(report)
        return
    say(
        f"Copied {format_count(report.messages, 'message')} into the new session "
        f"{report.session_id}; the original is unchanged. Left out:"
    )
    rows = ((format_count(count, "record"), why) for why, count in report.left_out.items())
    print_rows(rows, "nothing")


def _in_words(value: object) -> str:
    """A value as people write it: yes and no, a list without brackets, none where it is empty."""
    match value:
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(_in_words(each) for each in value) or "none"
        case None | "":
            return "none"
        case _:
            return str(value)


def _say(as_json: bool, fields: object, sentence: str) -> None:
    if as_json:
        print_json(fields)
    else:
        say(sentence)


def say_rotated(as_json: bool, report: OperationReport, act: str, files: str = "") -> None:
    """Print what a revert, a restore or the like has done; ``files``: what it did to files."""
    moved = [
        f"{format_count(number, 'message')} {what}"
        for number, what in ((report.messages_left, "removed"), (report.messages_back, "restored"))
        if number
    ]
    done = [*(moved or ["no messages removed"]), *filter(None, (files,))]
    sentence = f"{act}: {' and '.join(done)}. The previous log is archive {report.archive}."
    _say(as_json, report, sentence)
