"""``index``, ``search`` and ``why``: full-text search in every session, printed."""

from __future__ import annotations

import argparse
import asyncio
from datetime import date
from functools import partial
from pathlib import Path

from agent_tui.core.errors import IndexBusy
from agent_tui.core.format import format_count, format_minute, format_tokens
from agent_tui.core.output import complain, say
from agent_tui.core.text import clean
from agent_tui.core.times import read_day
from agent_tui.headless.printing import print_json, print_rows, to_json
from agent_tui.library.search.finding import FoundSession
from agent_tui.library.search.search_index import SearchIndex
from agent_tui.library.statistics import Statistic, cost_of
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.starting.run_settings import read_settings
from agent_tui.runtime.stored.agent_places import agent_places
from agent_tui.runtime.stored.shipping import ship_sessions


def open_index(launch: Launch) -> SearchIndex:
    """The index of every session on this machine, or of the demo; raises ConfigError."""
    return SearchIndex(launch.home, agent_places(read_settings(launch)))


async def update_index(index: SearchIndex, *, rebuild: bool, check: bool, as_json: bool) -> None:
    """Bring the index up to date, or compare it with the files it was made from."""
    if check:
        findings = await asyncio.to_thread(index.check)
        if as_json:
            print_json(findings)
            return
        for sentence in findings.differences:
            say(clean(sentence))
        lines, files = format_count(findings.lines, "line"), format_count(findings.files, "file")
        found = format_count(len(findings.differences), "difference")
        say(f"{lines} of {files} compared: {found}.")
        return
    update = index.rebuild if rebuild else partial(index.update, is_patient=True)
    progress = await asyncio.to_thread(update)
    if as_json:
        print_json(progress)
        return
    for sentence in progress.troubles:
        complain(clean(sentence))
    files, lines = format_count(progress.files, "file"), format_count(progress.lines, "line")
    say(f"{files}, {progress.changed} new or changed; {lines} read.")


async def _bring_up_to_date(index: SearchIndex) -> None:
    """Read what is new; where another process does so without end, the index answers as it is."""
    try:
        await asyncio.to_thread(index.update)
    except IndexBusy as error:
        complain(str(error))


async def search_sessions(
    index: SearchIndex, words: list[str], limit: int, *, as_json: bool
) -> None:
    """Print the sessions that fit a query, each with the lines that do.

    A search that was cut off says so on a last line, as JSON in an object of its own.
    """
    await _bring_up_to_date(index)
    answer = await asyncio.to_thread(index.search, " ".join(words), limit)
    if as_json:
        for each in answer.sessions:
            say(to_json(each))
        if answer.stopped_by:
            about = {"stopped_by": answer.stopped_by, "unsearched_sessions": answer.unsearched}
            print_json(about | {"warning": answer.warning})
        if answer.unknown:
            complain(answer.unknown)
        return
    if not answer.sessions:
        say("Nothing found yet." if answer.warning else answer.nothing)
    for each in answer.sessions:
        _print_session(each)
    if answer.warning:
        say(answer.warning)


def _print_session(found: FoundSession) -> None:
    when = found.updated_at[:10]
    lines = format_count(found.matches, "line")
    say(clean(f"{found.title or 'Untitled'}  ({found.source}, {found.cwd}, {when}, {lines})"))
    say(clean(f"  {found.session_id}  {found.path}"))
    for hit in found.hits:
        say(clean(f"    {hit.role or 'log'}: {hit.snippet}"))


async def explain_line(index: SearchIndex, target: str, limit: int, *, as_json: bool) -> None:
    """Print which calls of which sessions wrote a file, or a line of it, and what was asked."""
    await _bring_up_to_date(index)
    found = await asyncio.to_thread(index.why, target, Path.cwd(), limit)
    if as_json:
        for each in found:
            say(to_json(each))
        return
    if not found:
        say(f"No session on this machine wrote {target}.")
    for each in found:
        tools = ", ".join(each.tools)
        say(clean(f"{format_minute(each.at)}  {tools}  {each.title or each.session_id}"))
        say(clean(f"  prompt: {each.prompt or 'unknown'}"))
        kept = "still in the context" if each.in_context else "no longer in the context"
        copied = f" · continued in {', '.join(each.copied_to)}" if each.copied_to else ""
        say(clean(f"  the prompt was {kept} · {each.source} · {each.session_id}{copied}"))


async def print_statistics(index: SearchIndex, by: str, since: str, *, as_json: bool) -> None:
    """Print what was used and done, by day, model, project, agent or tool."""
    since = read_day(since, date.today()) if since else ""
    await _bring_up_to_date(index)
    found = await asyncio.to_thread(index.statistics, by, since)
    if as_json:
        for each in found:
            say(to_json(each))
        return
    if not found:
        say("No activity in this period." if since else "There are no sessions yet.")
        return
    print_rows([_HEADS[by == "tool"], *map(_tool_row if by == "tool" else _row, found)], "")


_HEADS = (
    (
        "",
        "sessions",
        "prompts",
        "replies",
        "tool calls",
        "errors",
        "compactions",
        "in",
        "out",
        "cost",
    ),
    ("", "sessions", "tool calls", "errors"),
)


def _row(each: Statistic) -> tuple[object, ...]:
    tokens = format_tokens(each.input_tokens), format_tokens(each.output_tokens)
    counts = (each.prompts, each.replies, each.calls, each.errors, each.compactions)
    return (each.name, each.sessions, *counts, *tokens, cost_of(each))


def _tool_row(each: Statistic) -> tuple[object, ...]:
    return (each.name, each.sessions, each.calls, each.errors)


async def ship(index: SearchIndex, options: argparse.Namespace, *, as_json: bool) -> None:
    """Write what is new in every session as flat rows; content only where it was asked for."""
    folder, form, endpoint = options.folder, options.format, options.endpoint
    shipment = await ship_sessions(
        folder, form, index, with_content=options.content, endpoint=endpoint
    )
    if as_json:
        print_json(shipment)
        return
    for sentence in (*shipment.troubles, shipment.redacted):
        if sentence:
            complain(clean(sentence))
    if not shipment.rows:
        say(clean(f"Nothing new to write to {folder}."))
        return
    rows, sessions = format_count(shipment.rows, "row"), format_count(shipment.sessions, "session")
    say(clean(f"{rows} of {sessions} written to {folder}."))
