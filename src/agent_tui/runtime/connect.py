"""From settings to a provider and a model that can be asked."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.config import Settings
from agent_tui.providers.base import Provider
from agent_tui.providers.registry import choose_model, make_provider
from agent_tui.providers.unconnected import Unconnected

NO_MODEL = (
    "No model is connected: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), "
    "or start the embedded demo with: agent-tui --demo"
)


@dataclass(frozen=True, slots=True)
class Connection:
    """Who answers in this run."""

    provider: Provider
    model: str


def connect(settings: Settings) -> Connection:
    """The provider and model that the settings and the environment name; blocks."""
    choice = choose_model(settings)
    if choice is None:
        return Connection(Unconnected(NO_MODEL), settings.model)
    spec = choice.provider
    return Connection(make_provider(spec, settings), choice.model or next(iter(spec.models), ""))
