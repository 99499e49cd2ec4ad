"""A question on the side: answered from the session's context, and kept nowhere."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from agent_tui.agent.reply import Reply
from agent_tui.agent.retry import ask_again
from agent_tui.core.errors import ProviderError
from agent_tui.core.events import Event, ReplyEnded, TextDelta
from agent_tui.core.records import UserMessage
from agent_tui.providers.base import ModelRequest
from agent_tui.runtime.building.parts import CurrentParts

_PREFACE = (
    "<system>A question on the side. Answer it briefly from what you know by now, in words; call "
    "no tool. It is not part of the task.</system>\n\n"
)
_NO_WORDS = "The model answered without text. Retry, or send the question as a prompt."


class Aside:
    """Asks the session's model in its context, also while a turn runs; nothing is recorded."""

    def __init__(self, parts: CurrentParts) -> None:
        self._parts = parts

    async def ask(self, question: str, on_text: Callable[[str], None]) -> str:
        """The answer; ``on_text`` is told each piece of it.

        Raises:
            ProviderError: the model could not be asked, or answered without text.
        """
        now = self._parts.now
        await now.context.prepare_history()
        message = UserMessage(_PREFACE + question, origin="human")
        # The tools are sent along so that the request begins like the session's own, in the cache.
        request = ModelRequest(
            now.model,
            now.context.system_prompt,
            (*now.context.history, message),
            now.equipment.toolset.schemas,
        )

        async def receive() -> str:
            reply = Reply()
            async with aclosing(now.connection.provider.stream(request)) as stream:
                async for part in stream:
                    reply.add(part)
                    if isinstance(part, TextDelta):
                        on_text(part.text)
                    elif isinstance(part, ReplyEnded):
                        break
            return "".join(reply.text)

        answer = await ask_again(receive, max_attempts=2, on_retry=_ignore)
        if not answer.strip():
            raise ProviderError(_NO_WORDS)
        return answer


def _ignore(_event: Event) -> None:
    pass
