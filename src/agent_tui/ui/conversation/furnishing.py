"""What surrounds a conversation, loaded when no answer waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent_tui.ui.conversation.panes import WIDE
from agent_tui.ui.conversation.turn_pause import wait_for_pause

if TYPE_CHECKING:
    from agent_tui.runtime.engine import Engine
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.conversation.side import Side


async def furnish(chat: Conversation, engine: Engine) -> None:
    """Show where this runs, and offer earlier prompts and the commands kept in files."""
    if chat.session is not None and chat.runner.is_busy:
        await wait_for_pause(chat.session)
    await chat.facts.show_place()
    side = await asyncio.to_thread(_load_side)
    chat.panes.side = side(chat.screen, chat.holder, WIDE)
    await chat.panes.side.mount(on=engine.settings.ui.panel)
    if chat.session is not None:
        chat.facts.colour_gauge(chat.session)
    chat.status.sandbox = await engine.sandbox()
    # Loading what reads sessions takes 50 ms, for which a key would wait on the loop.
    stored = await asyncio.to_thread(lambda: engine.stored)
    chat.prompt_box.history.add_older(await stored.prompt_history())
    found = await engine.project.prompt_files()
    chat.prompt_box.set_own_commands(
        {name: prompt.description for name, prompt in found.prompts.items()}
    )
    for refusal in found.refused:
        chat.notices.warning(refusal)


def _load_side() -> type[Side]:
    """What the side panel is made of: a key would wait for it on the loop."""
    from agent_tui.ui.conversation.side import Side

    return Side
