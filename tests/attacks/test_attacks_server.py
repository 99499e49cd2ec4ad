"""A hostile server: it takes the conversation nowhere else, and can fill no memory."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache

import httpx2
import pytest

from agent_tui.core.errors import ProviderError
from agent_tui.core.records import UserMessage
from agent_tui.providers import bounds
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.openai_compatible import OpenAICompatible
from tests.peak_memory import peak_memory
from tests.providers.sse_server import (
    Answer,
    SseServer,
    call_chunk,
    failure,
    finish_chunk,
    stream,
    text_chunk,
)

KEY = "sk-canary-0123456789abcdefghijklmnop"
PROMPT = "the conversation nobody else may see"
MEGABYTE = 1_000_000


@pytest.fixture
def servers() -> Iterator[tuple[SseServer, SseServer]]:
    with SseServer() as hostile, SseServer() as elsewhere:
        yield hostile, elsewhere


async def ask(server: SseServer) -> str:
    """The sentence in which asking ends; empty for a proper answer."""
    provider = OpenAICompatible(base_url=server.url, api_key=KEY, timeout_seconds=20)
    request = ModelRequest("m", "You help.", (UserMessage(PROMPT, origin="human"),))
    try:
        async for _ in provider.stream(request):
            pass
    except ProviderError as error:
        return str(error)
    finally:
        await provider.aclose()
    return ""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("same_origin", [False, True])
async def test_no_redirect_is_followed(
    servers: tuple[SseServer, SseServer], status: int, *, same_origin: bool
) -> None:
    hostile, elsewhere = servers
    target = hostile.url if same_origin else elsewhere.url
    hostile.answers.append(failure(status, "", Location=f"{target}/chat/completions"))
    sentence = await ask(hostile)
    assert "redirects to" in sentence
    assert "Nothing was sent there" in sentence
    assert elsewhere.requests == []
    assert len(hostile.requests) == 1


PIECE = b"x" * MEGABYTE
EVENTS = {"Content-Type": "text/event-stream"}
PACKED = {"Content-Encoding": "gzip"}


@cache
def squeezed() -> bytes:
    """A small body that unpacks to 300 MB."""
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)  # piece by piece: it takes no memory
    return b"".join([*map(packer.compress, [b"data: ", *[PIECE] * 300]), packer.flush()])


BOMBS: dict[str, Callable[[], Answer]] = {
    "a line without an end": lambda: Answer((b"data: ", *[PIECE] * 60), headers=EVENTS),
    "an event without an end": lambda: Answer((b"data: " + PIECE + b"\n",) * 60, headers=EVENTS),
    "a packed stream": lambda: Answer((squeezed(),), headers=EVENTS | PACKED),
    "a packed body": lambda: Answer(
        (squeezed(),), headers={"Content-Type": "application/json"} | PACKED
    ),
    "ten thousand calls": lambda: stream(
        *(call_chunk(n, call_id=f"c{n}", name="ls", arguments="{}") for n in range(10_000)),
        finish_chunk("tool_calls"),
    ),
}
"""What makes each answer that grows without end: only what is asked with is made."""


@pytest.mark.parametrize("name", list(BOMBS))
async def test_no_answer_grows_without_end(name: str) -> None:
    with peak_memory() as peak, SseServer([BOMBS[name]()]) as server:
        sentence = await ask(server)
    assert "the answer was cut off" in sentence, sentence
    assert peak.grown_mb < 350
    print(f"{name}: {peak.grown_mb} MB more")


async def test_a_refusal_is_read_no_further_than_needed() -> None:
    body = json.dumps({"error": {"message": "No. " + "x" * (20 * bounds.MOST_ERROR_BYTES)}})
    refusal = Answer(tuple([body.encode()] * 5), status=400)
    with peak_memory() as peak, SseServer([refusal]) as server:
        sentence = await ask(server)
    assert "refused" in sentence or "400" in sentence
    assert peak.grown_mb < 150
    print(f"an error body of 100 MB: {peak.grown_mb} MB more")
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while taken < 100:
            taken += 1
            yield b"x" * MEGABYTE

    response = httpx2.Response(400, content=endless())
    await bounds.cut_refusal(response)
    assert taken == 2
    assert len(await response.aread()) == bounds.MOST_ERROR_BYTES


async def test_the_key_is_in_no_sentence_however_a_server_echoes_it() -> None:
    spaced = " ".join(KEY)
    pieces = " / ".join(KEY[start : start + 8] for start in range(0, len(KEY), 8))
    forms = [KEY, KEY[::-1], KEY.upper(), KEY.encode().hex(), spaced, pieces, "-".join(KEY)]
    for form in forms:
        with SseServer([failure(401, {"error": {"message": f"Wrong key: {form}."}})]) as server:
            sentence = await ask(server)
        letters = "".join(filter(str.isalnum, sentence.lower()))
        for leaked in (KEY, KEY[::-1]):
            plain = "".join(filter(str.isalnum, leaked.lower()))
            assert plain[3:15] not in letters, form
            assert plain[15:27] not in letters, form
    print(f"forms of the key: {len(forms)} echoed, 0 shown")


async def test_a_proper_answer_still_comes() -> None:
    with SseServer([stream(text_chunk("Hi"), finish_chunk())]) as server:
        assert await ask(server) == ""
