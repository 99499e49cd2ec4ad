"""The sessions on disk, whether open or not: found, listed, deleted, repaired, forked, exported."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_tui.agent.settle import settle
from agent_tui.core.changes import ChangeGroup
from agent_tui.core.errors import AgentTuiError, SessionError, SessionNotFound
from agent_tui.core.messages import text_of
from agent_tui.core.records import is_prompt
from agent_tui.core.summary import OURS, SessionSummary
from agent_tui.core.tree import Fork, TreePlace
from agent_tui.history.exchanges import Exchange, last_exchanges
from agent_tui.history.opening import NewerView, open_view, open_view_tail
from agent_tui.history.tree.logs import sources_of
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.history.view import SessionView
from agent_tui.importers.imported import ImportedBranch
from agent_tui.library.follow import follow_file
from agent_tui.library.live_sessions import SessionName, find_live
from agent_tui.library.own_sessions import OwnSessions, listed
from agent_tui.library.row_cache import RowCache
from agent_tui.runtime.stored.counting import MessageCounts
from agent_tui.runtime.stored.forking import fork_at
from agent_tui.runtime.stored.headers import new_session_id
from agent_tui.runtime.stored.importing import (
    ImportRepair,
    Instruct,
    NewSessions,
    fork_imported,
    repair_path,
    resume_checkpoint,
    resume_path,
)
from agent_tui.runtime.stored.naming import name_copy, rename_log, title_of
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.index import read_tail
from agent_tui.sessions.repair import RepairReport, is_sound
from agent_tui.sessions.replay import Entry
from agent_tui.sessions.store import SessionStore

_HISTORY_SESSIONS = 10
_HISTORY_PROMPTS = 500
_HISTORY_RECORDS = 2_000
_FIRST_ROWS = 100
_GROW_SECONDS = 0.3
_GROWN = 1.5
_REST_FACTOR = 4
"""A file that grows all the time is read a fifth of the time."""
_PREVIEW_RECORDS = 120


class StoredSessions:
    """Every session of every project.

    Args:
        store: where they are.
        workspace: the project of this run.
        instruct: writes the system prompt of a new session.
        list_command: what a person types to see them.

    Attributes:
        deleted: the places in the trash of what was deleted in this run, the latest last.
    """

    def __init__(
        self,
        store: SessionStore,
        workspace: Path,
        instruct: Instruct,
        list_command: str = "agent-tui sessions list",
    ) -> None:
        self._list_command = list_command
        self._store = store
        cache = RowCache(store.root)
        self._own = OwnSessions(store, cache)
        self._counts = MessageCounts(cache)
        self._workspace = workspace
        self._new_sessions = NewSessions(store, workspace, instruct)
        self.deleted: list[tuple[tuple[str, ...], str]] = []

    async def list_sessions(self) -> list[SessionSummary]:
        """Every session in which something was said, newest first.

        Those of subagents are reached from the calls that started them, as long as these are there.
        """
        return listed(await asyncio.to_thread(self._own.rows))

    async def growing_list(self) -> AsyncIterator[list[SessionSummary]]:
        """The sessions of list_sessions: the newest at once, more as they are read, then all."""
        yield listed(await asyncio.to_thread(self._own.newest, _FIRST_ROWS))
        found: list[SessionSummary] = []
        reading = asyncio.ensure_future(asyncio.to_thread(self._own.rows, found.append))
        shown = _FIRST_ROWS
        while not (await asyncio.wait([reading], timeout=_GROW_SECONDS))[0]:
            if len(found) >= _GROWN * shown:
                shown = len(found)
                yield listed(list(found))
        yield listed(await reading)

    async def find_live(self, rows: list[SessionSummary]) -> frozenset[SessionName]:
        """Which of these sessions, newest first, are live: open elsewhere."""
        return await asyncio.to_thread(find_live, rows)

    async def find_id(self, typed: str) -> str:
        """The id of a session, by it or by its beginning; raises SessionNotFound."""
        with suppress(SessionNotFound):
            return (await asyncio.to_thread(self._store.find, typed)).name
        rows = await asyncio.to_thread(self._own.rows)
        found = sorted({row.session_id for row in rows})
        matching = [name for name in found if typed and name.startswith(typed)]
        if len(matching) == 1:
            return matching[0]
        trouble = "is the beginning of several ids" if matching else "is not a session's id"
        raise SessionNotFound(f"{typed!r} {trouble}. List them with: {self._list_command}")

    async def find_folder(self, typed: str) -> Path:
        """Where a session is, by its id or the beginning of it; raises SessionNotFound."""
        return await asyncio.to_thread(self._store.find, await self.find_id(typed))

    async def _find_named(self, typed: str, folder: str) -> str:
        """The id of a session, which has to be the one in a folder, where one is given."""
        found = await self.find_id(typed)
        first = await asyncio.to_thread(self._store.find, found) if folder else Path()
        if folder and first != Path(folder):
            raise SessionError(
                f"Two folders hold session {found}: {first} and {folder}. Move one away."
            )
        return found

    async def rename_session(self, session_id: str, title: str, folder: str = "") -> None:
        """Name a session that is not open here; one in another folder than given is refused."""
        log = await self._store.open(await self._find_named(session_id, folder))
        try:
            await rename_log(log, title)
        finally:
            await log.close()

    async def delete_session(self, session_id: str, folder: str = "") -> str:
        """Move a session into the trash; the result, its place there, undoes it.

        Raises:
            SessionError: it is in another folder than the one that was given.
        """
        return str(await self._store.delete(await self._find_named(session_id, folder)))

    async def undelete_session(self, token: str) -> None:
        """Restore a deleted session, by its place in the trash or by its id."""
        place = Path(token)
        if len(place.parts) == 1:
            place = await asyncio.to_thread(self._store.place_of_deleted, token)
        await self._store.undelete(place)

    async def repair(self, session_id: str) -> RepairReport:
        """Copy what can be read of a damaged session into a new one; the old one stays.

        Raises:
            SessionError: nothing of it is damaged.
        """
        return await settle(self._repair(await self.find_folder(session_id)))

    async def _repair(self, folder: Path) -> RepairReport:
        if await asyncio.to_thread(is_sound, folder / LIVE):
            raise SessionError("Nothing to repair: every line of this session can be read.")
        report = await self._store.repair(folder, new_session_id())
        log = await self._store.open(report.session_id)
        await name_copy(log, f"{title_of(log.state)} (repaired)")
        return report

    async def repair_path(self, path: Path) -> ImportRepair:
        """Copy what can be read of a session at a path into one of ours, with calls repaired.

        Raises:
            SessionError, StorageError: it cannot be read, or nothing of it can be continued.
        """
        return await settle(repair_path(self._new_sessions, path))

    async def fork_at(self, place: TreePlace | ImportedBranch) -> Fork:
        """Fork the path up to a place into a new session; other sessions stay as they are.

        Raises:
            SessionError: nothing of it can be continued, or its log changed since it was found.
        """
        if isinstance(place, ImportedBranch):
            return await settle(fork_imported(self._new_sessions, place))
        return await settle(fork_at(self._store, place, self._workspace))

    async def resume_path(self, path: Path, at: str = "") -> Fork:
        """Continue another agent's session as one of ours, behind a message or the last one.

        Raises:
            SessionError, StorageError: it cannot be read, or has no such message.
        """
        return await settle(resume_path(self._new_sessions, path, at))

    async def resume_checkpoint(self, path: Path, checkpoint: int) -> Fork:
        """Continue the session at a path before a checkpoint; without any, behind a message.

        Raises:
            SessionError, StorageError: it cannot be read, or has neither.
        """
        return await settle(resume_checkpoint(self._new_sessions, path, checkpoint))

    async def read_tree(self, typed: str) -> SessionTree:
        """The tree of a session that is not open here, read without opening it.

        Raises:
            SessionNotFound, StorageError: it cannot be read.
        """
        folder = await self.find_folder(typed)
        return await asyncio.to_thread(self._read_tree, folder)

    def _read_tree(self, folder: Path) -> SessionTree:
        return SessionTree.of_files(*sources_of(folder, self._store.related_sessions(folder.name)))

    async def open_path(self, path: Path) -> SessionView:
        """Read a log or session file of any known kind, to look at; a big log is only indexed."""
        return await open_view(path)

    async def open_tail(self, path: Path) -> SessionView | None:
        """The end of a big file, to be shown while ``open_path`` reads it."""
        return await open_view_tail(path)

    async def follow_path(self, path: Path, since_ns: int) -> AsyncIterator[NewerView]:
        """A file that another process writes; whenever it was written, what is new is read.

        ``since_ns``: when it was last read, as time.time_ns gives it.
        """
        from agent_tui.importers import registry as importers
        from agent_tui.importers.kept_lines import KeptLines
        from agent_tui.importers.lines import watch_lines

        kept = KeptLines()
        file = (await asyncio.to_thread(importers.locate, path)).path
        if await asyncio.to_thread(file.is_file):
            await asyncio.to_thread(watch_lines, file, kept)
        async for _ in follow_file(file, since_ns):
            began = time.monotonic()
            try:
                yield NewerView(await open_view(path, kept), kept.was_rewritten)
            except AgentTuiError:
                continue  # it is just being replaced: the next change tells
            await asyncio.sleep((time.monotonic() - began) * _REST_FACTOR)

    async def describe_path(self, path: Path) -> dict[str, Any]:
        """What a log or session file of any known kind holds, in numbers."""
        from agent_tui.importers.registry import describe

        return await asyncio.to_thread(describe, path)

    async def told_changes(self, path: Path, since: int | None) -> list[ChangeGroup]:
        """What the calls in a log of any known kind say that they changed in files.

        Raises:
            SessionError, StorageError: it cannot be read, or there is no such checkpoint.
        """
        from agent_tui.history.told.changes import read_told_changes

        return await asyncio.to_thread(read_told_changes, path, since)

    async def prompt_history(self) -> list[str]:
        """What was asked in the latest sessions of the workspace, oldest first."""
        return await asyncio.to_thread(self._read_prompts)

    async def last_exchanges(self, summary: SessionSummary) -> tuple[Exchange, ...]:
        """What was said last in a session; nothing where its log cannot be read."""
        if summary.source != OURS:
            return await asyncio.to_thread(read_last_exchanges, Path(summary.folder))
        return await asyncio.to_thread(_read_exchanges, Path(summary.folder) / LIVE)

    async def count_messages(self, summary: SessionSummary) -> int | None:
        """How many messages a session shows when it is open; None if unknown."""
        return await self._counts.count(summary)

    def _read_prompts(self) -> list[str]:
        rows = [row for row in self._own.rows() if row.cwd == str(self._workspace)]
        prompts: list[str] = []
        for row in reversed(rows[:_HISTORY_SESSIONS]):
            try:
                items = read_tail(Path(row.folder) / LIVE, _HISTORY_RECORDS)
            except AgentTuiError:
                continue
            records = (item.record for item in items if isinstance(item, Entry))
            prompts += [text_of(record.content) for record in records if is_prompt(record)]
        return prompts[-_HISTORY_PROMPTS:]


def read_last_exchanges(path: Path) -> tuple[Exchange, ...]:
    """What was said last in another agent's session; nothing where it cannot be read."""
    from agent_tui.importers import registry as importers

    try:
        tail = importers.read_tail(importers.locate(path), _PREVIEW_RECORDS)
    except AgentTuiError:
        return ()
    return last_exchanges(tail.records)


def _read_exchanges(log: Path) -> tuple[Exchange, ...]:
    try:
        items = read_tail(log, _PREVIEW_RECORDS)
    except AgentTuiError:
        return ()
    return last_exchanges([item.record for item in items if isinstance(item, Entry)])
