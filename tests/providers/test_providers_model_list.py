"""Lists of models, as servers tell them."""

from __future__ import annotations

import pytest

from agent_tui.config import ModelSettings, ProviderSettings, Settings
from agent_tui.core.cost import Price, format_cost
from agent_tui.core.errors import ProviderError
from agent_tui.core.usage import Usage
from agent_tui.providers.keys import FoundKey
from agent_tui.providers.model_facts import facts_of
from agent_tui.providers.model_list import ListedModel, list_models
from agent_tui.providers.presets import describe_provider
from agent_tui.providers.secret import Secret
from tests.providers.sse_server import SseServer

KEY = "sk-canary-0123456789abcdef"


async def ask(
    url: str, name: str = "openai", seconds: float = 10, key: str = KEY
) -> tuple[ListedModel, ...]:
    spec = describe_provider(name, ProviderSettings(base_url=url, headers={"X-Mine": "yes"}))
    return await list_models(spec, FoundKey(Secret(key), "OPENAI_API_KEY"), seconds)


async def test_windows_and_prices_are_read_where_servers_tell_them(sse_server: SseServer) -> None:
    sse_server.models = [
        "plain",
        {"id": "vllm", "max_model_len": 32_768},
        {"id": "llama", "meta": {"n_ctx_train": 8_192}},
        {"id": "kimi", "context_length": 262_144},
        {
            "id": "router",
            "context_length": "1000",
            "pricing": {"prompt": "0.000002", "completion": "0.000008"},
        },
        {"id": "text-embedding-3"},
        {"id": 7},
        {"id": "evil\x1b[2J"},
        "",
    ]
    found = await ask(sse_server.url)
    assert [(model.name, model.window) for model in found] == [
        ("plain", 0),
        ("vllm", 32_768),
        ("llama", 8_192),
        ("kimi", 262_144),
        ("router", 1_000),
    ]
    assert found[-1].price == Price(2, 8, 2, 2)
    seen = sse_server.listings[0]
    assert seen.path == "/v1/models"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["x-mine"] == "yes"


async def test_anthropic_is_asked_in_its_own_way(sse_server: SseServer) -> None:
    sse_server.models = ["claude-opus-5"]
    assert (await ask(sse_server.url, "anthropic"))[0].name == "claude-opus-5"
    seen = sse_server.listings[0]
    assert seen.path.startswith("/v1/models?")
    assert seen.headers["x-api-key"] == KEY


@pytest.mark.parametrize(("name", "version"), [("anthropic", "2023-06-01"), ("openai", None)])
async def test_a_server_that_wants_no_key_is_asked_without_one(
    sse_server: SseServer, name: str, version: str | None
) -> None:
    sse_server.models = ["own"]
    assert (await ask(sse_server.url, name, key=""))[0].name == "own"
    headers = sse_server.listings[0].headers
    assert not {"x-api-key", "authorization"} & {each.lower() for each in headers}
    assert headers.get("anthropic-version") == version


async def test_a_server_without_a_list_is_told_in_a_sentence(sse_server: SseServer) -> None:
    with pytest.raises(ProviderError, match=r"has no list of models, or .* \(404\)"):
        await ask(sse_server.url)
    with pytest.raises(ProviderError, match="refused the connection"):
        await ask("http://127.0.0.1:9/v1")
    with pytest.raises(ProviderError):
        await ask("not an address")


def test_settings_win_over_the_catalogue() -> None:
    known = facts_of("claude-opus-4-5-20251101", Settings())
    assert known.price == Price(5, 25, 0.5, 6.25)
    assert (known.window, known.thinking_level) == (200_000, None)
    own = ModelSettings(window=5, price_input=1, price_output=2, thinking_level="low")
    models = {"claude-opus-4-5-20251101": own}
    changed = facts_of("claude-opus-4-5-20251101", Settings(models=models))
    assert (changed.window, changed.price) == (5, Price(1, 2, 1, 1))
    assert changed.thinking_level == "low"
    flag = Settings(models=models, thinking="high")
    assert facts_of("claude-opus-4-5-20251101", flag).thinking_level == "high"
    assert facts_of("gpt-4o", flag).thinking_level is None
    assert facts_of("my-own", Settings()).price is None


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(1_000_000, 100_000, cached_tokens=500_000, cache_write_tokens=300_000)
    assert Price(3, 15, 0.3, 3.75).of(usage) == pytest.approx(0.6 + 0.15 + 1.125 + 1.5)
    assert [format_cost(d) for d in (0, 0.0012, 0.5, 1234.5)] == [
        "$0",
        "$0.0012",
        "$0.50",
        "$1,234.50",
    ]
