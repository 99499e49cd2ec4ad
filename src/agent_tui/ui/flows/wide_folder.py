"""The flow about a session whose log names a folder that is wider than a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation


async def ask_for_wide_folder(chat: Conversation) -> None:
    """Ask whether the open session may work in its wide folder; nothing where it names none."""
    engine, session = chat.holder.engine, chat.session
    if engine is None or session is None or session.wide_folder is None or session.read_only:
        return
    from agent_tui.ui.screens.dialogs.wide_folder import WideFolderScreen

    folder, workspace = str(session.wide_folder), str(engine.workspace)
    if await chat.app.push_screen_wait(WideFolderScreen(folder, workspace, chat.prompt_box)):
        # The prompt of the command line may have begun a turn, in the folder of before.
        await chat.runner.interrupt()
        await chat.show_session(await engine.open_in_its_folder(session))
