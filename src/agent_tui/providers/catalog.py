"""What is known about well-known models: their context windows and token encodings."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_WINDOW = 128_000

_WINDOWS = {
    "chatgpt-4o": 128_000,
    "claude": 200_000,
    "codestral": 256_000,
    "command-a": 256_000,
    "command-r": 128_000,
    "deepseek": 128_000,
    "devstral": 256_000,
    "devstral-small": 128_000,
    "gemini": 1_048_576,
    "gemma-2": 8_192,
    "gemma-3": 131_072,
    "gemma2": 8_192,
    "gemma3": 131_072,
    "glm-4": 128_000,
    "glm-4.6": 200_000,
    "glm-4.7": 200_000,
    "gpt-3.5": 16_385,
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-0125": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "gpt-4o": 128_000,
    "gpt-5": 400_000,
    "gpt-5-chat": 128_000,
    "gpt-oss": 131_072,
    "grok-2": 131_072,
    "grok-3": 131_072,
    "grok-4": 256_000,
    "grok-4-fast": 2_000_000,
    "grok-code": 256_000,
    "kimi-k2": 262_144,
    "kimi-latest": 131_072,
    "llama-3": 8_192,
    "llama-3.1": 131_072,
    "llama-3.2": 131_072,
    "llama-3.3": 131_072,
    "llama3": 8_192,
    "llama3.1": 131_072,
    "llama3.2": 131_072,
    "llama3.3": 131_072,
    "magistral": 128_000,
    "minimax-m2": 204_800,
    "mistral": 32_768,
    "mistral-large": 128_000,
    "mistral-medium": 128_000,
    "mistral-small": 128_000,
    "moonshot-v1-8k": 8_192,
    "moonshot-v1-32k": 32_768,
    "moonshot-v1-128k": 131_072,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4": 200_000,
    "phi-4": 16_384,
    "phi4": 16_384,
    "qwen2.5": 32_768,
    "qwen3": 131_072,
    "qwen3-coder": 262_144,
    "qwq": 131_072,
}
_ENCODINGS = {
    "chatgpt-4o": "o200k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-4o": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-oss": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
}


def window_of(model: str) -> int:
    """The context window in tokens; DEFAULT_WINDOW for a model that is not known."""
    known = _best_prefix(model, _WINDOWS)
    return _WINDOWS[known] if known else DEFAULT_WINDOW


def encoding_of(model: str) -> str | None:
    """The tiktoken encoding that counts the model's tokens exactly; None where there is none."""
    known = _best_prefix(model, _ENCODINGS)
    return _ENCODINGS[known] if known else None


def _best_prefix(model: str, table: Mapping[str, object]) -> str:
    """The longest name in the table that the model's name begins with, at a word's end.

    Names come as ``gpt-4o``, ``openai/gpt-4o-2024-08-06``, ``ft:gpt-4o:team`` or ``qwen3:8b``.
    """
    name = model.lower().rpartition("/")[2].removeprefix("ft:")
    fitting = [known for known in table if _is_named(name, known)]
    return max(fitting, key=len, default="")


def _is_named(name: str, known: str) -> bool:
    return name.startswith(known) and not name[len(known) : len(known) + 1].isdigit()
