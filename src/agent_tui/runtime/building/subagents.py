"""The sessions of subagents: each a child of the session whose call started it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from agent_tui.agent.instructions import Instructions
from agent_tui.agent.spec import AgentSpec
from agent_tui.agent.subagent import Child
from agent_tui.agent.wire import Wire
from agent_tui.core.dataclass import dataclass
from agent_tui.core.events import TurnEnd
from agent_tui.core.records import Record, TitleRecord
from agent_tui.core.text import first_line
from agent_tui.history.records.records_view import RecordsView
from agent_tui.runtime.building.parts import SessionParts
from agent_tui.runtime.stored.headers import new_header
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import Durability, SessionStore


class BuildChild(Protocol):
    """Assembles a subagent over its log."""

    async def instruct(self, log: SessionLog, spec: AgentSpec | None = None) -> Instructions:
        """Write its system prompt."""
        ...

    def build_child(
        self, log: SessionLog, wire: Wire, spec: AgentSpec, parent: SessionParts
    ) -> SessionParts:
        """Its parts; who is asked is the parent's person."""
        ...


@dataclass(frozen=True, slots=True)
class SubagentSessions:
    """Opens children of one session; what they wrote stays when they are closed."""

    store: SessionStore
    builder: BuildChild
    log: SessionLog
    workspace: Path

    @asynccontextmanager
    async def open(
        self, parent: SessionParts, spec: AgentSpec, call_id: str
    ) -> AsyncIterator[Child]:
        """A session for a subagent that a call of the parent has started."""
        header = await asyncio.to_thread(new_header, self.workspace)
        link = {"agent_of": self.log.folder.name, "call": call_id, "agent": spec.name}
        log = await self.store.create(replace(header, parent=link, agent=spec.name))
        async with AsyncExitStack() as closing:
            closing.push_async_callback(log.close)
            await self.builder.instruct(log, spec)
            wire = Wire()
            parts = self.builder.build_child(log, wire, spec, parent)
            closing.push_async_callback(parts.equipment.commands.close)

            async def run(prompt: str) -> TurnEnd:
                title = TitleRecord(f"{spec.name}: {first_line(prompt)}")
                await log.append(title, durability=Durability.D0)
                return await parts.agent.run_turn(prompt)

            def records() -> list[Record]:
                return list(RecordsView(log.state.entries))

            yield Child(log.folder.name, wire, run, records)
