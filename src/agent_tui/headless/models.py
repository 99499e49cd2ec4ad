"""The ``models`` command: what can be asked, what it costs, and whether it answers."""

from __future__ import annotations

import argparse
import asyncio

from agent_tui.config import Settings
from agent_tui.core.cost import Price
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.models import ModelRow, ProviderRow
from agent_tui.core.output import complain, say
from agent_tui.headless.printing import print_json, print_rows
from agent_tui.runtime.connect.models import list_providers, try_model
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.starting.run_settings import read_settings

_NOTHING = (
    "No provider is set up. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or MOONSHOT_API_KEY, or add a "
    "server: agent-tui config set providers.NAME.base_url URL"
)


async def print_models(launch: Launch, options: argparse.Namespace) -> int:
    """List models, or try those that the words name; returns the exit code."""
    settings = await asyncio.to_thread(read_settings, launch)
    providers = await list_providers(settings)
    if options.test:
        return await _test(settings, providers, options.words, as_json=options.json)
    shown = [row for provider in providers for row in provider.models if _fits(row, options.words)]
    if options.json:
        print_json(providers)
        return 0
    for provider in providers:
        if provider.trouble:
            complain(f"{provider.name}: {provider.trouble}")
    print_rows(map(_columns, shown), "No model matches." if providers else _NOTHING)
    return 0 if shown else 1


def _fits(row: ModelRow, words: list[str]) -> bool:
    return all(word.lower() in row.name.lower() for word in words)


def _columns(row: ModelRow) -> tuple[object, ...]:
    abilities = [
        word for word, has in (("thinks", row.thinking), ("pictures", row.image_in)) if has
    ]
    mark = "*" if row.default else ""
    return (f"{row.name}{mark}", f"{row.window:,}", _say_price(row.price), " ".join(abilities))


def _say_price(price: Price | None) -> str:
    return f"${price.input:g} / ${price.output:g}" if price else ""


async def _test(
    settings: Settings, providers: tuple[ProviderRow, ...], words: list[str], *, as_json: bool
) -> int:
    """Ask each model that the words name; without words the default one."""
    rows = [row for provider in providers for row in provider.models]
    wanted = [row for row in rows if (_fits(row, words) if words else row.default)]
    results = []
    for row in wanted[:10]:
        try:
            provider = next(each for each in providers if each.name == row.provider)
            answered = await try_model(settings, provider, row.model)
            results.append({"model": row.name, "seconds": answered.seconds, "error": None})
        except AgentTuiError as error:
            results.append({"model": row.name, "seconds": None, "error": str(error)})
    if as_json:
        print_json(results)
    else:
        for found in results:
            told = f"{found['seconds']:.1f} s" if found["error"] is None else found["error"]
            say(f"{found['model']}: {told}")
        if not results:
            _explain_nothing(providers, words)
    return 0 if results and not any(found["error"] for found in results) else 1


def _explain_nothing(providers: tuple[ProviderRow, ...], words: list[str]) -> None:
    """Say why there was no model to test: first what is wrong with servers, then with the words."""
    silent = [provider for provider in providers if provider.trouble]
    for provider in silent:
        known = provider.base_url in provider.trouble
        place = provider.name if known else f"{provider.name} ({provider.base_url})"
        complain(f"{place}: {provider.trouble}")
    for name in (provider.name for provider in silent):
        complain(
            f"{name}: set its base URL with: agent-tui config set providers.{name}.base_url URL"
        )
    if not providers:
        complain(_NOTHING)
    elif any(not provider.trouble for provider in providers):
        told = (
            f"No listed model matches “{' '.join(words)}”" if words else "There is no default model"
        )
        complain(f"{told}; agent-tui models lists them.")
