"""What a person chooses for a session, and can undo: its name, labels of entries, the model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal, assert_never

from agent_tui.agent.settle import settle
from agent_tui.core.records import UNSTAMPED, Choice, LabelRecord, ModelRecord, TitleRecord
from agent_tui.core.text import first_line
from agent_tui.sessions.store import Durability, SessionLog

_LONGEST_TITLE = 200
_LONGEST_LABEL = 80


class Choices:
    """Writes choices to a log, one at a time: each says what was in force before it.

    Args:
        log: the session's log.
        use_model: has a model asked from here on, and writes its record.
    """

    def __init__(
        self, log: SessionLog, use_model: Callable[[ModelRecord], Awaitable[None]]
    ) -> None:
        self._log = log
        self._use_model = use_model
        self._gate = asyncio.Lock()

    async def rename(self, title: str) -> None:
        """Name the session."""
        title = first_line(title, _LONGEST_TITLE)
        async with self._gate:
            before = self._log.state.title
            if title != before:
                await self._write(TitleRecord(title, before))

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
        """Choose again what was in force before a choice; returns a sentence that says so."""
        async with self._gate:
            match act:
                case TitleRecord(before=before):
                    title = before or ""
                    await self._write(TitleRecord(title, self._log.state.title, reason))
                    return f"Name is “{title}” again." if title else "The name is gone again."
                case LabelRecord(target, before=before):
                    label, now = before or "", self._log.state.labels.get(target, "")
                    await self._write(LabelRecord(target, label, now, reason))
                    return f"Label is “{label}” again." if label else "The label is gone again."
                case ModelRecord(model=now, before=before):
                    model = before or ""
                    change = replace(act, model=model, before=now, reason=reason, stamp=UNSTAMPED)
                    await self._use_model(change)
                    return f"Model is {model} again."
                case _:
                    assert_never(act)

    async def _write(self, record: Choice) -> None:
        await settle(self._log.append(record, durability=Durability.D1))
