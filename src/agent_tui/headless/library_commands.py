"""Commands over every session there is: no model is needed for them, and no engine assembled."""

from __future__ import annotations

import argparse
import asyncio

from agent_tui.core.summary import OURS
from agent_tui.runtime.starting.launch import Launch

LIBRARY_COMMANDS = frozenset({"sessions list", "index", "search", "statistics", "ship", "why"})


async def run_library_command(name: str, launch: Launch, options: argparse.Namespace) -> int:
    """Answer one of LIBRARY_COMMANDS; returns the exit code."""
    if name == "sessions list":
        await list_sessions(launch, all_agents=options.all_agents, as_json=options.json)
        return 0
    from agent_tui.headless import search

    index, as_json = await asyncio.to_thread(search.open_index, launch), options.json
    match name:
        case "index":
            rebuild, check = options.rebuild, options.check
            await search.update_index(index, rebuild=rebuild, check=check, as_json=as_json)
        case "search":
            await search.search_sessions(index, options.words, options.limit, as_json=as_json)
        case "statistics":
            await search.print_statistics(index, options.by, options.since, as_json=as_json)
        case "why":
            await search.explain_line(index, options.target, options.limit, as_json=as_json)
        case "ship":
            await search.ship(index, options, as_json=as_json)
        case _:
            raise ValueError(f"no command {name!r}")
    return 0


async def list_sessions(launch: Launch, *, all_agents: bool, as_json: bool) -> None:
    """Every session of every project, newest first; with ``all_agents`` other agents' too.

    Ours are named by their ids, others' by the paths that ``open``, ``tree`` and ``fork`` take.
    """
    from agent_tui.core.format import format_minute
    from agent_tui.headless.printing import print_encoded_rows, print_json_rows, print_rows
    from agent_tui.runtime.stored.listing import encoded_rows, list_rows

    if as_json and not all_agents:
        print_encoded_rows(await asyncio.to_thread(encoded_rows, launch.home))
        return
    others = None
    if all_agents:
        from agent_tui.runtime.starting.run_settings import read_settings

        others = await asyncio.to_thread(read_settings, launch)
    rows = await asyncio.to_thread(list_rows, launch.home, others)
    if as_json:
        print_json_rows(rows)
        return
    print_rows(
        (
            (
                row.session_id if row.source == OURS else row.folder,
                *((row.source,) if all_agents else ()),
                format_minute(row.updated_at),
                row.cwd,
                row.title,
            )
            for row in rows
        ),
        f"No sessions yet. Start one with: {launch.command()}",
    )
