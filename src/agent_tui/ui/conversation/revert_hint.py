"""The hint how to revert, shown in the empty prompt until the person knows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from agent_tui.runtime.starting.hints import Hints
    from agent_tui.runtime.starting.launch import Launch
    from agent_tui.ui.conversation.conversation import Conversation

Answer = TypeVar("Answer")

_NAME = "revert"


class RevertHint:
    """Appears at most once in a run, and only in the first few runs.

    Args:
        chat: the conversation in whose prompt it is shown.
    """

    def __init__(self, chat: Conversation) -> None:
        self._chat = chat
        self._was_shown = False

    def show(self) -> None:
        """Show it, unless it was shown often enough or the person has reverted before."""
        if not self._was_shown:
            self._was_shown = True
            self._chat.screen.run_worker(self._show(), group="hint")

    def learn(self) -> None:
        """The person has reverted, and need not be told how in any later run."""
        self._was_shown = True
        self._chat.screen.run_worker(self._ask(lambda hints: hints.learn(_NAME)), group="hint")

    async def _show(self) -> None:
        session = self._chat.session
        if not await self._ask(lambda hints: hints.take(_NAME)):
            return
        if session is self._chat.session and not self._chat.prompt_box.frame.running:
            self._chat.panes.invite("click ◇ to revert")

    async def _ask(self, act: Callable[[Hints], Answer]) -> Answer | None:
        if (engine := self._chat.engine) is None:
            return None
        return await asyncio.to_thread(_ask, engine.launch, act)


def _ask(launch: Launch, act: Callable[[Hints], Answer]) -> Answer:
    from agent_tui.runtime.starting.hints import Hints  # in a thread: it comes with an answer

    return act(Hints.of_run(launch))
