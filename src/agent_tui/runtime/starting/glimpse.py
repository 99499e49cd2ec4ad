"""The end of the session that is asked for, read before there is an engine that opens it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import HeadRecord, Record, UsageRecord
from agent_tui.history.records.records_view import ShownRecords
from agent_tui.runtime.starting.folds import read_folds
from agent_tui.runtime.starting.launch import Launch
from agent_tui.sessions.archive import LIVE
from agent_tui.sessions.folders import project_name, projects_folder, session_folders, subfolders
from agent_tui.sessions.index import read_tail
from agent_tui.sessions.replay import Damage, Entry, read_log

if TYPE_CHECKING:
    from agent_tui.core.summary import SessionSummary

_SHORT_LOG_BYTES = 400_000
_RECORDS = 200
_ENOUGH = 80
"""Records that fill a screen, whatever they are."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The end of a session, and which of its entries a reader opened or folded."""

    records: Sequence[Record] = ()
    folds: Mapping[str, bool] = field(default_factory=dict)


def read_glimpse(launch: Launch) -> Glimpse:
    """The end of the session that a launch asks for; nothing where that takes the engine. Blocks.

    A short log is read whole. Of a long one only what is certain to be on the active path is told:
    what its last lines say behind the last branch.
    """
    try:
        log = _find_log(launch)
        if log is not None and (records := _read_end(log)):
            return Glimpse(records, read_folds(log.parent))
    except (AgentTuiError, OSError):
        pass
    return Glimpse()


def _find_log(launch: Launch) -> Path | None:
    projects = projects_folder(launch.home)
    if launch.ephemeral:
        return None
    if launch.resume:
        found = [path for path in session_folders(projects) if path.name.startswith(launch.resume)]
        exact = [path for path in found if path.name == launch.resume]
        folders = exact[:1] or found
        return folders[0] / LIVE if len(folders) == 1 else None
    if launch.latest and not launch.demo:
        last = _read_last(launch)
        return Path(last.folder) / LIVE if last is not None else None
    return None


def read_last(launch: Launch) -> SessionSummary | None:
    """What was last worked on in the folder of a launch; None where nothing is kept of it. Blocks.

    A demo gets a new folder each time.
    """
    if launch.demo or launch.ephemeral:
        return None
    try:
        return _read_last(launch)
    except (AgentTuiError, OSError):
        return None


def read_last_count(folder: Path) -> UsageRecord | None:
    """What was counted last of a session's context; None where nothing was. Blocks."""
    try:
        tail = read_tail(folder / LIVE, _ENOUGH)
    except (AgentTuiError, OSError):
        return None
    records = (item.record for item in reversed(tail) if isinstance(item, Entry))
    return next((each for each in records if isinstance(each, UsageRecord)), None)


def _read_last(launch: Launch) -> SessionSummary | None:
    """The session of a folder, as its header names it, whose log was written last."""
    from agent_tui.sessions.session_summary import read_session_summary

    cwd = str(launch.cwd)
    project = projects_folder(launch.home) / project_name(cwd)
    logs = [folder / LIVE for folder in subfolders(project) if (folder / LIVE).exists()]
    for log in sorted(logs, key=lambda path: path.stat().st_mtime, reverse=True):
        summary = read_session_summary(log.parent)
        said = summary.title or summary.first_prompt or summary.archives
        if summary.cwd == cwd and said and not summary.agent_of:
            return summary
    return None


def _read_end(log: Path) -> Sequence[Record]:
    if log.stat().st_size <= _SHORT_LOG_BYTES:
        state = read_log(log)
        return ShownRecords(state.entries, state.damaged) if state.messages else ()
    items = read_tail(log, _RECORDS)
    entries = [item for item in items if isinstance(item, Entry)]
    heads = [n for n, entry in enumerate(entries) if isinstance(entry.record, HeadRecord)]
    if heads:
        entries = entries[heads[-1] :]
        if len(entries) < _ENOUGH:
            return ()
    first = entries[0].offset if entries else 0
    damaged = [item for item in items if isinstance(item, Damage) and item.offset > first]
    return ShownRecords(entries, damaged)
