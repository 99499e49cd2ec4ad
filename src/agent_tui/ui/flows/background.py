"""The agent's commands in the background: listed, and stopped one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.format import format_count

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation


async def show(chat: Conversation, _argument: str) -> None:
    """List what runs in the background; Enter stops one."""
    from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen

    commands = chat.holder.require_session().commands
    has_stopped = False
    while commands.running or not has_stopped:
        rows = [Choice(str(each.number), each.title, "Enter stop") for each in commands.running]
        title = f"{format_count(len(rows), 'command')} in the background"
        screen = ChoiceScreen(title, rows, empty="No command runs in the background.", enter="stop")
        chosen = await chat.app.push_screen_wait(screen)
        if not chosen:
            return
        has_stopped = True
        stopped = await commands.stop(int(chosen), by_user=True)
        chat.notices.hint(f"Stopped {stopped.title}. The agent is told at its next step.")
