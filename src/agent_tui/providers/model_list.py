"""Which models a server has, asked of the server itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, assert_never

from agent_tui.core.cost import Price
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ProviderError
from agent_tui.core.text import clean
from agent_tui.providers import failures
from agent_tui.providers.certificates import trusted_by
from agent_tui.providers.failures import Server
from agent_tui.providers.keys import FoundKey
from agent_tui.providers.presets import ProviderSpec
from agent_tui.providers.server_events import decode_json

if TYPE_CHECKING:
    import httpx2

_LARGEST = 8_000_000
_MOST = 2_000
_LONGEST_NAME = 200
_MILLION = 1_000_000
_WINDOWS = (
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "max_input_tokens",
    "n_ctx",
    "n_ctx_train",
)
"""What servers call the window: there is no common word."""
_NO_CHAT = re.compile(
    r"embed|whisper|tts|dall-e|moderation|transcribe|realtime|rerank|gpt-image|sora|babbage|davinci",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as its server lists it; ``window`` is 0 and ``price`` None where it does not say."""

    name: str
    window: int = 0
    price: Price | None = None


async def list_models(
    spec: ProviderSpec, key: FoundKey, seconds: float = 10.0
) -> tuple[ListedModel, ...]:
    """The models of a server, in its order, without those that cannot chat.

    Raises:
        ProviderError: it could not be reached, refused, or sent no list; in one sentence.
    """
    import httpx2

    server = Server(spec.base_url, "", key.secret, key.source)
    (address, headers), verify = _question(spec, key), trusted_by(spec.base_url)
    try:
        async with (
            httpx2.AsyncClient(timeout=seconds, headers=headers, verify=verify) as client,
            client.stream("GET", address) as response,
        ):
            body = await _read(response)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        raise failures.explain_connection(server, error) from None
    if response.status_code >= 400:
        raise failures.explain_status(server, response.status_code, body, response.headers)
    try:
        listed = decode_json(body)
    except (ValueError, RecursionError):
        listed = None
    rows = listed.get("data", listed.get("models")) if isinstance(listed, dict) else listed
    if not isinstance(rows, list):
        raise ProviderError(f"{server.shown_url} lists no models.")
    return tuple(_read_rows(rows[:_MOST]))


def best_of(names: Sequence[str], wanted: Sequence[str]) -> str:
    """The model to ask where nobody chose: the first that is wanted and there, else the first."""
    for want in wanted:
        kin = sorted((name for name in names if name.startswith(f"{want}-")), reverse=True)
        if want in names or kin:
            return want if want in names else kin[0]
    return names[0] if names else ""


def _question(spec: ProviderSpec, key: FoundKey) -> tuple[str, dict[str, str]]:
    """The address where a server lists its models, and the headers with which it is asked."""
    base, chosen, secret = spec.base_url.rstrip("/"), spec.settings.headers, key.secret
    match spec.kind:
        case "openai":
            own = {"authorization": f"Bearer {secret.reveal()}"} if secret else {}
            return f"{base}/models", {**own, **chosen}
        case "anthropic":
            from agent_tui.providers.anthropic import API_VERSION

            own = {"x-api-key": secret.reveal()} if secret else {}
            address = f"{base.removesuffix('/v1')}/v1/models?limit=1000"
            return address, {"anthropic-version": API_VERSION, **own, **chosen}
        case _:
            assert_never(spec.kind)


async def _read(response: httpx2.Response) -> bytes:
    body = b""
    async for data in response.aiter_bytes():
        body += data
        if len(body) > _LARGEST:
            raise ProviderError("The server's list of models is too long.")
    return body


def _read_rows(rows: list[Any]) -> Iterator[ListedModel]:
    for row in rows:
        name = row if isinstance(row, str) else _field(row, "id", "name", "model")
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            continue
        if clean(name) == name and not _NO_CHAT.search(name):
            yield ListedModel(name, _read_window(row), _read_price(row))


def _read_window(row: Any) -> int:
    """The window, which servers tell at the top of a row or one table deeper."""
    places = [row, *(_field(row, "meta"), _field(row, "top_provider"), _field(row, "limits"))]
    for place in places:
        for name in _WINDOWS:
            number = _number(_field(place, name))
            if number:
                return int(number)
    return 0


def _read_price(row: Any) -> Price | None:
    """The price as OpenRouter tells it: dollars a token, as text."""
    told = _field(row, "pricing")
    sent, answered = _number(_field(told, "prompt")), _number(_field(told, "completion"))
    if sent is None or answered is None:
        return None
    read = _number(_field(told, "input_cache_read"))
    written = _number(_field(told, "input_cache_write"))
    return Price(
        sent * _MILLION,
        answered * _MILLION,
        (sent if read is None else read) * _MILLION,
        (sent if written is None else written) * _MILLION,
    )


def _field(value: Any, *names: str) -> Any:
    if not isinstance(value, dict):
        return None
    return next((value[name] for name in names if value.get(name) is not None), None)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) and 0 <= number < 1e12 else None
