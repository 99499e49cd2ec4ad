"""Starts commands and other flows, each in a worker; failures are shown as a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.ui.commands import FLOWS, Command
from agent_tui.ui.commands.table import find_command, name_keys
from agent_tui.ui.conversation.holder import NotBegunError
from agent_tui.ui.screens.dialogs.panel import Panel
from agent_tui.ui.screens.dialogs.popup import Popup

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation

_GROUP = "flow"
_WAITING = "Starting; the command is carried out in a moment."

Flow = Callable[[], Awaitable[None]]


def run_command(chat: Conversation, name: str, argument: str) -> None:
    """Carry out a command of the table; another name may be that of a prompt file."""
    if name == "interrupt" and stop_opening(chat):
        chat.escape.use()
        return
    command = find_command(name)
    if command is None:
        from agent_tui.ui.flows.prompt import send_prompt_file

        start_flow(chat, partial(send_prompt_file, chat, name, argument))
        return
    once = command.run if command.opens_screen or command.opens_line else ""
    start_flow(chat, partial(_carry_out, chat, command, argument), once)


async def _carry_out(chat: Conversation, command: Command, argument: str) -> None:
    needs_pause = command.requires_idle or (argument and command.requires_idle_with_argument)
    if needs_pause and chat.runner.is_busy:
        if argument:
            chat.prompts.give_back([f"/{command.name} {argument}"])
        told = f"/{command.name} works between turns: {{interrupt}} to interrupt this one."
        raise UsageError(name_keys(chat.app, told))
    await resolve_name(f"{FLOWS}.{command.run}")(chat, argument)


def start_flow(chat: Conversation, flow: Flow, once: str = "") -> None:
    """Run a flow over the conversation.

    One that is named by ``once`` is not started again while it runs: a second click or Enter would
    open another screen over the one that is on its way.
    """
    workers = chat.screen.workers
    flows = (each for each in workers if each.group == _GROUP and not each.is_finished)
    if once and any(each.name == once for each in flows):
        return
    guarded = _guard(chat, flow)
    worker = chat.screen.run_worker(guarded, name=once, group=_GROUP, exit_on_error=False)
    if once:
        chat.opening = chat.flow = worker


def stop_opening(chat: Conversation) -> bool:
    """Stop the screen that is about to open, or close it if it just did; False if there is none.

    For an Esc that was pressed while the conversation still had the keys.
    """
    worker, screen = chat.opening, chat.app.screen
    if worker is None or worker.is_finished:
        return False
    if screen is chat.screen:
        worker.cancel()
        chat.opening = None
    elif isinstance(screen, Panel | Popup):
        screen.action_leave()
    return True


async def _run_once_begun(chat: Conversation, flow: Flow) -> None:
    """Run a flow; one that needs what is still being opened is not lost, but run again then."""
    try:
        await flow()
    except NotBegunError:
        if chat.holder.has_begun.is_set() or chat.status.reading:  # a file may never be continued
            raise
        chat.notices.hint(_WAITING)
        try:
            await chat.holder.has_begun.wait()
        finally:
            chat.notices.drop(_WAITING)
        await flow()


async def _guard(chat: Conversation, flow: Flow) -> None:
    try:
        await _run_once_begun(chat, flow)
    except UsageError as error:
        chat.notices.mistake(str(error))
    except AgentTuiError as error:
        chat.notices.failure(str(error))
    except Exception as error:
        chat.notices.failure(f"Internal error: {type(error).__name__}: {error}.")
