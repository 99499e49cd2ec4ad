"""The models of this run: which one a session asks, at which provider, with what window."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from agent_tui.config import Settings
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.cost import Price
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError, ProviderError
from agent_tui.core.words import NO_PROVIDER
from agent_tui.providers.base import Provider
from agent_tui.providers.keys import find_key
from agent_tui.providers.model_facts import facts_of
from agent_tui.providers.model_list import ListedModel, best_of, list_models
from agent_tui.providers.presets import ProviderSpec
from agent_tui.providers.registry import choose_model, make_provider, usable_providers
from agent_tui.providers.unconnected import Unconnected

NO_MODEL = (
    "No model is connected: connect a provider, or set OPENAI_API_KEY (and OPENAI_BASE_URL "
    "for another server), or start the built-in demo with: agent-tui --demo"
)
_LIST_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Connection:
    """A model at its provider; ``window`` is in tokens, ``price`` None where nobody knows it."""

    provider: Provider
    model: str
    window: int
    counter: TokenCounter
    price: Price | None = None
    sees_images: bool = True


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
        notices: what was chosen for the user, who should know.
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
        self._listed: dict[str, ListedModel] = {}
        self.notices: list[str] = []
        self.default = self._connect(provider, model, window)

    @classmethod
    def of_settings(cls, settings: Settings) -> Connections:
        """What the settings and the environment name; blocks."""
        choice = choose_model(settings)
        if choice is None:
            return cls(settings, Unconnected(NO_MODEL), settings.model)
        spec = choice.provider
        if choice.model:
            return cls(settings, make_provider(spec, settings), choice.model)
        listed = _ask_for_list(spec) if spec.is_own or not spec.models else ()
        model = best_of([each.name for each in listed], spec.models)
        connections = cls(
            settings, make_provider(spec, settings), model or next(iter(spec.models), "")
        )
        connections.learn(listed)
        if model and model not in spec.models:
            connections.notices.append(
                f"Using {model}, first of {len(listed)} listed. You can choose another model."
            )
        return connections

    def learn(self, listed: Iterable[ListedModel]) -> None:
        """Remember what servers say of their models: windows and prices not known otherwise."""
        self._listed |= {each.name: each for each in listed}
        default = self.default
        self.default = self._connect(default.provider, default.model)

    def refresh(self, settings: Settings) -> None:
        """Use changed settings; providers are rebuilt when they are next asked. Blocks."""
        kept = self.default
        self._settings = settings
        self._providers = {kept.provider.name: kept.provider}
        choice = choose_model(settings)
        if choice is None or self._only:
            return
        self._providers.pop(choice.provider.name, None)
        provider = self._provider(choice.provider.name)
        if provider is not None:
            model = choice.model or next(iter(choice.provider.models), "")
            self.default = self._connect(provider, model)

    @property
    def label(self) -> str:
        """The default provider and model, for the status line."""
        provider, model = self.default.provider, self.default.model
        if not self.is_connected:
            return "no model connected: use /connect"
        return " · ".join(dict.fromkeys((provider.name, model)))

    @property
    def is_connected(self) -> bool:
        """Whether there is a model to ask."""
        return self.default.provider.name != NO_PROVIDER

    def require_model(self) -> None:
        """Raise ProviderError, which says how to connect a model, where there is none to ask."""
        if not self.is_connected:
            raise ProviderError(NO_MODEL)

    def find(self, provider: str, model: str) -> Connection:
        """The model that a log names; the default if its provider cannot be asked. Blocks."""
        found = self._provider(provider)
        if found is None or not model:
            return self.default
        if found is self.default.provider and model == self.default.model:
            return self.default
        return self._connect(found, model)

    def choose(self, name: str, provider: str, *, exact: bool = False) -> Connection | None:
        """A model by the name that a person gave it, ``PROVIDER/MODEL`` for another provider.

        With ``exact`` the name is the model's at this provider, slashes included. None where the
        provider cannot be asked in this run. Blocks.
        """
        prefix, slash, rest = name.partition("/")
        other = slash and rest and prefix != provider and not exact
        if other and self._provider(prefix) is not None:
            return self.find(prefix, rest)
        return self.find(provider, name) if self._provider(provider) is not None else None

    def _provider(self, name: str) -> Provider | None:
        if name not in self._providers:
            spec = None if self._only else usable_providers(self._settings).get(name)
            if spec is None:
                return None
            self._providers[name] = make_provider(spec, self._settings)
        return self._providers[name]

    def _connect(self, provider: Provider, model: str, window: int = 0) -> Connection:
        """A connection, as far as the settings, the server and the catalogue know the model."""
        facts, listed = facts_of(model, self._settings), self._listed.get(model)
        own = self._settings.models.get(model)
        told = listed.window if listed is not None and not (own and own.window) else 0
        return Connection(
            provider,
            model,
            window or self._settings.context.window or told or facts.window,
            self._counter(model),
            facts.price or (listed.price if listed is not None else None),
            facts.image_in,
        )

    def _counter(self, model: str) -> TokenCounter:
        return self._counters.setdefault(model, TokenCounter(model))

    def price_of(self, model: str) -> Price | None:
        """What a model costs, by its name alone."""
        listed = self._listed.get(model)
        return facts_of(model, self._settings).price or (listed.price if listed else None)

    async def warm(self) -> None:
        """Load what the first request needs, in a thread."""
        await asyncio.to_thread(self.default.provider.warm)

    async def aclose(self) -> None:
        """Close the providers' connections, and end what counts tokens."""
        for counter in self._counters.values():
            await asyncio.to_thread(counter.close)
        for provider in self._providers.values():
            await provider.aclose()


def _ask_for_list(spec: ProviderSpec) -> tuple[ListedModel, ...]:
    """What a server lists; nothing if it does not answer soon: the first request tells why."""
    try:
        return asyncio.run(list_models(spec, find_key(spec), _LIST_SECONDS))
    except AgentTuiError:
        return ()
