"""The ``mcp`` commands: MCP servers listed, tried, added and removed."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.output import say
from agent_tui.core.text import format_count
from agent_tui.core.tool_servers import SERVER_STATE_WORDS, ToolServerStatus
from agent_tui.headless.printing import to_json
from agent_tui.runtime.connect.tool_servers import ToolServers, add_server, remove_server
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.starting.run_settings import read_settings, trusts_project


async def run_tool_servers_command(name: str, launch: Launch, options: argparse.Namespace) -> int:
    """Answer one ``mcp`` command; returns the exit code."""
    match name:
        case "mcp add":
            path = await asyncio.to_thread(
                add_server, options.name, options.target, env=options.env, headers=options.header
            )
            say(f"Added {options.name} to {path}. Try it: agent-tui mcp test {options.name}")
        case "mcp remove":
            if not await asyncio.to_thread(remove_server, options.name):
                raise UsageError(f"There is no MCP server {options.name} in your settings.")
            say(f"Removed {options.name}.")
        case "mcp list":
            await _list(launch, as_json=options.json)
        case "mcp get":
            await _get(launch, options.name, as_json=options.json)
        case "mcp test":
            return await _test(launch, options.name, options.tool, options.arguments)
        case "mcp accept":
            await _accept(launch, options.name)
        case _:
            raise ValueError(f"no command {name!r}")
    return 0


def _servers(launch: Launch, only: str = "") -> ToolServers:
    project = launch.cwd if trusts_project(launch) else None
    return ToolServers(read_settings(launch), project, only)


async def _list(launch: Launch, *, as_json: bool) -> None:
    servers = await asyncio.to_thread(_servers, launch)
    servers.start()
    try:
        await servers.settle()
        statuses = servers.statuses
    finally:
        await servers.aclose()
    if as_json:
        say(to_json([dataclasses.asdict(status) for status in statuses]))
        return
    for trouble in servers.troubles:
        say(trouble)
    for status in statuses:
        say(f"{status.name:<16} {_describe(status)}")
    if not statuses:
        say("No MCP servers. Add one: agent-tui mcp add NAME COMMAND [ARGS …] | URL")


def _describe(status: ToolServerStatus) -> str:
    said = SERVER_STATE_WORDS[status.state]
    if status.state == "ready":
        said += f", {format_count(len(status.tools), 'tool')}"
    return f"{said}: {status.detail}" if status.detail else f"{said}  ({status.place})"


async def _get(launch: Launch, name: str, *, as_json: bool) -> None:
    servers = await asyncio.to_thread(_servers, launch, name)
    servers.start()
    try:
        await servers.settle()
        (status,), tools = servers.statuses, servers.describe(name)
    finally:
        await servers.aclose()
    if as_json:
        rows = [dataclasses.asdict(tool) for tool in tools]
        say(to_json(dataclasses.asdict(status) | {"offered": rows}))
        return
    say(f"{name}: {_describe(status)}\n{status.place}")
    for tool in tools:
        mark = " (changed)" if tool.name in status.changed else ""
        say(f"\n{tool.name}{mark}\n  {tool.description}")
        say(f"  {json.dumps(tool.schema.get('properties', {}), ensure_ascii=False)}")


async def _test(launch: Launch, name: str, tool_name: str, arguments: str) -> int:
    """Start a server, and call one of its tools where one is named."""
    servers = await asyncio.to_thread(_servers, launch, name)
    servers.start()
    try:
        await servers.settle()
        (status,) = servers.statuses
        say(f"{name}: {_describe(status)}")
        if status.state != "ready":
            return 1
        if not tool_name:
            say("\n".join(status.tools))
            return 0
        say(await servers.try_tool(name, tool_name, _read_arguments(arguments)))
    except AgentTuiError as error:
        say(str(error))
        return 1
    finally:
        await servers.aclose()
    return 0


def _read_arguments(text: str) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise UsageError(f"The arguments are not valid JSON: {error}.") from None
    if not isinstance(found, dict):
        raise UsageError("The arguments should be one JSON object.")
    return found


async def _accept(launch: Launch, name: str) -> None:
    servers = await asyncio.to_thread(_servers, launch, name)
    servers.start()
    try:
        await servers.settle()
        changed = servers.statuses[0].changed
        await servers.accept_changes(name)
    finally:
        await servers.aclose()
    say(f"Accepted: {', '.join(changed)}." if changed else "Nothing has changed.")
