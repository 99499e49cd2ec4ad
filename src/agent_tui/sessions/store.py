"""Every session under one data folder: make, find, open, throw away and bring back."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.errors import (
    AgentTuiError,
    LogChanged,
    SessionBusy,
    SessionNotFound,
    SessionReadOnly,
    UsageError,
)
from agent_tui.core.jsonl import encode
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    MESSAGE_TYPES,
    HeadRecord,
    SessionHeader,
    Stamp,
    UnknownRecord,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.sessions.archive import LIVE, archive_numbers
from agent_tui.sessions.disk import (
    FILE_MODE,
    FOLDER_MODE,
    create_folder,
    move_folder,
    reading,
    sync_folder,
    tighten,
    translate_os_errors,
)
from agent_tui.sessions.folders import (
    folders_of_projects,
    may_hold_log,
    project_name,
    projects_folder,
    session_folders,
    subfolders,
)
from agent_tui.sessions.lineage import SESSION_ID, bequeathed_archives
from agent_tui.sessions.lock import OPEN_ELSEWHERE, FolderLock, Ownership
from agent_tui.sessions.log import Durability, Piece, create_log
from agent_tui.sessions.log_writer import stamped, utc_now, whole_line
from agent_tui.sessions.replay import SessionState, load_log
from agent_tui.sessions.session_log import ForkPoint, SessionLog
from agent_tui.sessions.session_summary import (
    parent_session,
    read_header,
    read_session_summary,
    unreadable_summary,
)
from agent_tui.sessions.writer import Writer

if TYPE_CHECKING:
    from agent_tui.sessions.repair import RepairReport

__all__ = ["Durability", "ForkPoint", "SessionLog", "SessionStore"]


def _read_row(folder: str) -> SessionSummary | None:
    return read_session_summary(Path(folder)) if may_hold_log(folder) else None


class SessionStore:
    """All sessions of one data folder; one thread writes them all."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.projects = projects_folder(root)
        self.trash = root / "trash"
        self._writer = Writer()

    async def create(self, header: SessionHeader) -> SessionLog:
        """Make a new session; when this returns, it survives a power cut.

        Raises:
            UsageError: the id is not a session id, or there is such a session already.
        """
        folder = self._folder_of(header)
        line = encode(record_fields(stamped(header, None, utc_now())))
        await asyncio.to_thread(self._make_session, folder, [line])
        return await self.open_folder(folder)

    async def open(self, session_id: str) -> SessionLog:
        """Open a session by id, for writing if no other window has it.

        Raises:
            SessionNotFound: no session has that id.
        """
        return await self.open_folder(await asyncio.to_thread(self.find, session_id))

    async def open_folder(self, folder: Path, read_only: str = "") -> SessionLog:
        """Open the session in a folder; give a reason to open it for reading only."""
        return await asyncio.to_thread(self._open, folder, read_only)

    def _open(self, folder: Path, read_only: str) -> SessionLog:
        notices: list[str] = []
        ownership = None
        if not read_only:
            ownership, read_only = _claim(folder)
        try:
            if ownership is not None:
                notices = _tightened(folder)
            state, inode = load_log(folder / LIVE)
        except BaseException:
            if ownership is not None:
                ownership.give_up()
            raise
        # Who brought the session back from the trash may have died before its place was durable.
        above = (folder.parent,)
        log = SessionLog(
            folder, state, inode, self._writer, ownership, read_only, self.fork, self.find, above
        )
        log.notices = notices
        return log

    async def fork(self, path: Path, upto: ForkPoint, header: SessionHeader) -> SessionLog:
        """Start a new session from the path up to an entry of any log.

        An archive and the log of another session do as well as an open one. What is kept is copied
        byte for byte.

        Raises:
            LogChanged: the path is another log by now; read it again, then fork again.
        """
        folder = self._folder_of(header)
        await asyncio.to_thread(self._copy_path, path, upto, header, folder)
        return await self.open_folder(folder)

    def _copy_path(self, path: Path, upto: ForkPoint, header: SessionHeader, folder: Path) -> None:
        state = upto.state
        entries = state.entries if upto.entry is None else state.path_to(upto.entry)
        root = state.header.stamp.uuid if state.header else None
        last = entries[-1].record.stamp.uuid if entries else ""
        left_out = (SessionHeader, HeadRecord)
        kept = [entry for entry in entries if not isinstance(entry.record, left_out)]
        parent: dict[str, object] = {"session_id": path.parent.name, "uuid": last}
        records = (entry.record for entry in kept)
        if archives := bequeathed_archives(state.header, path.parent.name, records):
            parent["archives"] = archives
        # The copied root keeps its id: what was copied hangs off it, and the tree finds it again.
        first = replace(header, parent=parent, stamp=Stamp(root))
        line = encode(record_fields(stamped(first, None, utc_now())))
        with reading(path) as (descriptor, status):
            if status.st_ino != upto.inode:
                raise LogChanged(
                    f"{path} was replaced by another window; nothing was forked. Try again."
                )
            lines = (whole_line(descriptor, entry) for entry in kept)
            self._make_session(folder, chain([line], chain.from_iterable(lines)))

    async def repair(self, folder: Path, session_id: str) -> RepairReport:
        """Write a clean copy of a session as a new one; the original is only read.

        Raises:
            SessionNotFound: the folder holds no log.
        """
        return await asyncio.to_thread(self._repair, folder, session_id)

    def _repair(self, folder: Path, session_id: str) -> RepairReport:
        from agent_tui.sessions.repair import (
            clean_header,
            copy_pieces,
            plan_clean_copy,
            report_copy,
        )

        source = folder / LIVE
        with reading(source) as (descriptor, _):
            copy = plan_clean_copy(descriptor)
            header = clean_header(copy, session_id, source)
            target = self._folder_of(header)
            self._make_session(target, copy_pieces(copy, header, descriptor))
        return report_copy(copy, header, target)

    def _make_session(self, folder: Path, pieces: Iterable[Piece]) -> None:
        with translate_os_errors("create", folder):
            self._make_folder(folder)
        create_log(folder, pieces)

    def _make_folder(self, folder: Path) -> None:
        """Create a folder below the root if need be, so that it is found after a power cut."""
        create_folder(folder)
        for above in folder.parents:  # one of them may be left by a process that died
            sync_folder(above)
            if above == self.root:
                break

    def _folder_of(self, header: SessionHeader) -> Path:
        return self.projects / project_name(header.cwd) / _checked(header.session_id)

    def find(self, session_id: str) -> Path:
        """The folder of a session; of several of that name, the first. Reads the disk.

        Raises:
            SessionNotFound: no session has that id.
            SessionReadOnly, StorageError: where it may be cannot be looked into.
        """
        unlisted: dict[Path, AgentTuiError] = {}
        if SESSION_ID.fullmatch(session_id):
            for folder in session_folders(self.projects, unlisted):
                if folder.name == session_id:
                    return folder
        for error in unlisted.values():
            raise error
        raise SessionNotFound(f"There is no session {session_id!r} under {self.projects}.")

    def list(
        self, read: Callable[[str], SessionSummary | None] = _read_row
    ) -> list[SessionSummary]:
        """Every session, newest first. Reads the head and the tail of each log.

        ``read`` gives the row of a folder, where it is not to be read from its log; None where
        the folder holds none.

        What cannot be read says so in its title, and so does a copy that its id does not open.
        """
        unlisted: dict[Path, AgentTuiError] = {}
        summaries: dict[str, SessionSummary] = {}
        others: list[SessionSummary] = []
        for folder in folders_of_projects(self.projects, unlisted):
            if (summary := read(folder)) is None:
                continue
            name = folder.rpartition("/")[2]
            if name not in summaries and SESSION_ID.fullmatch(name):
                summaries[name] = summary
            else:
                title = f"agent-tui open {folder} reads this copy: {summary.title}"
                others.append(replace(summary, title=title))
        others += [unreadable_summary(project, error) for project, error in unlisted.items()]
        every = (*summaries.values(), *others)
        return sorted(every, key=lambda summary: summary.updated_at, reverse=True)

    async def discard(self, session_id: str) -> None:
        """Remove a session in which nothing was ever said; any other stays as it is."""
        await asyncio.to_thread(self._discard, session_id)

    def _discard(self, session_id: str) -> None:
        folder = self.find(session_id)
        ownership, _ = _claim(folder)
        if ownership is None:
            return
        try:
            with translate_os_errors("remove", folder):
                if not _holds_words(load_log(folder / LIVE)[0]) and not archive_numbers(folder):
                    # Away in one step: nobody may open it while a part of it is gone already.
                    place = self._move_to_trash(folder)
                    with suppress(OSError):  # what stays is in the trash, where it harms nobody
                        os.unlink(place / LIVE)  # first: without it, nobody brings it back
                        shutil.rmtree(place)
        finally:
            ownership.give_up()

    def related_sessions(self, session_id: str) -> Sequence[Path]:
        """The folders of all sessions that hang together with one by forks, itself among them.

        Each comes behind the one that it was forked from. Reads every header.
        """
        folders: dict[str, Path] = {}
        for folder in session_folders(self.projects):
            folders.setdefault(folder.name, folder)  # which is the one that find finds
        parents = {name: parent_session(folder / LIVE) for name, folder in folders.items()}
        kin, grew = {session_id, parents.get(session_id, "")} - {""}, True
        while grew:
            found = {n for n, parent in parents.items() if parent in kin}
            found |= {parents[name] for name in kin if parents.get(name)}
            grew = not found <= kin
            kin |= found
        ordered = sorted(kin, key=lambda name: (_generation(name, parents), name))
        return [folders[name] for name in ordered if name in folders]

    async def delete(self, session_id: str) -> Path:
        """Move a session into the trash; returns its place there, which undelete takes.

        Raises:
            SessionBusy: a window has it open, or somebody writes it all the while.
        """
        return await asyncio.to_thread(self._delete, session_id)

    def _delete(self, session_id: str) -> Path:
        folder = self.find(session_id)
        ownership, why_not = _claim(folder)
        if ownership is None:
            raise SessionBusy(f"{session_id} cannot be deleted: {why_not}.")
        lock = FolderLock(folder)  # somebody may be writing who does not own it
        try:
            with translate_os_errors("delete", folder):
                lock.acquire()
                return self._move_to_trash(folder)
        finally:
            lock.close()
            ownership.give_up()

    def _move_to_trash(self, folder: Path) -> Path:
        self._make_folder(self.trash)
        number = 1
        while (place := self.trash / f"{folder.name}-{number}").exists():
            number += 1
        move_folder(folder, place)
        return place

    def place_of_deleted(self, session_id: str) -> Path:
        """Where a deleted session lies in the trash; of several of that id, the latest.

        Raises:
            SessionNotFound: none of that id was deleted.
        """
        form = re.compile(re.escape(_checked(session_id)) + r"-([0-9]+)")
        places = {
            int(match[1]): place
            for place in subfolders(self.trash)
            if (match := form.fullmatch(place.name)) and os.path.lexists(place / LIVE)
        }
        if not places:
            raise SessionNotFound(f"There is no deleted session {session_id}.")
        return places[max(places)]

    async def undelete(self, place: Path) -> None:
        """Put a deleted session back where it was.

        Raises:
            UsageError: the place is not in the trash, or the session's id is in use again.
        """
        await asyncio.to_thread(self._undelete, place)

    def _undelete(self, place: Path) -> None:
        with translate_os_errors("restore", place):
            if place.parent != self.trash or not place.is_dir():
                raise UsageError(f"{place} is not a deleted session.")
            header = read_header(place / LIVE)
            session_id = place.name.rpartition("-")[0]
            folder = self.projects / project_name(header.cwd if header else "") / session_id
            if folder.exists():
                raise UsageError(f"{folder} exists already; move it away first.")
            self._make_folder(folder.parent)
            move_folder(place, folder)

    async def aclose(self) -> None:
        """Finish every write that was started."""
        await asyncio.to_thread(self._writer.close)


def _generation(session_id: str, parents: Mapping[str, str]) -> int:
    """How often what a session descends from was forked; headers that name each other end it."""
    ancestors = {session_id}
    while (parent := parents.get(session_id, "")) and parent not in ancestors:
        ancestors.add(parent)
        session_id = parent
    return len(ancestors)


def _checked(session_id: str) -> str:
    if not SESSION_ID.fullmatch(session_id):
        raise UsageError(
            f"A session id is up to 64 letters, digits, '.', '_' and '-'; got {session_id!r}."
        )
    return session_id


def _claim(folder: Path) -> tuple[Ownership | None, str]:
    """The right to write a session, or why this window cannot have it."""
    ownership = Ownership(folder)
    try:
        with translate_os_errors("write", folder):
            if ownership.claim(utc_now()):
                return ownership, ""
    except SessionReadOnly:
        return None, f"its folder {folder} cannot be written"
    return None, OPEN_ELSEWHERE


def _holds_words(state: SessionState) -> bool:
    """Whether something was ever said, on any branch; what cannot be read may have been."""
    said = (*MESSAGE_TYPES, UnknownRecord)
    return bool(state.damaged) or any(isinstance(e.record, said) for e in state.all_entries)


def _tightened(folder: Path) -> list[str]:
    """Close what others could read; one sentence for each thing that was open."""
    notices = []
    with translate_os_errors("restrict access to", folder):
        if tighten(folder, FOLDER_MODE):
            notices.append(f"{folder} could be read by others; now only you can read it.")
        for name in sorted(os.listdir(folder)):
            path = folder / name
            if name.startswith(LIVE) and tighten(path, FILE_MODE):
                notices.append(f"{path} could be read by others; now only you can read it.")
    return notices
