"""Connecting a provider, choosing a model, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from agent_tui.config.settings import ThinkingLevel
from agent_tui.core.cost import Price, format_cost
from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.models import ModelRow, ProviderRow
from agent_tui.ui.commands.table import name_keys
from agent_tui.ui.conversation.turn_listener import invite_to_retry
from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.screens.dialogs.picker import Pick, PickerScreen

if TYPE_CHECKING:
    from agent_tui.core.usage import Usage
    from agent_tui.history.costs import CostRow, SessionCosts
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.conversation import Conversation

_LOOK, _ADDRESS = "look", "address"
_SHOWN_TOOLS = 8
_SHOWN_DESCRIPTION = 300
_NO_SERVER = (
    "No server answered: Ollama (11434), LM Studio (1234), llama.cpp (8080). Start one, or give "
    "another address."
)


async def connect_model(chat: Conversation, _argument: str) -> None:
    """Find a provider, let a model of it be chosen, try it, and keep the choice."""
    engine = chat.holder.require_engine()
    trouble = ""
    while True:
        chosen = await chat.app.push_screen_wait(await _ways(engine, trouble))
        if chosen is None:
            return
        try:
            found = await _find(chat, engine, chosen)
            if found is not None and await _take(chat, engine, *found):
                return
            trouble = ""
        except AgentTuiError as error:
            trouble = str(error)


async def _ways(engine: Engine, trouble: str) -> ChoiceScreen:
    """What can be connected: providers with a key first, then local servers, then the others."""
    candidates = await engine.connecting.candidates()
    ready = [each for each in candidates if each.has_key]
    other = [each for each in candidates if not each.has_key]
    choices = [
        *(Choice(each.name, each.title, f"key found in {each.key_env}") for each in ready),
        Choice(_LOOK, "Find servers on this computer", "Ollama, LM Studio, llama.cpp"),
        *(Choice(each.name, each.title, f"needs a key ({each.key_env})") for each in other),
        Choice(_ADDRESS, "Another server", "any OpenAI-compatible address"),
    ]
    return ChoiceScreen("Connect a model", choices, note=trouble)


async def _find(
    chat: Conversation, engine: Engine, chosen: str
) -> tuple[tuple[ProviderRow, ...], str] | None:
    """The providers that a choice leads to, and a key that was typed; None on Esc.

    Raises:
        AgentTuiError: nothing was found; in one sentence.
    """
    connecting = engine.connecting
    if chosen == _ADDRESS:
        return await _find_by_address(chat, engine)
    if chosen == _LOOK:
        looking = "Looking for servers on this computer…"
        chat.notices.hint(looking)
        rows = await connecting.find_local()
        chat.notices.drop(looking)
        if not rows:
            raise UsageError(_NO_SERVER)
        return rows, ""
    return await _open_with_key(chat, engine, await connecting.ask(chosen), chosen)


async def _find_by_address(
    chat: Conversation, engine: Engine
) -> tuple[tuple[ProviderRow, ...], str] | None:
    """Ask for an address until it is valid, showing what was typed and what was wrong."""
    note, address = "such as http://127.0.0.1:8000/v1", ""
    while True:
        screen = AskLineScreen("Address of the server", note, address, act="connect")
        address = (await chat.app.push_screen_wait(screen) or "").strip()
        if not address:
            return None
        try:
            row = await engine.connecting.ask(_ADDRESS, address)
        except UsageError as error:
            note = str(error)
        else:
            return await _open_with_key(chat, engine, row, _ADDRESS, address)


async def _open_with_key(
    chat: Conversation, engine: Engine, row: ProviderRow, chosen: str, address: str = ""
) -> tuple[tuple[ProviderRow, ...], str] | None:
    """The provider with a key where it wants one; None on Esc.

    Raises:
        UsageError: it does not take the key, or does not answer.
    """
    key = ""
    if row.trouble:
        note = f"{row.trouble} The key is kept in a file that only you can read."
        typed = await chat.app.push_screen_wait(
            AskLineScreen("Key", note, password=True, act="connect")
        )
        key = (typed or "").strip()
        if not key:
            return None
        row = await engine.connecting.ask(chosen, address, key)
    if row.trouble:
        raise UsageError(row.trouble)
    return (row,), key


async def _take(
    chat: Conversation, engine: Engine, rows: tuple[ProviderRow, ...], key: str
) -> bool:
    """Let a model be chosen, try it, write it down, and ask it from here on; False on Esc.

    Raises:
        AgentTuiError: the model does not answer, or the settings cannot be written.
    """
    models = {model.name: (row, model) for row in rows for model in row.models}
    picks = [_pick(model, several=len(rows) > 1) for _, model in models.values()]
    chosen = await chat.app.push_screen_wait(PickerScreen("Model", picks))
    if chosen is None:
        return False
    row, model = models[chosen]
    chat.notices.hint(f"Trying {model.model}…")
    with chat.prompts.held(f"Trying {model.model}; your message will be sent once it answers."):
        answered = await engine.connecting.take(row, model.model, key)
        session = chat.session
        if session is not None:
            await session.operations.use_model(model.model, model.provider)
    invite_to_retry(chat)
    chat.welcome.model = engine.connections.label
    chat.notices.hint(f"Connected: {model.model} answered in {answered.seconds:.1f} s.")
    return True


def _pick(model: ModelRow, *, several: bool) -> Pick:
    label = model.name if several else model.model
    facts = [f"{format_tokens(model.window)} window"] if model.window else []
    facts += [
        word for word, has in (("thinks", model.thinking), ("pictures", model.image_in)) if has
    ]
    return Pick(model.name, label, ", ".join(facts), _say_price(model.price))


def _say_price(price: Price | None) -> str:
    return f"${price.input:g} in, ${price.output:g} out /M" if price else ""


async def change_model(chat: Conversation, argument: str) -> None:
    """Ask another model from here on; without a name it is chosen from what servers list."""
    engine = chat.holder.require_engine()
    session = chat.holder.require_session()
    if argument:
        _tell_model(chat, await session.operations.use_model(argument))
        return
    asking = "Asking the servers for their models…"
    chat.notices.hint(asking)
    rows = await engine.connecting.providers()
    chat.notices.drop(asking)
    models = {model.name: model for row in rows for model in row.models}
    if not models:
        await connect_model(chat, "")
        return
    current = f"{session.provider}/{session.model}"
    picks = [_pick(model, several=len(rows) > 1) for model in models.values()]
    for row in rows:
        if row.trouble:
            picks.append(Pick("", f"{row.name}: not reachable", row.trouble))
    chosen = await chat.app.push_screen_wait(PickerScreen("Model", picks, current))
    if chosen:
        model = models[chosen]
        await session.operations.use_model(model.model, model.provider)
        _tell_model(chat, model.model)


def _tell_model(chat: Conversation, model: str) -> None:
    chat.log.settle()  # a row of the conversation says it, too
    undo = name_keys(chat.app, "Undo with {undo}.")
    chat.notices.hint(f"Model: {model}. {undo}")


async def change_agent(chat: Conversation, argument: str) -> None:
    """Start a new session with another agent: what an agent is told stands at the beginning."""
    engine = chat.holder.require_engine()
    chosen: str | None = argument
    if not argument:
        found = [(name, engine.agents.find(name)) for name in engine.agents.names()]
        choices = [Choice(name, name, spec.description) for name, spec in found]
        chosen = await chat.app.push_screen_wait(ChoiceScreen("Agent", choices, engine.agent))
    if chosen:
        await chat.show_session(await engine.use_agent(chosen))
        chat.notices.hint(f"New session with the agent {engine.agent}.")


async def show_usage(chat: Conversation, _argument: str) -> None:
    """Say what the session used and cost, by model."""
    engine = chat.holder.require_engine()
    session = chat.holder.require_session()
    costs = await session.view.costs(engine.connections.price_of)
    helped = await _costs_of_subagents(engine, session, costs)
    rows = [_usage_row(row) for row in costs.models]
    rows += [_usage_row(row, "subagent · ") for each in helped for row in each.models]
    last = costs.turns[-1] if costs.turns else None
    least = "at least " if any(each.unpriced for each in (costs, *helped)) else ""
    spent = sum(each.total for each in (costs, *helped))
    total = f"{least}{format_cost(spent)}" if spent or not least else "price unknown"
    title = f"Cost of this session: {total}"
    if last is not None and last.cost is not None:
        title += f", last turn {format_cost(last.cost)}"
    await chat.app.push_screen_wait(
        ChoiceScreen(title, rows, empty="No model has been used yet.", enter="")
    )


def _usage_row(row: CostRow, who: str = "") -> Choice:
    return Choice(
        row.name,
        f"{who}{row.name or 'unknown model'}",
        f"{'price unknown' if row.cost is None else format_cost(row.cost)} · "
        f"{format_count(row.calls, 'request')} · {describe_usage(row.usage)}",
    )


def describe_usage(usage: Usage) -> str:
    """The tokens that were used: ``48.8k in (22.5k cached) · 2.4k out``."""
    sent, cached = format_tokens(usage.input_tokens), format_tokens(usage.cached_tokens)
    return f"{sent} in ({cached} cached) · {format_tokens(usage.output_tokens)} out"


async def _costs_of_subagents(
    engine: Engine, session: LiveSession, costs: SessionCosts
) -> list[SessionCosts]:
    """What all subagents used, as far as their sessions still exist."""
    from agent_tui.history.costs import costs_of_subagents

    async def read(name: str) -> SessionCosts:
        view = await engine.stored.open_path(await engine.stored.find_folder(name))
        return await view.costs(engine.connections.price_of)

    return await costs_of_subagents(session.session_id, costs, read)


async def set_thinking(chat: Conversation, argument: str) -> None:
    """Choose how hard models think, for this session and the next ones."""
    engine = chat.holder.require_engine()
    session = chat.holder.require_session()
    levels = get_args(ThinkingLevel)
    current = engine.settings.thinking or ""
    if argument and argument not in levels:
        raise UsageError(f"Expected one of {', '.join(levels)}, got {argument!r}.")
    choices = [Choice(level, level) for level in levels]
    screen = ChoiceScreen("Thinking", choices, current)
    level = argument or await chat.app.push_screen_wait(screen)
    if not level:
        return
    await engine.setting_files.save("thinking", level)
    await engine.reload_settings()
    await session.operations.use_model(session.model, session.provider)
    chat.notices.hint(f"Thinking: {level}")
