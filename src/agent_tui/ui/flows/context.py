"""Flows about the context: compaction, past compactions, and what fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.ui.flows.arguments import read_number
from agent_tui.ui.flows.session_acts import browse_session

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation


async def compact(chat: Conversation, argument: str) -> None:
    """Preview a compaction."""
    from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen

    session = chat.holder.require_session()
    await chat.app.push_screen_wait(CompactionPreviewScreen(session.compacting, argument))


async def show_compactions(chat: Conversation, argument: str) -> None:
    """Show the compaction that made an archive, or choose one."""
    if argument:
        await show_compaction(chat, read_number(argument, "an archive"))
    else:
        await browse_session(chat).compactions()


async def show_compaction(chat: Conversation, archive: int) -> None:
    """Show both sides of the compaction that made an archive."""
    await browse_session(chat).compaction(archive)


async def show_tokens(chat: Conversation, _argument: str) -> None:
    """Show what fills the context."""
    from agent_tui.ui.screens.context.attribution import AttributionScreen

    session = chat.holder.require_session()
    screen = AttributionScreen(session.gauge, session.shares.attribution, session.view.checkpoints)
    await chat.app.push_screen_wait(screen)
