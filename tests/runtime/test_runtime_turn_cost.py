"""A turn costs what it adds: its operations are counted, in short sessions and in long ones."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_tui.config import load_settings
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    SessionHeader,
    SystemPrompt,
    ToolMessage,
    UserMessage,
)
from agent_tui.providers.base import Provider
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.providers.openai_compatible import OpenAICompatible
from agent_tui.runtime.building.assembling import Run
from agent_tui.runtime.connect.connections import Connections
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.starting.launch import Launch
from agent_tui.sessions.log import Durability
from agent_tui.sessions.store import SessionStore
from tests.providers.sse_server import (
    Answer,
    Seen,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
    usage_chunk,
)

SHORT, LONG = 100, 10_000


def conversation(messages: int) -> list[Record]:
    records: list[Record] = [SystemPrompt("Be careful.")]
    for turn in range(1, messages // 4 + 1):
        call = ToolCall(f"old-{turn}", "find_files", '{"pattern": "*.py"}')
        records += [
            Checkpoint(2 * turn, turn, 0),
            UserMessage(f"Look for part {turn}.", "human", turn),
            AssistantMessage("I look.", (call,), turn=turn),
            ToolMessage(call.id, f"part_{turn}.py", turn=turn),
            AssistantMessage(f"There is one part {turn}.", turn=turn),
        ]
    return records


class Calls:
    """Counts calls of functions, C functions included, on this thread and those it starts."""

    def __init__(self) -> None:
        self._counts: dict[int, int] | None = None

    def _see(self, _frame: object, event: str, _argument: object) -> None:
        counts = self._counts
        if counts is not None and event in {"call", "c_call"}:
            thread = threading.get_ident()
            counts[thread] = counts.get(thread, 0) + 1

    def __enter__(self) -> Calls:
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    async def of(self, work: Callable[[], Awaitable[Any]]) -> int:
        """The calls while something is done, wherever they happen."""
        self._counts = {}
        await work()
        counts, self._counts = self._counts, None
        return sum(counts.values())


async def cost_of_a_turn(folder: Path, provider: Provider, messages: int, calls: Calls) -> int:
    """The calls of one turn, with a tool, in a session of so many messages."""
    store = SessionStore(folder / "data")
    log = await store.create(SessionHeader("long", str(folder), "2026-01-01T00:00:00Z", "1"))
    await log.append(*conversation(messages), durability=Durability.D0)
    await log.close()
    engine = Engine(
        Run(
            launch=Launch(cwd=folder),
            settings=load_settings(),
            store=store,
            connections=Connections(load_settings(), provider, "some-model", 100_000_000),
            workspace=folder,
        )
    )
    session = await engine.open_session("long")
    for _ in range(2):  # the first turns count and encode what was there before
        await session.run_turn("go")
        await session.shares.filling()
    costs = []
    for _ in range(3):
        costs.append(await calls.of(lambda: session.run_turn("go")))
        costs[-1] += await calls.of(session.shares.filling)
    await engine.close_session(session)
    await engine.aclose()
    return min(costs)


def reply(seen: Seen) -> Answer:
    """A call, and when its result is there, an answer."""
    if seen.body["messages"][-1]["role"] == "tool":
        return stream(text_chunk("None."), finish_chunk(), usage_chunk(90_000, 9))
    call = call_chunk(0, call_id="c", name="find_files", arguments='{"pattern": "*.none"}')
    return stream(call, finish_chunk("tool_calls"), usage_chunk(90_000, 9))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stand-in", "http"])
async def test_the_operations_of_a_turn_do_not_grow_with_the_session(
    tmp_path: Path, kind: str
) -> None:
    costs = []
    with SseServer(reply=reply) as server, Calls() as calls:
        for messages in (SHORT, LONG):
            provider: Provider
            if kind == "http":
                provider = OpenAICompatible(base_url=server.url, api_key="k" * 20)
                await asyncio.to_thread(provider.warm)
            else:
                provider = Scripted(chunks_per_second=0)
            (tmp_path / str(messages)).mkdir()
            folder = tmp_path / str(messages)
            costs.append(await cost_of_a_turn(folder, provider, messages, calls))
    # The loop's own calls vary a little with what the sockets and threads do meanwhile.
    assert costs[1] < costs[0] * 1.15
