"""Real folders for the laws of the session store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_tui.core.records import SessionHeader
from agent_tui.sessions.replay import Entry
from agent_tui.sessions.store import ForkPoint, SessionLog, SessionStore


def header(session_id: str = "s1", cwd: str = "/home/ada/engine") -> SessionHeader:
    return SessionHeader(session_id, cwd, "2025-01-01T10:00:00.000Z", "0.1.0")


async def fork_at(store: SessionStore, log: SessionLog, entry: Entry, name: str) -> SessionLog:
    """A new session from the path of an open one up to an entry."""
    point = ForkPoint(log.state, log.path.stat().st_ino, entry)
    return await store.fork(log.path, point, header(name))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SessionStore]:
    store = SessionStore(tmp_path / "data")
    yield store
    await store.aclose()


@pytest.fixture
async def log(store: SessionStore) -> AsyncIterator[SessionLog]:
    log = await store.create(header())
    yield log
    await log.close()
