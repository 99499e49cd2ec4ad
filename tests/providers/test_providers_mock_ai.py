"""The provider against mock-ai-api: an OpenAI-compatible server that somebody else wrote."""

from __future__ import annotations

import json

import pytest

from agent_tui.core.errors import ProviderError
from agent_tui.core.records import ToolMessage
from agent_tui.providers.openai_compatible import OpenAICompatible
from tests.providers.replies import answer, ask, calls, ended, play, text


async def test_text_streams_with_its_usage(mock_ai_url: str) -> None:
    provider = OpenAICompatible(base_url=mock_ai_url)
    parts = await play(provider, ask("Tell me a story", model="gpt-4.1:mock-text"))
    await provider.aclose()
    assert text(parts) == "Hello. It's nice to meet you."
    end = ended(parts)
    assert end.finish_reason == "stop"
    assert end.usage is not None
    assert end.usage.input_tokens > 0


async def test_a_tool_call_streams_and_its_result_is_taken_back(mock_ai_url: str) -> None:
    provider = OpenAICompatible(base_url=mock_ai_url)
    parts = await play(provider, ask("Write a file", model="gpt-4.1:mock-tool-stream"))
    (call,) = calls(parts)
    assert json.loads(call.arguments)["path"] == "tmp/mock-file.txt"
    history = (answer(parts), ToolMessage(call.id, "written"))
    parts = await play(provider, ask("Write a file", *history, model="gpt-4.1:mock-text"))
    await provider.aclose()
    assert text(parts)


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (429, True), (500, True), (503, True)]
)
async def test_its_errors_are_told_in_words(mock_ai_url: str, status: int, retryable: bool) -> None:
    provider = OpenAICompatible(base_url=mock_ai_url)
    with pytest.raises(ProviderError) as caught:
        await play(provider, ask("x", model=f"gpt-4.1:mock-{status}"))
    await provider.aclose()
    assert (caught.value.status, caught.value.retryable) == (status, retryable)
    assert f"({status})" in str(caught.value)
    assert "It says:" in str(caught.value)
