"""Capturing the files of a session while it is open, and reading what was captured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from agent_tui.agent.wire import Wire
from agent_tui.agent.workspace_watch import WorkspaceWatch
from agent_tui.core.errors import AgentTuiError, SessionNotFound, UnknownArchive
from agent_tui.core.records import Checkpoint, Record, SessionHeader, WorkspaceRecord
from agent_tui.sessions.archive import LIVE, archive_path, finished_archives
from agent_tui.sessions.folders import subfolders
from agent_tui.sessions.lineage import holder_of, inherited_archives
from agent_tui.sessions.marks import read_marks
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.session_summary import read_header
from agent_tui.sessions.store import Durability, SessionLog
from agent_tui.workspace.capture import Capture
from agent_tui.workspace.leftovers import remove_leftovers
from agent_tui.workspace.store import ContentStore, path_of_refs
from agent_tui.workspace.timeline import FileTimeline, Marks, build_timeline
from agent_tui.workspace.trimming import Unlisted, shrink


def content_store(log: SessionLog) -> ContentStore:
    """The store of file contents that a session shares with those of its project."""
    folder = log.folder.parent / "workspace"
    return ContentStore(str(folder), log.folder.name)


def has_cut_off_revert(log: SessionLog) -> bool:
    """Whether a revert of files started and never ended: the process died in it. Blocks."""
    return os.path.lexists(content_store(log).journal_path)


def watch_workspace(log: SessionLog, wire: Wire, workspace: Path | None) -> WorkspaceWatch:
    """Capture the files of a session's workspace (None: of none) while the log can be written."""
    capture = None
    if workspace is not None and log.on_disk and not log.read_only:
        capture = Capture(str(workspace), content_store(log))

    async def note(record: WorkspaceRecord) -> list[Record]:
        durability = Durability.D1 if record.delta else Durability.D0
        return await log.append(record, durability=durability)

    def find_tip() -> str | None:
        timeline = read_timeline(log)
        if capture is not None:
            tend_store(capture, timeline)
        return timeline.tip

    watch = WorkspaceWatch(capture, note, find_tip, lambda number: _uuid_of(log, number), wire)
    wire.subscribe(watch.hear)
    return watch


def tend_store(capture: Capture, timeline: FileTimeline) -> None:
    """Protect the contents that this session needs, and free space when stores are full."""
    capture.store.keep(_needed(timeline))  # without a lock now, the next capture writes it down
    with suppress(AgentTuiError, OSError), capture.store.locked():
        capture.store.flush()  # or another window may delete them until the next capture
        capture.store.note_use()
    with suppress(AgentTuiError, OSError):
        remove_leftovers(capture.store)
    projects = Path(capture.store.folder).parents[1]
    with suppress(AgentTuiError, OSError):
        folders = [str(folder) for folder in sorted(projects.glob("*/workspace"))]
        spare = capture.store.session_folder
        shrink(folders, capture.limits.store_bytes, spare, unlisted_forks)


def unlisted_forks(store: str) -> Iterator[Unlisted]:
    """The forks in the project of a store that were not opened since they were made.

    Their logs alone say which contents they inherited.
    """
    for folder in subfolders(Path(store).parent):
        if os.path.lexists(path_of_refs(str(Path(store, "sessions", folder.name)))):
            continue
        with suppress(AgentTuiError, OSError):
            log = folder / LIVE
            if (header := read_header(log)) and header.parent:
                needed = tuple(_needed(_timeline_of(folder, header)))
                yield Unlisted(folder.name, needed, log.stat().st_mtime)


def _needed(timeline: FileTimeline) -> Iterator[tuple[str, int]]:
    """The hashes and sizes of all contents that captures name."""
    for capture in timeline.captures:
        for change in capture.delta:
            for state in (change.old, change.new):
                if state and state.hash:
                    yield state.hash, state.size


def _timeline_of(folder: Path, header: SessionHeader) -> FileTimeline:
    """Every capture of a session that is not open here."""
    archives = [archive_path(folder, number) for number in finished_archives(folder)]
    for name in inherited_archives(header):
        kin = folder.parent / name  # one in another project has its contents there
        with suppress(SessionNotFound):
            archives += [
                archive_path(kin, number)
                for number in finished_archives(kin)
                if holder_of(header, number) == name
            ]
    return build_timeline([*_marks_in(archives), read_marks(folder / LIVE)])


def _uuid_of(log: SessionLog, number: int) -> str | None:
    entry = log.state.checkpoints.get(number)
    return entry.record.stamp.uuid if entry else None


def read_timeline(log: SessionLog) -> FileTimeline:
    """Every capture of a session, whatever log it is in now. Reads the archives."""
    archives = [path for _, path in sorted(log.archive_files().items())]
    return build_timeline([*_marks_in(archives), _live_marks(log.state)])


def _marks_in(archives: Iterable[Path]) -> Iterator[Marks]:
    for path in archives:
        with suppress(SessionNotFound, UnknownArchive):
            yield read_marks(path)


def _live_marks(state: SessionState) -> list[Checkpoint | WorkspaceRecord]:
    records = (entry.record for entry in state.all_entries)
    return [record for record in records if isinstance(record, Checkpoint | WorkspaceRecord)]
