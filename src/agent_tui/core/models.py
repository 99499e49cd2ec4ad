"""Models as a person chooses among them."""

from __future__ import annotations

from dataclasses import dataclass

from agent_tui.core.cost import Price


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model at one provider.

    Attributes:
        window: the context window in tokens; 0 where nobody says.
        listed: whether the server itself lists it.
        default: whether it is asked where nobody chooses.
    """

    provider: str
    model: str
    window: int = 0
    price: Price | None = None
    thinking: bool = False
    image_in: bool = False
    listed: bool = True
    default: bool = False

    @property
    def name(self) -> str:
        """How to ask for it: PROVIDER/MODEL."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One provider and what it lists; ``trouble`` says in a sentence why it lists nothing."""

    name: str
    title: str
    base_url: str
    models: tuple[ModelRow, ...] = ()
    trouble: str = ""
