"""Follows what others change: the branch, and a session that another window writes.

Once that window closes it, the session is taken over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentTuiError

if TYPE_CHECKING:
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.conversation import Conversation


class Follower:
    """Keeps the conversation up with its log while it is read-only here."""

    def __init__(self, chat: Conversation) -> None:
        self._chat = chat
        self._has_stopped = False
        self._followed = ""
        self._may_take_over = True

    def stop(self) -> None:
        """Stop following: the session is being closed."""
        self._has_stopped = True

    async def follow(self) -> None:
        """Check once for news; call this every second or so."""
        session = self._chat.session
        if session is None or self._has_stopped:
            return
        await self._chat.facts.follow_place()
        if session.session_id != self._followed:  # each session is taken over once at most
            self._followed, self._may_take_over = session.session_id, True
        if not session.read_only:
            return
        try:
            await self._follow(session)
        except AgentTuiError as error:
            self._may_take_over = False
            self._chat.notices.hint(str(error))

    async def _follow(self, session: LiveSession) -> None:
        if self._may_take_over and await session.is_free():
            await self._take_over(session)
            return
        match await session.follow():
            case "grown":
                self._chat.timeline.settle()
                self._chat.facts.show(session)
                self._chat.panes.show_conversation(shown=True)
            case "replaced":
                self._chat.log.load()

    async def _take_over(self, session: LiveSession) -> None:
        """The other window closed the session: open it again, this time to write."""
        self._may_take_over = False
        chat = self._chat
        if chat.engine is None:
            return
        await chat.show_session(await chat.engine.open_session(session.session_id))
        if chat.session is not None and not chat.session.read_only:
            chat.notices.hint("The other window closed this session. You can write here now.")
