"""What a person chooses for a session, and can undo: its name, labels of entries, the model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal, assert_never

from agent_tui.agent.settle import settle
from agent_tui.core.records import Choice, LabelRecord, ModelRecord, TitleRecord
from agent_tui.core.text import first_line
from agent_tui.runtime.stored.naming import rename_log
from agent_tui.sessions.store import Durability, SessionLog

_LONGEST_LABEL = 80


class Choices:
    """Writes choices to a log, one at a time: each says what was in force before it.

    Args:
        log: the session's log.
        put_back_model: has the model from before a choice asked again, and writes that down.
    """

    def __init__(
        self, log: SessionLog, put_back_model: Callable[[ModelRecord, str], Awaitable[str]]
    ) -> None:
        self._log = log
        self._put_back_model = put_back_model
        self._gate = asyncio.Lock()

    async def rename(self, title: str) -> None:
        """Name the session."""
        async with self._gate:
            await rename_log(self._log, title)

    async def label(self, target: str, label: str, archived: str = "") -> None:
        """Name an entry by its id; an empty label takes its name away.

        ``archived`` is the name that an archive tells: it counts where the log says nothing.
        """
        label = first_line(label.strip(), _LONGEST_LABEL)
        async with self._gate:
            state = self._log.state
            before = "" if target in state.unlabelled else state.labels.get(target, archived)
            if label != before:
                await self._write(LabelRecord(target, label, before))

    async def put_back(self, act: Choice, reason: Literal["undo", "redo"]) -> str:
        """Restore what was in force before a choice; returns a sentence that says so."""
        async with self._gate:
            match act:
                case TitleRecord(before=before):
                    title = before or ""
                    await self._write(TitleRecord(title, self._log.state.title, reason))
                    return f"Name: “{title}”" if title else "Name removed"
                case LabelRecord(target, before=before):
                    label, now = before or "", self._log.state.labels.get(target, "")
                    await self._write(LabelRecord(target, label, now, reason))
                    return f"Label: “{label}”" if label else "Label removed"
                case ModelRecord():
                    return f"Model: {await self._put_back_model(act, reason)}"
                case _:
                    assert_never(act)

    async def _write(self, record: Choice) -> None:
        await settle(self._log.append(record, durability=Durability.D1))
