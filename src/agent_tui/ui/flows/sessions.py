"""Flows about whole sessions: start, choose, search, fork, rename, retry, export."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError
from agent_tui.core.summary import OURS
from agent_tui.core.tree import Fork
from agent_tui.history.found_record import NOT_HERE, FoundLine, find_record
from agent_tui.ui.flows.file_acts import open_file
from agent_tui.ui.flows.session_acts import show_fork
from agent_tui.ui.flows.wide_folder import ask_for_wide_folder

if TYPE_CHECKING:
    from agent_tui.core.summary import SessionSummary
    from agent_tui.library.search.finding import FoundSession
    from agent_tui.runtime.engine import Engine
    from agent_tui.ui.conversation.conversation import Conversation


async def start_session(chat: Conversation, _argument: str) -> None:
    """Start a new session."""
    await chat.show_session(await chat.holder.require_engine().new_session())


async def choose_session(chat: Conversation, argument: str) -> None:
    """Open the session of an id, or one chosen from the list."""
    engine = chat.holder.require_engine()
    current = chat.session.session_id if chat.session else ""
    choice: tuple[str, str] | None = ("open", argument)
    if not argument:
        choice = await _choose_session(chat, engine, current)
    match choice:
        case ("new", _):
            await chat.show_session(await engine.new_session())
        case ("open", session_id) if session_id != current:
            await chat.show_session(await engine.open_session(session_id), asks_folder=True)
            await ask_for_wide_folder(chat)
        case _:
            chat.log.load()


async def _choose_session(
    chat: Conversation, engine: Engine, current: str
) -> tuple[str, str] | None:
    """Show the list until something is chosen; another agent's session may become one of ours."""
    from agent_tui.ui.screens.sessions.session_list import SessionListScreen

    async def write_out(summary: SessionSummary) -> tuple[Path, str]:
        from agent_tui.runtime.stored.exporting import export_to

        view = await engine.stored.open_path(Path(summary.folder))
        return await export_to(view, "markdown", engine.workspace)

    while True:
        screen = SessionListScreen(engine.stored, current, engine.agent_sessions, write_out)
        match await chat.app.push_screen_wait(screen):
            case ("view", path):
                if await open_file(chat, Path(path)):
                    return None
            case ("search", query):
                if await _search_for(chat, query):
                    return None
            case choice:
                return choice


async def search_sessions(chat: Conversation, argument: str) -> None:
    """Search every session; open the one that was chosen, or view it where it is not ours."""
    await _search_for(chat, argument)


async def _search_for(chat: Conversation, argument: str) -> bool:
    """Search every session; returns whether one was chosen, and not the way back."""
    from agent_tui.ui.screens.sessions.search import SearchScreen

    service = chat.holder.require_engine().search_service
    chosen = await chat.app.push_screen_wait(SearchScreen(service, argument))
    if chosen is None:
        return False
    found, hit = chosen
    if hit is None:
        await _open_at(chat, found.session_id if found.is_live else "", Path(found.path), None)
        return True
    line = FoundLine(hit.at, hit.snippet, hit.mark)
    if _is_open(chat, found) and await _show_line(chat, line):
        return True  # it was found in an older log, and is in the conversation again
    live_id = found.session_id if found.has_live(hit) else ""
    await _open_at(chat, live_id, Path(hit.path), line)
    return True


def _is_open(chat: Conversation, found: FoundSession) -> bool:
    session = chat.session
    return session is not None and (found.source, found.session_id) == (OURS, session.session_id)


async def explain_line(chat: Conversation, argument: str) -> None:
    """Show what wrote a file or a line of it; open the session that was chosen at that call."""
    from agent_tui.ui.screens.sessions.why import WhyScreen

    if not argument:
        raise UsageError("Expected a file or a line of it: /why <file[:line]>.")
    engine = chat.holder.require_engine()
    screen = WhyScreen(engine.search_service, argument, engine.workspace)
    chosen = await chat.app.push_screen_wait(screen)
    if chosen is not None:
        line = FoundLine(chosen.at, chosen.said, chosen.said)
        await _open_at(chat, chosen.session_id if chosen.is_live else "", Path(chosen.path), line)


async def _open_at(chat: Conversation, live_id: str, path: Path, line: FoundLine | None) -> None:
    """Open a session of ours by its id, or any other file to look at; at a line of it."""
    if live_id:
        if chat.session is None or live_id != chat.session.session_id:
            await choose_session(chat, live_id)
        if line is not None and not await _show_line(chat, line):
            chat.notices.hint(NOT_HERE)
    else:
        await open_file(chat, path, line)


async def _show_line(chat: Conversation, line: FoundLine) -> bool:
    """Bring a line of the open session into view; False where it is not on its branch."""
    records = chat.holder.require_session().view.shown_records
    place = await asyncio.to_thread(find_record, records, line)
    if place is None:
        return False
    chat.timeline.focus()
    chat.timeline.call_after_refresh(
        chat.timeline.show_match, place, line.mark
    )  # it has a size then
    return True


async def show_statistics(chat: Conversation, _argument: str) -> None:
    """Show what all sessions used and did."""
    from agent_tui.ui.screens.sessions.statistics import StatisticsScreen

    service = chat.holder.require_engine().search_service
    await chat.app.push_screen_wait(StatisticsScreen(service))


async def fork_session(chat: Conversation, _argument: str) -> None:
    """Continue in a copy of the session."""
    session = chat.holder.require_session()
    engine = chat.holder.require_engine()
    await show_fork(chat, engine, Fork(await session.operations.fork()))


async def rename_session(chat: Conversation, argument: str) -> None:
    """Name the session."""
    session = chat.holder.require_session()
    if not argument:
        raise UsageError("Expected a name: /rename <title>.")
    await session.operations.rename(argument)
    chat.status.title = session.view.title


async def retry_turn(chat: Conversation, _argument: str) -> None:
    """Retry the last turn where it ended without an answer."""
    chat.runner.start_turn(lambda session: session.retry_turn())


async def export(chat: Conversation, argument: str) -> None:
    """Write the session to a file, after a question where no format is named."""
    from agent_tui.runtime.stored.exporting import export_to
    from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen

    view = chat.holder.require_session().view
    cwd = chat.holder.require_engine().workspace
    if not argument:
        what = f"A Markdown file will be written to {cwd}, without known secrets."
        if not await chat.app.push_screen_wait(
            ConfirmScreen("Export this session?", what, "Export")
        ):
            return
    path, redacted = await export_to(view, argument or "markdown", cwd)
    chat.notices.notice(f"Exported to {path}. {redacted}".strip())
