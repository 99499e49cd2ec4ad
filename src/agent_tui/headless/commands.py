"""Which function answers which command."""

from __future__ import annotations

import argparse
import asyncio
from datetime import date

from agent_tui.context.filters import ContextFilter
from agent_tui.core.times import read_local_time
from agent_tui.headless import browse, files
from agent_tui.headless.tree import fork_session, print_tree
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.starting.launch import Launch


async def run_command(name: str, launch: Launch, options: argparse.Namespace) -> int:
    """Assemble an engine, answer one command, and close it; returns the exit code."""
    engine = await asyncio.to_thread(Engine.assemble, launch)
    try:
        await _answer(name, engine, options)
    finally:
        await engine.aclose()
    return 0


async def _answer(name: str, engine: Engine, options: argparse.Namespace) -> None:
    as_json: bool = options.json
    match name:
        case "sessions show":
            await browse.show_session(engine, options.id, as_json=as_json)
        case "sessions rename":
            await browse.rename_session(engine, options.id, options.title, as_json=as_json)
        case "sessions undelete":
            await browse.undelete_session(engine, options.id, as_json=as_json)
        case "sessions delete":
            await browse.delete_session(engine, options.id, as_json=as_json)
        case "checkpoints":
            await browse.list_checkpoints(engine, options.id, as_json=as_json)
        case "revert":
            await files.revert_session(engine, options, as_json=as_json)
        case "changes":
            await files.print_changes(
                engine, options.id, options.since, patch=options.patch, as_json=as_json
            )
        case "archives":
            await browse.list_archives(engine, options.id, as_json=as_json)
        case "archives prune":
            await browse.prune_archives(engine, options.id, options.keep, as_json=as_json)
        case "restore":
            await browse.restore_archive(engine, options.id, options.number, as_json=as_json)
        case "compact":
            await browse.compact_session(
                engine, options.id, options.focus, options.strategy, as_json=as_json
            )
        case "tree":
            await print_tree(engine, options.id, options.detail, as_json=as_json)
        case "fork":
            await fork_session(engine, options.id, options.at, as_json=as_json, part=_part(options))
        case "open":
            await browse.open_path(engine, options.path, as_json=as_json)
        case "export":
            await browse.export_session(
                engine,
                options.id,
                options.format,
                options.output,
                _part(options),
                as_json=as_json,
            )
        case "repair":
            await browse.repair_session(engine, options.id, as_json=as_json)
        case _:
            raise ValueError(f"no command {name!r}")


def _part(options: argparse.Namespace) -> ContextFilter:
    """Which part of a conversation the options ask for."""
    since = read_local_time(options.since, date.today()) if options.since else ""
    return ContextFilter(options.max_tokens, options.max_messages, since)
