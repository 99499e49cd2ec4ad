"""The flow about a session whose log names a folder that is wider than a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.words import describe_wide_folder

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation


async def ask_for_wide_folder(chat: Conversation) -> None:
    """Ask whether the open session may work in its wide folder; where it does not, say so."""
    engine, session = chat.holder.engine, chat.session
    if engine is None or session is None or session.wide_folder is None:
        return
    told = describe_wide_folder(session.wide_folder, engine.workspace)
    if session.read_only:
        chat.notices.warning(told)
        return
    from agent_tui.ui.screens.dialogs.wide_folder import WideFolderScreen

    folder, workspace = str(session.wide_folder), str(engine.workspace)
    if await chat.app.push_screen_wait(WideFolderScreen(folder, workspace, chat.prompt_box)):
        # The prompt of the command line may have begun a turn, in the folder of before.
        await chat.runner.interrupt()
        await chat.show_session(await engine.open_in_its_folder(session))
    elif chat.session is session:
        chat.notices.warning(told)
