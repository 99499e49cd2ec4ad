"""Flows around the prompt and the text above it: prompt files, the editor, find, quote, fold."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.format import format_count
from agent_tui.core.messages import MediaPart
from agent_tui.core.shell import find_left_out
from agent_tui.core.text import first_line
from agent_tui.resources import prompt
from agent_tui.ui.commands.table import name_keys

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation


async def send_prompt_file(chat: Conversation, name: str, argument: str) -> None:
    """Send a prompt that is kept in a file; a name that nobody knows goes back to be edited."""
    found = (await chat.engine.project.prompt_files()).prompts.get(name) if chat.engine else None
    if found is not None:
        chat.prompts.send(found.fill_in(argument))
        return
    chat.prompt_box.set_text(f"/{name} {argument}".strip())
    told = name_keys(chat.app, "{help} to list them all.")
    if chat.engine and await chat.engine.project.untrusted_files():
        told = "to use those of this folder, restart and trust it."
    chat.notices.hint(f"There is no command /{first_line(name, 30)}; {told}")


async def write_instructions(chat: Conversation, _argument: str) -> None:
    """Have the agent write AGENTS.md."""
    chat.prompts.send(prompt("init").strip())


async def ask_aside(chat: Conversation, argument: str) -> None:
    """Answer a side question on a separate screen; the session keeps nothing of it."""
    from agent_tui.ui.screens.dialogs.aside import AsideScreen

    session = chat.holder.require_session()
    if not argument:
        raise UsageError("Type the question after /btw.")
    await chat.app.push_screen_wait(AsideScreen(argument, session.aside.ask))


async def edit_prompt(chat: Conversation, _argument: str) -> None:
    """Continue the prompt in the user's editor."""
    from agent_tui.runtime.machine.editor import edit_text, find_editor

    editor = find_editor()
    app, failure = chat.app, None
    # The agent may be at work: it continues meanwhile, and draws nothing. An exception must not
    # leave the suspension, which would not be lifted then.
    with app.suspend(), app.batch_update():
        try:
            chat.prompt_box.set_text(
                await asyncio.to_thread(edit_text, editor.command, chat.prompt_box.text)
            )
        except UsageError as error:
            failure = error
    if failure is not None:
        raise failure
    if editor.note:
        chat.notices.hint(editor.note)


async def find_text(chat: Conversation, argument: str) -> None:
    """Find text in the conversation, while it is typed."""
    chat.holder.require_session()
    from agent_tui.ui.widgets.prompt.find_bar import find_text_in

    chat.prompt_box.dismiss_completions()
    await find_text_in(chat.timeline, chat.prompt_box, argument)


def close_find(chat: Conversation) -> bool:
    """Close the find bar, whatever has the focus; returns whether it was open."""
    for bar in chat.prompt_box.query("FindBar").results():
        from agent_tui.ui.widgets.prompt.find_bar import FindBar

        if isinstance(bar, FindBar) and bar.display:
            bar.action_close()
            return True
    return False


async def fold(chat: Conversation, _argument: str) -> None:
    """Open or fold the output of tools."""
    chat.timeline.action_toggle_all()


async def remember_fold(chat: Conversation) -> None:
    """Keep whether the output of tools is open, for later runs."""
    if chat.engine is not None:
        await chat.engine.setting_files.save("ui.unfold", chat.timeline.shows_all)


async def view_block(
    chat: Conversation,
    text: str,
    media: tuple[MediaPart, ...] = (),
    find: str = "",
    *,
    markdown: bool = False,
) -> None:
    """Show the pictures of a block by themselves, or its text, whole, with a text found in it."""
    urls = [part.url for part in media if part.url.startswith("data:image/")]
    if urls:
        from agent_tui.ui.screens.dialogs.picture import PictureScreen

        choice = chat.engine.settings.ui.pictures if chat.engine else "auto"
        await chat.app.push_screen_wait(PictureScreen(urls, choice))
        return
    from agent_tui.ui.screens.dialogs.reader import ReaderScreen

    if chat.session is not None and find_left_out(text)[1] and (folder := chat.session.kept_in):
        from agent_tui.runtime.files.kept_output import put_back

        text = await asyncio.to_thread(put_back, text, folder)
    lines = format_count(text.count("\n") + 1, "line")
    reader = ReaderScreen("Message", lines, text, find=find, markdown=markdown)
    await chat.app.push_screen_wait(reader)


async def quote_block(chat: Conversation, text: str) -> None:
    """Put the text of a block into the prompt, as a quote."""
    quoted = "\n".join(f"> {line}" for line in text.strip().split("\n"))
    chat.prompt_box.paste(f"{quoted}\n\n")


async def paste_picture(chat: Conversation, _argument: str) -> None:
    """Attach the picture in the clipboard to the prompt, as a file."""
    from agent_tui.runtime.machine.clipboard import save_clipboard_picture

    try:
        folder = chat.session.kept_in if chat.session is not None else None
        path = await asyncio.to_thread(save_clipboard_picture, folder and folder / "pasted")
    except AgentTuiError as error:
        chat.notices.hint(str(error))
        return
    before = chat.prompt_box.text
    chat.prompt_box.paste(f"{' ' if before and not before[-1].isspace() else ''}@{path} ")
