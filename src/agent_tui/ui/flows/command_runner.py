"""Starts commands and other flows: each in a worker, what goes wrong shown as a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.ui.commands import Command, find_command
from agent_tui.ui.flows import flows

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation

_GROUP = "flow"


def run_command(chat: Conversation, name: str, argument: str) -> None:
    """Carry out a command of the table; an unknown one is answered with the way to the list."""
    command = find_command(name)
    if command is None:
        _run(chat, lambda: flows.send_prompt_file(chat, name, argument), "")
        return
    once = command.run if command.opens_screen else ""
    _run(chat, lambda: _carry_out(chat, command, argument), once)


async def _carry_out(chat: Conversation, command: Command, argument: str) -> None:
    if command.requires_idle and chat.runner.is_busy:
        raise UsageError("A turn is running. Press Esc to interrupt it first.")
    await getattr(flows, command.run)(chat, argument)


def run_flow(chat: Conversation, name: str, *arguments: object) -> None:
    """Run a flow by its name, for a marker or a key that leads to no command."""
    _run(chat, lambda: getattr(flows, name)(chat, *arguments), name)


def _run(chat: Conversation, flow: Callable[[], Awaitable[None]], once: str) -> None:
    """Run a flow over the conversation.

    One that is named by ``once`` is not started again while it runs: a second click or Enter would
    open another screen over the one that is on its way.
    """
    flows = (each for each in chat.workers if each.group == _GROUP and not each.is_finished)
    if once and any(each.name == once for each in flows):
        return
    chat.run_worker(_guarded(chat, flow), name=once, group=_GROUP, exit_on_error=False)


async def _guarded(chat: Conversation, flow: Callable[[], Awaitable[None]]) -> None:
    try:
        await flow()
    except AgentTuiError as error:
        chat.notices.failure(str(error))
    except Exception as error:
        chat.notices.failure(f"Internal error: {type(error).__name__}: {error}.")
