"""The key reaches the server's header and nothing else."""

from __future__ import annotations

import base64
import html
import io
import json
import traceback
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.traceback import Traceback

from agent_tui.core.errors import ProviderError
from agent_tui.providers.openai_compatible import OpenAICompatible
from agent_tui.providers.secret import Secret
from tests.providers.replies import ask, play
from tests.providers.sse_server import SseServer, failure, stream, text_chunk

CANARY = 'sk-proj-Canary/+"<&0123456789abcdefXYZ'
PIECES = (CANARY[8:], CANARY[8:20], CANARY[-14:])


def encodings(key: str) -> dict[str, str]:
    raw = key.encode()
    return {
        "plain": key,
        "bearer": f"Bearer {key}",
        "upper": key.upper(),
        "lower": key.lower(),
        "beginning": key[:20],
        "end": key[-14:],
        "url": quote(key, safe=""),
        "json": json.dumps(key),
        "escapes": "".join(f"\\u{ord(c):04x}" for c in key),
        "html": html.escape(key),
        "entities": "".join(f"&#{ord(c)};" for c in key),
        "base64": base64.b64encode(raw).decode(),
        "base64url": base64.urlsafe_b64encode(raw).decode(),
        "base64 of the header": base64.b64encode(b"Bearer " + raw + b"\r\n").decode(),
        "base64 of basic auth": base64.b64encode(b"me:" + raw).decode(),
        "base64 one off": base64.b64encode(b"x" + raw + b"y").decode(),
        "hex": raw.hex(),
        "HEX": raw.hex().upper(),
        "bytes": str(list(raw)),
        "repr": repr(raw),
        "backwards": key[::-1],
        "masked": f"{key[:11]}********{key[-4:]}",
    }


def assert_hidden(shown: str, encoded: str) -> None:
    """No piece of twelve characters of what was echoed is left."""
    lowered = shown.lower()
    for start in range(len(encoded) - 11):
        piece = encoded[start : start + 12].lower()
        assert piece not in lowered or not _tells(piece), shown


def _tells(piece: str) -> bool:
    """Whether a piece holds something of the secret part, and not only what surrounds it."""
    return piece not in "\"bearer sk-proj-[115, 107, 45, 112, 114, 111, 106, 45b'****"


@pytest.mark.parametrize("form", encodings(CANARY))
def test_an_echoed_key_is_redacted_in_every_usual_encoding(form: str) -> None:
    encoded = encodings(CANARY)[form]
    assert_hidden(Secret(CANARY).redact(f"You sent {encoded}, which is wrong."), encoded)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16), st.text())
def test_no_key_survives_in_any_text(key: str, around: str) -> None:
    for encoded in (key, base64.b64encode(key.encode()).decode(), key.encode().hex()):
        shown = Secret(key).redact(f"{around}{encoded}{around}")
        assert encoded not in shown or encoded in around


def test_text_without_a_key_stays_as_it_is() -> None:
    said = "The model gpt-5 is not available in your region: see https://example.com/models"
    assert Secret(CANARY).redact(said) == said
    assert Secret("").redact(said) == said


@pytest.mark.parametrize("form", encodings(CANARY))
@pytest.mark.parametrize("where", ["refusal", "stream", "garbage"])
async def test_no_error_shows_the_key_that_a_server_echoes(
    sse_server: SseServer, form: str, where: str
) -> None:
    encoded = encodings(CANARY)[form]
    message = f"Incorrect API key provided: {encoded}. See your account."
    sse_server.answers.append(
        {
            "refusal": failure(401, {"error": {"message": message, "code": encoded}}),
            "stream": stream(text_chunk("x"), {"error": {"message": message}}),
            "garbage": stream(f"data: {message}\n\n".encode()),
        }[where]
    )
    provider = OpenAICompatible(base_url=sse_server.url, api_key=CANARY)
    with pytest.raises(ProviderError) as caught:
        await play(provider, ask("x"))
    await provider.aclose()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    for shown in (str(caught.value), repr(caught.value), _printed(caught.value)):
        assert_hidden(shown, encoded)


async def test_no_crash_report_shows_the_key(sse_server: SseServer) -> None:
    """Not even one that prints the local variables of every frame."""
    sse_server.answers.append(failure(401, {"error": {"message": "No."}}))
    provider = OpenAICompatible(base_url=sse_server.url, api_key=CANARY)
    with pytest.raises(ProviderError) as caught:
        await play(provider, ask("x"))
    await provider.aclose()
    console = Console(file=io.StringIO(), width=200)
    error = caught.value
    console.print(
        Traceback.from_exception(type(error), error, error.__traceback__, show_locals=True)
    )
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    assert "locals" in printed
    assert not any(piece in printed for piece in PIECES)
    assert not any(piece in repr(provider) for piece in PIECES)


@pytest.mark.parametrize("spoilt", [CANARY + "\n" + CANARY, CANARY + "é", CANARY + " x", "\x00k"])
async def test_a_key_that_no_header_can_hold_is_told_without_showing_it(spoilt: str) -> None:
    provider = OpenAICompatible(base_url="http://127.0.0.1:9/v1", api_key=spoilt)
    with pytest.raises(ProviderError, match="copy it again") as caught:
        await play(provider, ask("x"))
    assert not any(piece in _printed(caught.value) for piece in PIECES)


async def test_a_password_in_the_address_is_not_shown() -> None:
    provider = OpenAICompatible(base_url="http://me:hunter2hunter2@127.0.0.1:9/v1?token=tok123456")
    with pytest.raises(ProviderError) as caught:
        await play(provider, ask("x"))
    await provider.aclose()
    assert "hunter2" not in _printed(caught.value)
    assert "tok123456" not in _printed(caught.value)
    assert "127.0.0.1:9" in str(caught.value)


async def test_a_key_copied_with_its_line_break_works(sse_server: SseServer) -> None:
    provider = OpenAICompatible(base_url=sse_server.url, api_key=f" {CANARY}\n")
    await play(provider, ask("x"))
    await provider.aclose()
    assert sse_server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret(CANARY)
    assert CANARY not in f"{secret} {secret!r} {[secret]}"


def _printed(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
