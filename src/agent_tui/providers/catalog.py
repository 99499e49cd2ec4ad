"""What is known about well-known models: windows, prices, abilities and token encodings."""

from __future__ import annotations

import re
from functools import lru_cache

from agent_tui.core.cost import Price
from agent_tui.core.dataclass import dataclass

DEFAULT_WINDOW = 128_000


@dataclass(frozen=True, slots=True)
class Known:
    """One row: ``longest`` is the longest answer in tokens, 0 where nobody says."""

    window: int = DEFAULT_WINDOW
    price: Price | None = None
    encoding: str | None = None
    longest: int = 0
    sees: bool = False
    thinks: bool = False


MODELS: dict[str, Known] = {
    "chatgpt-4o": Known(128_000, encoding="o200k_base", sees=True),
    "claude": Known(200_000, price=Price(3, 15, 0.3, 3.75), longest=64_000, sees=True, thinks=True),
    "claude-2": Known(200_000, price=Price(8, 24, 8, 8), longest=4_096),
    "claude-3": Known(200_000, price=Price(3, 15, 0.3, 3.75), longest=4_096, sees=True),
    "claude-3-5-haiku": Known(200_000, price=Price(0.8, 4, 0.08, 1), longest=8_192, sees=True),
    "claude-3-5-sonnet": Known(200_000, price=Price(3, 15, 0.3, 3.75), longest=8_192, sees=True),
    "claude-3-7-sonnet": Known(
        200_000, price=Price(3, 15, 0.3, 3.75), longest=64_000, sees=True, thinks=True
    ),
    "claude-3-haiku": Known(200_000, price=Price(0.25, 1.25, 0.03, 0.3), longest=4_096, sees=True),
    "claude-3-opus": Known(200_000, price=Price(15, 75, 1.5, 18.75), longest=4_096, sees=True),
    "claude-haiku": Known(
        200_000, price=Price(1, 5, 0.1, 1.25), longest=64_000, sees=True, thinks=True
    ),
    "claude-opus": Known(
        200_000, price=Price(5, 25, 0.5, 6.25), longest=64_000, sees=True, thinks=True
    ),
    "claude-opus-4": Known(
        200_000, price=Price(15, 75, 1.5, 18.75), longest=32_000, sees=True, thinks=True
    ),
    "claude-opus-4-5": Known(
        200_000, price=Price(5, 25, 0.5, 6.25), longest=64_000, sees=True, thinks=True
    ),
    "claude-opus-4-6": Known(
        200_000, price=Price(5, 25, 0.5, 6.25), longest=64_000, sees=True, thinks=True
    ),
    "claude-opus-4-7": Known(
        200_000, price=Price(5, 25, 0.5, 6.25), longest=64_000, sees=True, thinks=True
    ),
    "claude-opus-4-8": Known(
        200_000, price=Price(5, 25, 0.5, 6.25), longest=64_000, sees=True, thinks=True
    ),
    "claude-sonnet": Known(
        200_000, price=Price(3, 15, 0.3, 3.75), longest=64_000, sees=True, thinks=True
    ),
    "codestral": Known(256_000, price=Price(0.3, 0.9, 0.3, 0.3)),
    "command-a": Known(256_000),
    "command-r": Known(128_000),
    "deepseek": Known(128_000, price=Price(0.28, 0.42, 0.028, 0.28), thinks=True),
    "devstral": Known(256_000),
    "devstral-small": Known(128_000),
    "gemini": Known(1_048_576, sees=True, thinks=True),
    "gemini-2.5-flash": Known(
        1_048_576, price=Price(0.3, 2.5, 0.075, 0.3), longest=65_536, sees=True, thinks=True
    ),
    "gemini-2.5-flash-lite": Known(
        1_048_576, price=Price(0.1, 0.4, 0.025, 0.1), longest=65_536, sees=True, thinks=True
    ),
    "gemini-2.5-pro": Known(
        1_048_576, price=Price(1.25, 10, 0.31, 1.25), longest=65_536, sees=True, thinks=True
    ),
    "gemma-2": Known(8_192),
    "gemma-3": Known(131_072, sees=True),
    "gemma2": Known(8_192),
    "gemma3": Known(131_072, sees=True),
    "glm-4": Known(128_000, thinks=True),
    "glm-4.6": Known(200_000, price=Price(0.6, 2.2, 0.11, 0.6), thinks=True),
    "glm-4.7": Known(200_000, thinks=True),
    "gpt-3.5": Known(
        16_385, price=Price(0.5, 1.5, 0.5, 0.5), encoding="cl100k_base", longest=4_096
    ),
    "gpt-4": Known(8_192, price=Price(30, 60, 30, 30), encoding="cl100k_base", longest=8_192),
    "gpt-4-0125": Known(128_000, encoding="cl100k_base", sees=True),
    "gpt-4-1106": Known(128_000, encoding="cl100k_base", sees=True),
    "gpt-4-32k": Known(32_768, encoding="cl100k_base", sees=True),
    "gpt-4-turbo": Known(
        128_000, price=Price(10, 30, 10, 10), encoding="cl100k_base", longest=4_096, sees=True
    ),
    "gpt-4.1": Known(
        1_047_576, price=Price(2, 8, 0.5, 2), encoding="o200k_base", longest=32_768, sees=True
    ),
    "gpt-4.1-mini": Known(
        1_047_576, price=Price(0.4, 1.6, 0.1, 0.4), encoding="o200k_base", longest=32_768, sees=True
    ),
    "gpt-4.1-nano": Known(
        1_047_576,
        price=Price(0.1, 0.4, 0.025, 0.1),
        encoding="o200k_base",
        longest=32_768,
        sees=True,
    ),
    "gpt-4.5": Known(128_000, encoding="o200k_base", sees=True),
    "gpt-4o": Known(
        128_000, price=Price(2.5, 10, 1.25, 2.5), encoding="o200k_base", longest=16_384, sees=True
    ),
    "gpt-4o-mini": Known(
        128_000,
        price=Price(0.15, 0.6, 0.075, 0.15),
        encoding="o200k_base",
        longest=16_384,
        sees=True,
    ),
    "gpt-5": Known(
        400_000,
        price=Price(1.25, 10, 0.125, 1.25),
        encoding="o200k_base",
        longest=128_000,
        sees=True,
        thinks=True,
    ),
    "gpt-5-chat": Known(128_000, encoding="o200k_base", sees=True),
    "gpt-5-mini": Known(
        400_000,
        price=Price(0.25, 2, 0.025, 0.25),
        encoding="o200k_base",
        longest=128_000,
        sees=True,
        thinks=True,
    ),
    "gpt-5-nano": Known(
        400_000,
        price=Price(0.05, 0.4, 0.005, 0.05),
        encoding="o200k_base",
        longest=128_000,
        sees=True,
        thinks=True,
    ),
    "gpt-oss": Known(131_072, encoding="o200k_base", thinks=True),
    "grok-2": Known(131_072),
    "grok-3": Known(131_072, price=Price(3, 15, 0.75, 3)),
    "grok-4": Known(256_000, price=Price(3, 15, 0.75, 3), sees=True, thinks=True),
    "grok-4-fast": Known(2_000_000, price=Price(0.2, 0.5, 0.05, 0.2), sees=True, thinks=True),
    "grok-code": Known(256_000, price=Price(0.2, 1.5, 0.02, 0.2), thinks=True),
    "kimi-k2": Known(262_144, price=Price(0.6, 2.5, 0.15, 0.6), thinks=True),
    "kimi-latest": Known(131_072, sees=True),
    "llama-3": Known(8_192),
    "llama-3.1": Known(131_072),
    "llama-3.2": Known(131_072),
    "llama-3.3": Known(131_072),
    "llama3": Known(8_192),
    "llama3.1": Known(131_072),
    "llama3.2": Known(131_072),
    "llama3.3": Known(131_072),
    "magistral": Known(128_000, thinks=True),
    "minimax-m2": Known(204_800, thinks=True),
    "mistral": Known(32_768),
    "mistral-large": Known(128_000, price=Price(2, 6, 2, 2)),
    "mistral-medium": Known(128_000, price=Price(0.4, 2, 0.4, 0.4), sees=True),
    "mistral-small": Known(128_000, price=Price(0.1, 0.3, 0.1, 0.1), sees=True),
    "moonshot-v1-128k": Known(131_072),
    "moonshot-v1-32k": Known(32_768),
    "moonshot-v1-8k": Known(8_192),
    "o1": Known(
        200_000,
        price=Price(15, 60, 7.5, 15),
        encoding="o200k_base",
        longest=100_000,
        sees=True,
        thinks=True,
    ),
    "o1-mini": Known(
        128_000,
        price=Price(1.1, 4.4, 0.55, 1.1),
        encoding="o200k_base",
        longest=65_536,
        thinks=True,
    ),
    "o1-preview": Known(128_000, encoding="o200k_base", sees=True),
    "o3": Known(
        200_000,
        price=Price(2, 8, 0.5, 2),
        encoding="o200k_base",
        longest=100_000,
        sees=True,
        thinks=True,
    ),
    "o3-mini": Known(
        200_000,
        price=Price(1.1, 4.4, 0.55, 1.1),
        encoding="o200k_base",
        longest=100_000,
        thinks=True,
    ),
    "o4": Known(
        200_000,
        price=Price(1.1, 4.4, 0.275, 1.1),
        encoding="o200k_base",
        longest=100_000,
        sees=True,
        thinks=True,
    ),
    "phi-4": Known(16_384),
    "phi4": Known(16_384),
    "qwen2.5": Known(32_768),
    "qwen3": Known(131_072, thinks=True),
    "qwen3-coder": Known(262_144, thinks=True),
    "qwq": Known(131_072, thinks=True),
}
"""By the beginnings of their names. Prices are list prices in dollars: they change."""


def find_known(model: str) -> Known | None:
    """The row of a model; None for one that is not known."""
    name = _best_prefix(model)
    return MODELS[name] if name else None


@lru_cache(256)
def find_price(model: str) -> Price | None:
    """The list price of a model or a dated release of it; None for any other, however alike."""
    prefix = _best_prefix(model)
    rest = _plain_name(model)[len(prefix) :]
    return MODELS[prefix].price if prefix and _RELEASE.fullmatch(rest) else None


_RELEASE = re.compile(r"(-\d{1,2}){0,2}([-@:](v\d|\d{4,}|latest|preview|exp)[-:.\w]*)?")


def _plain_name(model: str) -> str:
    return model.lower().rpartition("/")[2].removeprefix("ft:")


def encoding_of(model: str) -> str | None:
    """The tiktoken encoding that counts the model's tokens exactly; None where there is none."""
    known = find_known(model)
    return known.encoding if known else None


@lru_cache(256)
def _best_prefix(model: str) -> str:
    """The longest name in the table that the model's name begins with, at a word's end.

    Names come as ``gpt-4o``, ``openai/gpt-4o-2024-08-06``, ``ft:gpt-4o:team`` or ``qwen3:8b``.
    """
    name = _plain_name(model)
    fitting = [known for known in MODELS if _is_named(name, known)]
    return max(fitting, key=len, default="")


def _is_named(name: str, known: str) -> bool:
    return name.startswith(known) and not name[len(known) : len(known) + 1].isdigit()
