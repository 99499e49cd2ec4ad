"""Flows into the past of the open session: revert, undo, tree, replay, archives, clear."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_count
from agent_tui.core.records import CompactionRecord
from agent_tui.core.system_notes import SUBAGENT_SESSION
from agent_tui.ui.commands.table import name_keys
from agent_tui.ui.flows.arguments import read_number
from agent_tui.ui.flows.browsing import Browser
from agent_tui.ui.flows.files import revert_to
from agent_tui.ui.flows.prompt import view_block
from agent_tui.ui.flows.session_acts import branch_from, browse_session

if TYPE_CHECKING:
    from agent_tui.core.records import Record
    from agent_tui.core.tree import TreeRow
    from agent_tui.history.exchanges import Exchange
    from agent_tui.ui.conversation.conversation import Conversation


async def revert(chat: Conversation, argument: str) -> None:
    """Go back to a checkpoint, chosen from a list where none is given."""
    from agent_tui.history.exchanges import exchanges_before
    from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen

    if argument:
        await revert_to(chat, read_number(argument, "a checkpoint"))
        return
    view = chat.holder.require_session().view
    checkpoints = await asyncio.to_thread(view.checkpoints)
    archives = await view.archives() if view.has_compactions else []
    stands = await asyncio.to_thread(_standing_compaction, view.records)
    compacted = next((each for each in archives if each.number == stands), None)

    async def preview(checkpoint: int) -> Sequence[Exchange]:
        return await asyncio.to_thread(exchanges_before, view.records, checkpoint)

    match await chat.app.push_screen_wait(CheckpointsScreen(checkpoints, compacted, preview)):
        case "archives":
            await browse_session(chat).archives()
        case int(checkpoint):
            await revert_to(chat, checkpoint)
        case _:
            pass


def _standing_compaction(records: Sequence[Record]) -> int:
    """The archive of the newest compaction that was not undone; 0 where there is none."""
    found = (each.archive for each in reversed(records) if isinstance(each, CompactionRecord))
    return next(found, 0)


async def branch(chat: Conversation, argument: str) -> None:
    """Branch from an earlier prompt, by its number or label; it comes back to be edited."""
    from agent_tui.ui.screens.dialogs.picker import Pick, PickerScreen

    tree = await chat.holder.require_session().view.tree(related=False)
    outline = await tree.prepare("turns")
    found = map(outline.row, range(len(outline)))
    rows = [row for row in found if row.kind == "prompt" and row.standing == "context"]
    if argument:
        chosen: str | None = str(_named_prompt(argument, rows))
    else:
        picks = [
            Pick(str(place), await tree.prompt_at(row), f"{place + 1}  {row.label}".rstrip())
            for place, row in enumerate(rows)
        ]
        chosen = await chat.app.push_screen_wait(
            PickerScreen("Branch before which prompt?", picks[::-1], empty="No prompts yet.")
        )
    if chosen:
        chat.runner.start(partial(branch_from, tree, rows[int(chosen)]))


def _named_prompt(name: str, rows: Sequence[TreeRow]) -> int:
    """The place of the prompt that a person means by its number, from 1 on, or by its label."""
    labels = {row.label: place for place, row in enumerate(rows) if row.label}
    if name in labels:
        return labels[name]
    if name.isascii() and name.isdigit() and 1 <= int(name) <= len(rows):
        return int(name) - 1
    known = f"1 to {len(rows)}" if rows else "none: there are no prompts yet"
    told = f", or a label ({', '.join(labels)})" if labels else ""
    raise UsageError(f"Expected the number of a prompt, {known}{told}, got {name!r}.")


async def go_to(chat: Conversation, argument: str) -> None:
    """Bring a place of the session into view; ask which where none is named."""
    from agent_tui.history.records.places import find_place, read_place
    from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen

    if not argument:
        note = "A checkpoint (7), a turn (turn 3), a message (message 4) or a time (14:05)."
        screen = AskLineScreen("Go to a place", note, act="go")
        argument = await chat.app.push_screen_wait(screen) or ""
        if not argument.strip():
            return
    records, place = chat.holder.require_session().view.shown_records, read_place(argument)
    found = await asyncio.to_thread(find_place, records, place)
    if found is None:
        raise UsageError(f"This conversation has no {argument.strip()}.")
    chat.timeline.focus()
    chat.timeline.go_to_log_record(found)


async def undo(chat: Conversation, _argument: str) -> None:
    """Undo the last operation."""
    chat.runner.start(lambda session: session.operations.undo())


async def redo(chat: Conversation, _argument: str) -> None:
    """Redo what was undone."""
    chat.runner.start(lambda session: session.operations.redo())


async def show_tree(chat: Conversation, argument: str) -> None:
    """Show the tree of the session, from an entry or the present."""
    await browse_session(chat).tree(argument)


async def scrub(chat: Conversation, _argument: str) -> None:
    """Replay the session step by step."""
    await browse_session(chat).scrub()


async def show_archives(chat: Conversation, argument: str) -> None:
    """Show an archive by its number, or all of them."""
    if argument:
        await show_archive(chat, read_number(argument, "an archive"))
    else:
        await browse_session(chat).archives()


async def show_archive(chat: Conversation, number: int) -> None:
    """Show an archive; raises UnknownArchive."""
    await browse_session(chat).archive(number)


async def show_subagent(chat: Conversation, text: str) -> None:
    """Show the session of the subagent that a call started; the call's text where it names none."""
    found = SUBAGENT_SESSION.findall(text)
    if not found or chat.engine is None:
        await view_block(chat, text)
        return
    session = await chat.engine.read_session(found[-1])
    try:
        await Browser(chat.app, session.view).look(session.view)
    finally:
        await session.close()


async def clear(chat: Conversation, _argument: str) -> None:
    """Empty the context, after a question."""
    from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen

    session = chat.holder.require_session()
    screen = ConfirmScreen(
        "Clear the context?",
        f"{format_count(session.view.message_count, 'message')} will be removed. The old log "
        "becomes an archive; undo with /undo.",
        "Clear",
    )
    if await chat.app.push_screen_wait(screen):
        await chat.runner.start(lambda session: session.operations.clear()).wait()
        if session.view.is_empty:
            chat.notices.hint(name_keys(chat.app, "The context is empty. Undo with {undo}."))
