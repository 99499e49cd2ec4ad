"""Flows about MCP servers: their list, their changes, and what is wrong with them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_count
from agent_tui.core.text import first_line
from agent_tui.core.tool_servers import SERVER_STATE_WORDS, ToolServerStatus
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen

if TYPE_CHECKING:
    from agent_tui.runtime.connect.tool_servers import ToolServers
    from agent_tui.ui.conversation.conversation import Conversation

_RESTART_SECONDS = 60
_SHOWN_TOOLS = 8
_SHOWN_DESCRIPTION = 300


async def show_tool_servers(chat: Conversation, _argument: str) -> None:
    """List the MCP servers; Enter restarts one, or accepts its changed tools."""
    servers = chat.holder.require_engine().tool_servers
    if servers is None:
        raise UsageError("The demo uses no MCP servers.")
    for status in servers.statuses:
        chat.notices.drop(_tell_trouble(status))  # the list says it
    told = at = ""
    while True:
        rows = _list_servers(servers)
        empty = "No MCP servers. Add one with: agent-tui mcp add NAME COMMAND"
        screen = ChoiceScreen(
            "MCP servers",
            rows,
            empty=empty,
            note=told,
            enter="restart",
            begin_at=at,
            renew=lambda: _list_servers(servers),
        )
        at = await chat.app.push_screen_wait(screen) or ""
        if not at:
            return
        told = ""
        status = next(each for each in servers.statuses if each.name == at)
        if status.changed:
            if await chat.app.push_screen_wait(_review(servers, status)):
                await servers.accept_changes(at)
        elif status.state == "disabled":
            setting = f"mcp.servers.{at}.enabled"
            told = f"{at} is disabled. Turn it on with: agent-tui config set {setting} true"
        else:
            await _restart(chat, servers, at)
            told = f"{at} was restarted."


def _list_servers(servers: ToolServers) -> list[Choice]:
    """Every server as it is now, with what Enter does where that is not to restart it."""
    rows = []
    for status in servers.statuses:
        said = SERVER_STATE_WORDS[status.state]
        count = format_count(len(status.tools), "tool") if status.state == "ready" else ""
        disabled = "Enter see how to enable it" if status.state == "disabled" else ""
        act = "Enter review changed tools" if status.changed else disabled
        note = " · ".join(filter(None, (said, count, act, status.detail)))
        rows.append(Choice(status.name, status.name, note))
    return rows


async def _restart(chat: Conversation, servers: ToolServers, name: str) -> None:
    """Restart a server, and say so in the status line; one that takes long is not waited for."""
    before, chat.status.work = chat.status.work, f"restarting {name}"
    try:
        await servers.restart(name)
        with suppress(TimeoutError):
            await asyncio.wait_for(servers.settle(), _RESTART_SECONDS)
    finally:
        chat.status.work = before


async def show_tools(chat: Conversation, _argument: str) -> None:
    """List the tools that the agent has now, with where each comes from."""
    tools = chat.holder.require_session().tools
    rows = []
    for tool in tools:
        server, is_borrowed, name = tool.name.partition("__")
        note = f"{server}: " if is_borrowed else ""
        shown = name if is_borrowed else tool.name
        rows.append(Choice("", shown, note + first_line(tool.description, _SHOWN_DESCRIPTION)))
    title = f"Tools ({len(rows)})"
    await chat.app.push_screen_wait(
        ChoiceScreen(title, rows, empty="This agent has no tools.", enter="")
    )


def _review(servers: ToolServers, status: ToolServerStatus) -> ConfirmScreen:
    """Show how changed tools describe themselves now: only what was shown can be accepted."""
    described = {tool.name: tool.description for tool in servers.describe(status.name)}
    shown = [
        f"{name}: {first_line(described.get(name, ''), _SHOWN_DESCRIPTION)}"
        for name in status.changed[:_SHOWN_TOOLS]
    ]
    if more := len(status.changed) - len(shown):
        shown.append(f"and {format_count(more, 'more tool')}: agent-tui mcp get {status.name}")
    return ConfirmScreen(f"Accept changed tools of {status.name}?", "\n".join(shown), "Accept")


def _tell_trouble(status: ToolServerStatus) -> str:
    said = status.detail.rstrip(".")
    return f"MCP server {status.name}: {said}. See /mcp."


class ServerNotices:
    """Says in the conversation what is wrong with a server of tools, once for each trouble."""

    def __init__(self, chat: Conversation, servers: ToolServers) -> None:
        self._chat = chat
        self._servers = servers
        self._told: set[tuple[str, str]] = set()

    def listen(self) -> None:
        """Report every problem from now on; servers report theirs from a thread of their own."""
        loop = asyncio.get_running_loop()

        def hear() -> None:
            loop.call_soon_threadsafe(self.tell)

        self._servers.listen(hear)
        for trouble in self._servers.troubles:
            self._chat.notices.warning(trouble)

    def tell(self) -> None:
        """Report the problems of the servers that have not been reported yet."""
        for status in self._servers.statuses:
            trouble = (status.name, status.detail)
            if status.detail and trouble not in self._told:
                self._told.add(trouble)
                self._chat.notices.warning(_tell_trouble(status))
