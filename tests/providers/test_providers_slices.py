"""Bodies of megabytes are sent in slices that add up to them."""

from __future__ import annotations

import pytest

from agent_tui.providers.anthropic import Anthropic
from agent_tui.providers.base import Provider
from agent_tui.providers.exchange import as_content
from agent_tui.providers.openai_compatible import OpenAICompatible
from tests.providers import message_events
from tests.providers.replies import ask, play, text
from tests.providers.sse_server import SseServer, finish_chunk, stream, text_chunk


async def test_a_big_body_goes_in_slices_and_says_its_length() -> None:
    body = bytes(range(256)) * 10_000
    content, headers = as_content(body)
    assert not isinstance(content, bytes)
    pieces = [piece async for piece in content]
    assert b"".join(pieces) == body
    assert max(map(len, pieces)) * 20 < len(body)
    assert headers == {"Content-Length": str(len(body))}


def test_an_ordinary_body_goes_as_it_is() -> None:
    assert as_content(b"{}") == (b"{}", {})


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_a_prompt_of_megabytes_and_its_answer_arrive_whole(
    sse_server: SseServer, kind: str
) -> None:
    prompt, answer = 'tide and " harbour\n' * 120_000, "regular, \u2028 as the log says. " * 60_000
    provider: Provider
    if kind == "openai":
        provider = OpenAICompatible(base_url=sse_server.url, api_key="k" * 20)
        sse_server.answers.append(stream(text_chunk(answer), finish_chunk()))
    else:
        provider = Anthropic(base_url=sse_server.url, api_key="k" * 20)
        parts = message_events.start(), message_events.text_block(0, answer), message_events.end()
        sse_server.answers.append(message_events.reply(*parts))
    try:
        assert text(await play(provider, ask(prompt))) == answer
    finally:
        await provider.aclose()
    (seen,) = sse_server.requests
    assert "transfer-encoding" not in seen.headers
    said = seen.body["messages"][-1]["content"]
    assert prompt == (said if isinstance(said, str) else said[0]["text"])
