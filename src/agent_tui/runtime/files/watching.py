"""Capturing the files of a session while it is open, and reading what was captured."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from agent_tui.agent.wire import Wire
from agent_tui.agent.workspace_watch import WorkspaceWatch
from agent_tui.core.errors import AgentTuiError, SessionNotFound, UnknownArchive
from agent_tui.core.records import Checkpoint, Record, WorkspaceRecord
from agent_tui.sessions.marks import read_marks
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.store import Durability, SessionLog
from agent_tui.workspace.capture import Capture
from agent_tui.workspace.store import ContentStore
from agent_tui.workspace.timeline import FileTimeline, Marks, build_timeline
from agent_tui.workspace.trimming import shrink


def content_store(log: SessionLog) -> ContentStore:
    """The store of file contents that a session shares with those of its project."""
    folder = log.folder.parent / "workspace"
    return ContentStore(str(folder), log.folder.name)


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
            _tend_store(capture, timeline)
        return timeline.tip

    watch = WorkspaceWatch(capture, note, find_tip, lambda number: _uuid_of(log, number), wire)
    wire.subscribe(watch.hear)
    return watch


def _tend_store(capture: Capture, timeline: FileTimeline) -> None:
    """Keep what this session needs, a fork's past included; make room where all stores are full."""
    states = (state for each in timeline.captures for c in each.delta for state in (c.old, c.new))
    capture.store.keep((state.hash, state.size) for state in states if state and state.hash)
    projects = Path(capture.store.folder).parents[1]
    with suppress(AgentTuiError, OSError):
        folders = [str(folder) for folder in sorted(projects.glob("*/workspace"))]
        shrink(folders, capture.limits.store_bytes, capture.store.session_folder)


def _uuid_of(log: SessionLog, number: int) -> str | None:
    entry = log.state.checkpoints.get(number)
    return entry.record.stamp.uuid if entry else None


def read_timeline(log: SessionLog) -> FileTimeline:
    """Every capture of a session, whatever log it is in now. Reads the archives."""
    logs: list[Marks] = []
    for _, path in sorted(log.archive_files().items()):
        with suppress(SessionNotFound, UnknownArchive):
            logs.append(read_marks(path))
    return build_timeline([*logs, _live_marks(log.state)])


def _live_marks(state: SessionState) -> list[Checkpoint | WorkspaceRecord]:
    records = (entry.record for entry in state.all_entries)
    return [record for record in records if isinstance(record, Checkpoint | WorkspaceRecord)]
