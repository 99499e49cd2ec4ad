"""The models of this run: whom a session asks, at which provider, and how much it may send."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent_tui.config import Settings
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.providers.base import Provider
from agent_tui.providers.catalog import window_of
from agent_tui.providers.registry import choose_model, make_provider, usable_providers
from agent_tui.providers.unconnected import Unconnected

NO_MODEL = (
    "No model is connected: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), "
    "or start the built-in demo with: agent-tui --demo"
)


@dataclass(frozen=True, slots=True)
class Connection:
    """A model at its provider; ``window`` is in tokens."""

    provider: Provider
    model: str
    window: int
    counter: TokenCounter


class Connections:
    """Every model that sessions of this run ask; a provider is made once, when it is needed.

    Args:
        settings: which providers there are.
        provider: the one that a new session asks.
        model: the model that a new session asks.
        window: the size of that model's context; 0 for what the settings or the catalogue say.
        only: whether no other provider may be asked, as in a demo.

    Attributes:
        default: what a new session asks.
    """

    def __init__(
        self,
        settings: Settings,
        provider: Provider,
        model: str,
        window: int = 0,
        *,
        only: bool = False,
    ) -> None:
        self._settings = settings
        self._only = only
        self._providers = {provider.name: provider}
        self._counters: dict[str, TokenCounter] = {}
        self.default = Connection(
            provider, model, window or self._window_of(model), self._counter(model)
        )

    @classmethod
    def of_settings(cls, settings: Settings) -> Connections:
        """What the settings and the environment name; blocks."""
        choice = choose_model(settings)
        if choice is None:
            return cls(settings, Unconnected(NO_MODEL), settings.model)
        model = choice.model or next(iter(choice.provider.models), "")
        return cls(settings, make_provider(choice.provider, settings), model)

    @property
    def label(self) -> str:
        """The default provider and model, for the status line."""
        provider, model = self.default.provider, self.default.model
        if provider.name == "none":
            return "no model connected: set OPENAI_API_KEY, or start with --demo"
        return " · ".join(dict.fromkeys((provider.name, model)))

    def find(self, provider: str, model: str) -> Connection:
        """A model that a log names; the default where its provider cannot be asked. Blocks."""
        found = self._provider(provider)
        if found is None or not model:
            return self.default
        if found is self.default.provider and model == self.default.model:
            return self.default
        return Connection(found, model, self._window_of(model), self._counter(model))

    def choose(self, name: str, provider: str) -> Connection | None:
        """A model by the name that a person gave it, ``PROVIDER/MODEL`` for another provider.

        None where the provider cannot be asked in this run. Blocks.
        """
        prefix, slash, rest = name.partition("/")
        if slash and rest and prefix != provider and self._provider(prefix) is not None:
            return self.find(prefix, rest)
        return self.find(provider, name) if self._provider(provider) is not None else None

    def _provider(self, name: str) -> Provider | None:
        if name not in self._providers:
            spec = None if self._only else usable_providers(self._settings).get(name)
            if spec is None:
                return None
            self._providers[name] = make_provider(spec, self._settings)
        return self._providers[name]

    def _window_of(self, model: str) -> int:
        return self._settings.context.window or window_of(model)

    def _counter(self, model: str) -> TokenCounter:
        return self._counters.setdefault(model, TokenCounter(model))

    async def warm(self) -> None:
        """Load what the first request needs, in a thread."""
        await asyncio.to_thread(self.default.provider.warm)

    async def aclose(self) -> None:
        """Close the providers' connections, and end what counts tokens."""
        for counter in self._counters.values():
            await asyncio.to_thread(counter.close)
        for provider in self._providers.values():
            await provider.aclose()
