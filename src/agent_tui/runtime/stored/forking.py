"""A session of its own out of any point of a tree: of a live log, an archive, or a kin's log."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_tui.core.tree import Fork, TreeRow
from agent_tui.history.session_tree import SessionTree
from agent_tui.runtime.stored.headers import fork_header
from agent_tui.runtime.stored.naming import name_copy, title_of
from agent_tui.sessions.replay import load_log
from agent_tui.sessions.store import SessionStore


async def fork_at(store: SessionStore, tree: SessionTree, row: TreeRow, workspace: Path) -> Fork:
    """Copy the path up to a row into a new session; the log that holds it is only read.

    A prompt is left out and comes back to be edited, as where a branch begins.

    Args:
        store: where the new session is made.
        tree: the tree that the row belongs to.
        row: the last row that is kept, or the prompt before which the new session ends.
        workspace: where the new session works if the log does not say.

    Raises:
        SessionError: nothing comes before the row, or its log changed since the tree was read.
    """
    place = await tree.branch_place(row)
    path = Path(place.log)
    prompt = await tree.prompt_at(row)
    state, inode = await asyncio.to_thread(load_log, path)
    upto = state.entry_at(place.offset, place.uuid)
    header = await asyncio.to_thread(fork_header, state.header, workspace)
    log = await store.fork(path, state, inode, header, upto)
    await name_copy(log, f"{title_of(state)} (fork)")
    return Fork(header.session_id, prompt)
