"""The provider against mock-ai-api: an OpenAI-compatible server that somebody else wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_tui.core.errors import ProviderError
from agent_tui.core.records import ToolMessage, is_message
from agent_tui.importers.registry import import_session
from agent_tui.importers.resume import records_to_resume
from agent_tui.providers.openai_compatible import OpenAICompatible
from tests.importers.foreign_files import FORMATS
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


@pytest.mark.parametrize(
    "name",
    [name if name == "claude" else pytest.param(name, marks=pytest.mark.slow) for name in FORMATS],
)
async def test_it_takes_a_session_of_any_agent_at_any_message(
    name: str, mock_ai_url: str, tmp_path: Path
) -> None:
    session = import_session(FORMATS[name][1](tmp_path))
    provider = OpenAICompatible(base_url=mock_ai_url)
    places = [place for place, record in enumerate(session.records) if is_message(record)]
    for place in places:
        resumed = records_to_resume(session.records, session.compactions, place)
        history = [record for record in resumed if is_message(record)]
        parts = await play(provider, ask(*history, "go on", model="gpt-4.1:mock-text"))
        assert text(parts) == "Hello. It's nice to meet you."
    await provider.aclose()
