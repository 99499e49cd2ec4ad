"""Windows and encodings of models by the names that people and servers give them."""

from __future__ import annotations

import pytest

from agent_tui.providers.catalog import DEFAULT_WINDOW, encoding_of, find_known, find_price


@pytest.mark.parametrize(
    ("model", "window", "encoding"),
    [
        ("gpt-4o-mini", 128_000, "o200k_base"),
        ("gpt-4", 8_192, "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", 128_000, "cl100k_base"),
        ("gpt-4.1-nano", 1_047_576, "o200k_base"),
        ("openai/gpt-5-mini", 400_000, "o200k_base"),
        ("ft:gpt-4o:team::id", 128_000, "o200k_base"),
        ("o3-mini", 200_000, "o200k_base"),
        ("DeepSeek-Chat", 128_000, None),
        ("moonshotai/kimi-k2-instruct:free", 262_144, None),
        ("llama3.1:8b", 131_072, None),
        ("llama3:8b", 8_192, None),
        ("gpt-4.1:mock-text", 1_047_576, "o200k_base"),
        ("my-own-model", DEFAULT_WINDOW, None),
        ("o30", DEFAULT_WINDOW, None),
        ("", DEFAULT_WINDOW, None),
    ],
)
def test_a_model_is_known_by_the_longest_beginning_of_its_name(
    model: str, window: int, encoding: str | None
) -> None:
    known = find_known(model)
    assert (known.window if known else DEFAULT_WINDOW, encoding_of(model)) == (window, encoding)


@pytest.mark.parametrize("model", ["gpt-5", "openai/gpt-5-2025-08-07", "claude-haiku-4-5-20251001"])
def test_a_release_of_a_known_model_has_its_price(model: str) -> None:
    assert find_price(model) is not None


@pytest.mark.parametrize("model", ["gpt-5.9", "gpt-5-codex-max", "ft:gpt-4o:acme", "llama3", ""])
def test_a_model_that_only_sounds_alike_has_no_known_price(model: str) -> None:
    assert find_price(model) is None
