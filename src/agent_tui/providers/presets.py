"""Providers that are known by name: what they speak, where they are, which variable has the key."""

from __future__ import annotations

from agent_tui.config import ProviderSettings
from agent_tui.config.settings import ProviderKind
from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """A well-known server. ``key_env`` is empty for servers of one's own, which want no key.

    ``models`` are those to ask by default, best first.
    """

    title: str
    kind: ProviderKind
    base_url: str
    key_env: str = ""
    models: tuple[str, ...] = ()


PRESETS: dict[str, Preset] = {
    "openai": Preset(
        "OpenAI",
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        ("gpt-5-mini", "gpt-4.1", "gpt-4o"),
    ),
    "anthropic": Preset(
        "Anthropic",
        "anthropic",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        ("claude-sonnet-4-5", "claude-sonnet-4", "claude-haiku-4-5"),
    ),
    "kimi": Preset(
        "Kimi (Moonshot AI)",
        "openai",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        ("kimi-k2-turbo-preview", "kimi-k2", "kimi-latest"),
    ),
    "deepseek": Preset(
        "DeepSeek",
        "openai",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        ("deepseek-chat",),
    ),
    "openrouter": Preset(
        "OpenRouter", "openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"
    ),
    "ollama": Preset("Ollama", "openai", "http://127.0.0.1:11434/v1"),
    "lmstudio": Preset("LM Studio", "openai", "http://127.0.0.1:1234/v1"),
    "llamacpp": Preset("llama.cpp", "openai", "http://127.0.0.1:8080/v1"),
}
"""In the order in which they are tried where nothing was chosen."""

_NOTHING_KNOWN = Preset("", "openai", "")


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """One provider as it will be used: its preset, and what the settings say over it.

    Attributes:
        is_own: whether the address is not the preset's: a server that answers under its name.
    """

    name: str
    title: str
    kind: ProviderKind
    base_url: str
    key_env: str
    settings: ProviderSettings
    models: tuple[str, ...] = ()
    is_own: bool = False


def describe_provider(name: str, settings: ProviderSettings) -> ProviderSpec:
    """What the preset of this name and the settings make together."""
    preset = PRESETS.get(name, _NOTHING_KNOWN)
    base_url = (settings.base_url or preset.base_url).strip()
    return ProviderSpec(
        name=name,
        title=preset.title or name,
        kind=settings.kind or preset.kind,
        base_url=base_url,
        key_env=settings.api_key_env or preset.key_env,
        settings=settings,
        models=(settings.model, *preset.models) if settings.model else preset.models,
        is_own=base_url.rstrip("/") != preset.base_url,
    )
