"""Which providers there are in this run, which of them to ask, and how to make one by its kind."""

from __future__ import annotations

from difflib import get_close_matches
from typing import assert_never

from agent_tui.config import ProviderSettings, Settings
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError
from agent_tui.providers.base import Provider
from agent_tui.providers.keys import FoundKey, find_key, has_key
from agent_tui.providers.model_facts import facts_of
from agent_tui.providers.presets import PRESETS, ProviderSpec, describe_provider
from agent_tui.providers.secret import Secret


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model at a provider; an empty model means that nobody has chosen one."""

    provider: ProviderSpec
    model: str


def known_providers(settings: Settings) -> dict[str, ProviderSpec]:
    """Every provider that is set up, and every preset, the first ones first."""
    names = dict.fromkeys((*settings.providers, *PRESETS))
    nothing = ProviderSettings.model_construct()
    return {name: describe_provider(name, settings.providers.get(name, nothing)) for name in names}


def usable_providers(settings: Settings) -> dict[str, ProviderSpec]:
    """The providers that could be asked: those with a key, and servers of one's own."""
    return {
        name: spec
        for name, spec in known_providers(settings).items()
        if has_key(spec) or (name in settings.providers and _needs_no_key(spec))
    }


def _needs_no_key(spec: ProviderSpec) -> bool:
    """Whether it may be asked without a key: a server of one's own, or one on this machine."""
    return bool(spec.base_url) and (spec.is_own or not spec.key_env)


def choose_model(settings: Settings) -> ModelChoice | None:
    """What the settings say is to be asked; None where no provider is set up.

    ``PROVIDER/MODEL`` names both. Many servers have slashes in their models' names, so the first
    word counts only where it is another provider that could be asked, the vendor itself, or a name
    that the user made up.

    Raises:
        ConfigError: the provider that is named does not exist.
    """
    usable = usable_providers(settings)
    default = _default_provider(settings, usable)
    prefix, slash, rest = settings.model.partition("/")
    named = usable.get(prefix) if slash and rest else None
    if named is not None and not settings.provider and (default is None or named != default):
        return ModelChoice(named, rest)
    if named is not None and named == default and not _is_a_vendors_word(named):
        return ModelChoice(named, rest)
    if default is None:
        return None
    return ModelChoice(default, settings.model or default.settings.model)


def _is_a_vendors_word(spec: ProviderSpec) -> bool:
    """Whether its name may begin a model's: a server of one's own under the name of a vendor."""
    return spec.is_own and spec.name in PRESETS


def _default_provider(settings: Settings, usable: dict[str, ProviderSpec]) -> ProviderSpec | None:
    if settings.provider:
        known = known_providers(settings)
        if settings.provider not in known:
            near = get_close_matches(settings.provider, known, n=1)
            guess = f" Did you mean {near[0]}?" if near else ""
            raise ConfigError(
                f"provider = {settings.provider!r}: there is no such provider.{guess} "
                f"Add [providers.{settings.provider}] or choose one of {', '.join(known)}."
            )
        return known[settings.provider]
    own = [spec for name, spec in usable.items() if name in settings.providers]
    return next(iter([*own, *usable.values()]), None)


def make_provider(spec: ProviderSpec, settings: Settings, key: str = "") -> Provider:
    """A provider that is ready to be asked; blocks while a command prints its key.

    A ``key`` that was just typed wins over the one that the settings name.
    """
    found = FoundKey(Secret(key), "your input") if key else find_key(spec)
    chosen = spec.settings
    match spec.kind:
        case "openai":
            from agent_tui.providers.openai_compatible import OpenAICompatible

            return OpenAICompatible(
                base_url=spec.base_url or None,
                api_key=found.secret.reveal(),
                name=spec.name,
                key_source=found.source,
                timeout_seconds=chosen.timeout_seconds,
                headers=chosen.headers,
                level_of=lambda model: facts_of(model, settings).thinking_level,
            )
        case "anthropic":
            from agent_tui.providers.anthropic import Anthropic

            return Anthropic(
                base_url=spec.base_url,
                api_key=found.secret.reveal(),
                facts_of=lambda model: facts_of(model, settings),
                name=spec.name,
                key_source=found.source,
                headers=chosen.headers,
                timeout_seconds=chosen.timeout_seconds,
            )
        case _:
            assert_never(spec.kind)
