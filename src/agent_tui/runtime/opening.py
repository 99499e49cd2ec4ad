"""Opening a session over its log: assembled, with what its user should know."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from agent_tui.agent.wire import Listener, Wire
from agent_tui.core.words import describe_wide_folder
from agent_tui.runtime.building.builder import SessionBuilder
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.runtime.live_session import LiveSession
from agent_tui.sessions.store import SessionLog, SessionStore


class Opening:
    """Makes live sessions out of logs; a log whose session cannot be made is closed.

    Args:
        builder: assembles them.
        store: where the sessions beside them are.
        listeners: who hears the events of every session, beside its screen.
    """

    def __init__(
        self, builder: SessionBuilder, store: SessionStore, listeners: Sequence[Listener]
    ) -> None:
        self._builder = builder
        self._store = store
        self._listeners = listeners

    async def open(self, log: SessionLog) -> LiveSession:
        """The session of a log, which it owns from here on."""
        try:
            session = await self._assemble(log)
        except BaseException:
            await log.close()
            raise
        await self._tell_folder(log)
        return session

    def accept_folder(self, folder: Path) -> None:
        """Let sessions work in a folder, however wide, as a person decided."""
        self._builder.accept_folder(folder)

    async def _assemble(self, log: SessionLog) -> LiveSession:
        builder = self._builder
        instructions = await builder.instruct(log)
        connection = await asyncio.to_thread(builder.connection_for, log)
        parts = CurrentParts(log, Wire(), builder, connection)
        await parts.note_model()
        related = partial(self._store.related_sessions, log.folder.name)
        session = LiveSession(parts, related)
        session.wide_folder = builder.wide_folder(log)
        session.instructions = instructions.describe(builder.workspace_of(log))
        for listener in self._listeners:
            session.subscribe(listener)
        await session.recover_files()
        return session

    async def _tell_folder(self, log: SessionLog) -> None:
        """Say if the session does not work in the folder that its log names."""
        folder = self._builder.workspace_of(log)
        if wide := self._builder.wide_folder(log):
            log.notices.append(describe_wide_folder(wide, folder))
        if not await asyncio.to_thread(folder.is_dir):
            log.notices.append(
                f"The folder of this session, {folder}, no longer exists. You can read and "
                "continue the session, but its tools will find no files."
            )
