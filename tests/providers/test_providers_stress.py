"""The stress scenario answers every prompt with as many chunks as were asked for."""

from __future__ import annotations

import pytest

from agent_tui.core.events import TextDelta
from agent_tui.core.records import UserMessage
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.providers.demo.stress import stress_scenario


@pytest.mark.parametrize("chunks", [1, 50, 3_000])
async def test_an_answer_has_the_chunks_that_were_asked_for(chunks: int) -> None:
    provider = Scripted(stress_scenario(chunks, chunks_per_second=0))
    for _ in range(2):
        request = ModelRequest("stress", "", (UserMessage("go", origin="human"),), (), 512)
        parts = [part async for part in provider.stream(request) if isinstance(part, TextDelta)]
        assert 0.95 * chunks - 1 <= len(parts) <= chunks


async def test_an_answer_holds_every_kind_of_block() -> None:
    (reply, *_) = stress_scenario(1_000).script
    for mark in ("## ", "1. ", "   - ", "```python", "| Day |", "> "):
        assert f"\n{mark}" in reply.text or reply.text.startswith(mark)
