"""What is recorded before a turn: how the last one ended, where this one runs, its title."""

from __future__ import annotations

import asyncio

from agent_tui.agent.settle import settle
from agent_tui.agent.unanswered import CUT_OFF, was_cut_off
from agent_tui.core.events import NoticeGiven
from agent_tui.core.records import Record, TitleRecord, TurnEndRecord
from agent_tui.history.view import SessionView
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.runtime.stored.headers import environment_change
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import Durability


def find_cut_off(parts: CurrentParts, view: SessionView) -> str:
    """That the program ended in the middle of the last turn, if it did; else empty."""
    # What the disk refused is held, and says how the turn really ended.
    has_unsaved = parts.now.agent.has_unsaved
    return "" if has_unsaved or not was_cut_off(view.records) else CUT_OFF


async def note_beginning(parts: CurrentParts, title: str, cut_off: str) -> None:
    """Record what changed since the turn before.

    Args:
        parts: the session that has the turn.
        title: what the session is called from now on; empty where it has a name. Said once, so
            that a compaction of the first prompt does not change it.
        cut_off: that the program ended in the last turn; said for good, as it is not the last now.
    """
    log = parts.log
    if cut_off:
        await _write(log, TurnEndRecord("killed", cut_off, parts.now.context.last_turn))
    await _note_environment(parts)
    if title:
        await _write(log, TitleRecord(title))


async def _note_environment(parts: CurrentParts) -> None:
    """Write down folder, branch and version where they changed since the turn before."""
    state, workspace = parts.log.state, parts.equipment.workspace
    changed = await asyncio.to_thread(
        environment_change, state.header, state.environment, workspace
    )
    if changed is not None:
        await _write(parts.log, changed)
        parts.wire.emit(NoticeGiven(changed.told, "environment"))


async def _write(log: SessionLog, record: Record) -> None:
    await settle(log.append(record, durability=Durability.D0))
