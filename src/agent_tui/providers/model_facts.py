"""What is known of one model, from the catalogue and from what the settings say over it."""

from __future__ import annotations

from agent_tui.config import ModelSettings, Settings
from agent_tui.config.settings import ThinkingLevel
from agent_tui.core.cost import Price
from agent_tui.core.dataclass import dataclass
from agent_tui.providers.catalog import DEFAULT_WINDOW, Known, find_known

_SHORT_ANSWER = 8_192


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model.

    Attributes:
        window: the context window in tokens.
        max_output_tokens: the longest answer.
        price: None where nobody knows it.
        image_in: whether it understands images.
        thinking: whether it can think before it answers.
        thinking_level: how hard it should; None leaves that to the server.
    """

    window: int = DEFAULT_WINDOW
    max_output_tokens: int = _SHORT_ANSWER
    price: Price | None = None
    image_in: bool = True
    thinking: bool = True
    thinking_level: ThinkingLevel | None = None


def facts_of(model: str, settings: Settings) -> ModelFacts:
    """The facts of a model by the name that people and servers give it."""
    own = settings.models.get(model) or ModelSettings.model_construct()
    known = find_known(model) or Known()
    level = settings.thinking or own.thinking_level
    thinks = known.thinks if own.thinking is None else own.thinking
    return ModelFacts(
        window=settings.context.window or own.window or known.window,
        max_output_tokens=own.max_output_tokens or known.longest or _SHORT_ANSWER,
        price=_price(own, known),
        image_in=known.sees if own.image_in is None else own.image_in,
        thinking=thinks,
        thinking_level=level if thinks else None,
    )


def _price(own: ModelSettings, known: Known) -> Price | None:
    """The settings' prices over the catalogue's; what is not told of a cache is as the input."""
    base = known.price
    sent = own.price_input if own.price_input is not None else (base.input if base else None)
    answered = own.price_output if own.price_output is not None else (base.output if base else None)
    if sent is None or answered is None:
        return None
    is_own = own.price_input is not None
    read = own.price_cache_read
    written = own.price_cache_write
    if read is None:
        read = sent if is_own or base is None else base.cache_read
    if written is None:
        written = sent if is_own or base is None else base.cache_write
    return Price(sent, answered, read, written)
