"""What each command does: flows over screens and the session, one small function each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.ui.screens.chat import ChatScreen


def run_command(chat: ChatScreen, name: str, argument: str) -> None:
    """Carry out a command on the conversation."""
    chat.show_hint(f"/{name}")
