"""Real sessions in a temporary folder, and a conversation to fill them with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from agent_tui.context.context import Context
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    ModelRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    UserMessage,
)
from agent_tui.sessions.log import Durability
from agent_tui.sessions.store import SessionStore

NewContext = Callable[[], Awaitable[Context]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SessionStore]:
    store = SessionStore(tmp_path / "data")
    yield store
    await store.aclose()


@pytest.fixture
async def context(store: SessionStore) -> AsyncIterator[Context]:
    """A new session with header, system prompt, model and title, and no messages."""
    log = await store.create(SessionHeader("session", "/w", "2025-01-01T00:00:00Z", "0"))
    await log.append(
        SystemPrompt("You are a careful agent."),
        ModelRecord("scripted", "some-model"),
        TitleRecord("Fixing things"),
        durability=Durability.D0,
    )
    context = Context(log, TokenCounter("some-model"))
    yield context
    await log.close()


@pytest.fixture
async def talk(context: Context) -> Context:
    """Six turns: a request, a call with its result, an answer."""
    for turn in range(1, 7):
        await add_turn(context, turn)
    return context


async def add_turn(context: Context, turn: int) -> None:
    """One turn as the loop writes it."""
    await context.checkpoint(turn, 0)
    path = f"src/module_{turn}.py"
    call = ToolCall(f"call_{turn}", "read_file", f'{{"path": "{path}"}}')
    await context.append(
        UserMessage(f"Please look at {path} and mend what is broken there.", "human", turn),
        AssistantMessage("I read the file first.", (call,), turn=turn),
        ToolMessage(call.id, "def broken():\n    return 1 / 0\n" * 30, turn=turn),
        AssistantMessage(f"Module {turn} divides by zero; mended.", turn=turn),
        durability=Durability.D0,
    )
