"""Forking at any point of a log: a live one, an archive, or a related session's."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_tui.core.tree import Fork, TreePlace
from agent_tui.runtime.stored.headers import fork_header
from agent_tui.runtime.stored.naming import name_copy, title_of
from agent_tui.sessions.replay import load_log
from agent_tui.sessions.store import ForkPoint, SessionStore


async def fork_at(store: SessionStore, place: TreePlace, workspace: Path) -> Fork:
    """Copy the path up to a place into a new session; the log that holds it is only read.

    Args:
        store: where the new session is made.
        place: the last record that is kept.
        workspace: where the new session works if the log does not say.

    Raises:
        SessionError: the log changed since the place was found.
    """
    path = Path(place.log)
    state, inode = await asyncio.to_thread(load_log, path)
    upto = ForkPoint(state, inode, state.entry_at(place.offset, place.uuid))
    header = await asyncio.to_thread(fork_header, state.header, workspace)
    await name_copy(await store.fork(path, upto, header), f"{title_of(state)} (fork)")
    return Fork(header.session_id, place.prompt)
