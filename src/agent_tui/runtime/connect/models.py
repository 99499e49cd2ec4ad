"""Models to choose from: what servers list, what is known of each, and whether one answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent_tui.config import ProviderSettings, Settings
from agent_tui.core.errors import AgentTuiError, ProviderError
from agent_tui.core.events import TextDelta, ThinkDelta
from agent_tui.core.models import ModelRow, ProviderRow
from agent_tui.core.records import UserMessage
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.keys import FoundKey, find_key
from agent_tui.providers.model_facts import facts_of
from agent_tui.providers.model_list import ListedModel, best_of, list_models
from agent_tui.providers.presets import ProviderSpec, describe_provider
from agent_tui.providers.registry import (
    choose_model,
    make_provider,
    usable_providers,
)
from agent_tui.providers.secret import Secret

_LOOK_SECONDS = 1.5
_TRY_SECONDS = 60.0
_PROMPT = "Answer with the one word: ready"


@dataclass(frozen=True, slots=True)
class Answered:
    """How a model did when it was tried: seconds to its first word, and what it said."""

    seconds: float
    text: str


async def list_providers(settings: Settings) -> tuple[ProviderRow, ...]:
    """Every provider that could be asked, with the models that it lists; asks all at once."""
    usable = await asyncio.to_thread(usable_providers, settings)
    chosen = await asyncio.to_thread(choose_model, settings)
    rows = await asyncio.gather(*(_list(spec, settings) for spec in usable.values()))
    if chosen is None:
        return tuple(rows)
    return tuple(
        _mark(
            row,
            chosen.model or best_of([model.model for model in row.models], chosen.provider.models),
            settings,
        )
        if row.name == chosen.provider.name
        else row
        for row in rows
    )


async def find_local_providers(
    settings: Settings, addresses: Mapping[str, str]
) -> tuple[ProviderRow, ...]:
    """The servers that answer at these addresses, by their names, with their models."""
    own, nothing = settings.providers, ProviderSettings()
    specs = [
        describe_provider(name, own.get(name, nothing).model_copy(update={"base_url": address}))
        for name, address in addresses.items()
    ]
    rows = await asyncio.gather(*(_list(spec, settings, _LOOK_SECONDS) for spec in specs))
    return tuple(row for row in rows if not row.trouble and row.models)


async def list_provider(
    settings: Settings, name: str, base_url: str = "", key: str = ""
) -> ProviderRow:
    """What one provider lists, perhaps at an address and with a key that were just typed."""
    own = settings.providers.get(name, ProviderSettings())
    if base_url:
        own = own.model_copy(update={"base_url": base_url})
    return await _list(describe_provider(name, own), settings, key=key)


async def _list(
    spec: ProviderSpec, settings: Settings, seconds: float = 10.0, key: str = ""
) -> ProviderRow:
    row = ProviderRow(spec.name, spec.title, spec.base_url)
    try:
        found = FoundKey(Secret(key), "your input") if key else await _find_key(spec)
        listed = await list_models(spec, found, seconds)
    except AgentTuiError as error:
        known = (_row(spec.name, ListedModel(each), settings) for each in spec.models)
        unlisted = tuple(replace(model, listed=False) for model in known)
        return replace(row, models=unlisted, trouble=str(error))
    return replace(row, models=tuple(_row(spec.name, each, settings) for each in listed))


async def _find_key(spec: ProviderSpec) -> FoundKey:
    return await asyncio.to_thread(find_key, spec)


def _row(provider: str, listed: ListedModel, settings: Settings) -> ModelRow:
    facts = facts_of(listed.name, settings)
    own = settings.models.get(listed.name)
    window = (own.window if own else None) or listed.window or facts.window
    return ModelRow(
        provider,
        listed.name,
        window,
        facts.price or listed.price,
        facts.thinking,
        facts.image_in,
    )


def _mark(row: ProviderRow, default: str, settings: Settings) -> ProviderRow:
    """Mark the default model; if a server lists nothing, it is the one of the settings."""
    models = row.models
    if row.trouble and default and all(model.model != default for model in models):
        models += (replace(_row(row.name, ListedModel(default), settings), listed=False),)
    return replace(
        row, models=tuple(replace(model, default=model.model == default) for model in models)
    )


async def try_model(settings: Settings, row: ProviderRow, model: str, key: str = "") -> Answered:
    """Ask a model one small question, perhaps with a key that was just typed.

    Raises:
        ProviderError: it did not answer; in one sentence.
    """
    own = settings.providers.get(row.name, ProviderSettings())
    spec = describe_provider(row.name, own.model_copy(update={"base_url": row.base_url}))
    asked = await asyncio.to_thread(make_provider, spec, settings, key)
    request = ModelRequest(model, "", (UserMessage(_PROMPT, origin="human"),), (), 512)
    started, first, said = time.monotonic(), 0.0, ""
    try:
        async with asyncio.timeout(_TRY_SECONDS):
            async for part in asked.stream(request):
                if isinstance(part, TextDelta | ThinkDelta):
                    first = first or time.monotonic() - started
                    said += part.text if isinstance(part, TextDelta) else ""
    except TimeoutError:
        raise ProviderError(f"{model} did not answer within {_TRY_SECONDS:g} seconds.") from None
    finally:
        await asked.aclose()
    return Answered(first or time.monotonic() - started, said.strip())
