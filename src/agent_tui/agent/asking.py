"""Asking the model until a whole reply has arrived; it is written before anything acts on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from agent_tui.agent.compactor import Compactor
from agent_tui.agent.policies import Progress
from agent_tui.agent.reply import Reply
from agent_tui.agent.retry import ask_again
from agent_tui.agent.settle import settle
from agent_tui.agent.toolset import Toolset
from agent_tui.agent.unsaved import Unsaved
from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.core.errors import ProviderError, StorageError
from agent_tui.core.events import (
    AnswerUnsaved,
    NoticeGiven,
    ReplyEnded,
    StatusChanged,
    StepInterrupted,
    StepRetried,
)
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, NoticeRecord, UsageRecord
from agent_tui.core.text import format_count
from agent_tui.core.usage import Usage
from agent_tui.core.words import describe_retries
from agent_tui.providers.base import ModelRequest, Provider
from agent_tui.sessions.sent_messages import repaired_messages
from agent_tui.sessions.store import Durability

if TYPE_CHECKING:
    from agent_tui.agent.named_images import NamedImages

_LONG_CHARS = 100_000


class Asking:
    """Asks one model about one context, and emits what arrives as it comes."""

    def __init__(
        self,
        *,
        context: Context,
        provider: Provider,
        model: str,
        toolset: Toolset,
        compactor: Compactor,
        wire: Wire,
        unsaved: Unsaved,
        max_attempts: int,
        sees_images: bool = True,
    ) -> None:
        self._context = context
        self._provider = provider
        self._model = model
        self._toolset = toolset
        self._compactor = compactor
        self._wire = wire
        self._unsaved = unsaved
        self._max_attempts = max_attempts
        self._sees_images = sees_images
        self._named: NamedImages | None = None

    def refresh_tools(self) -> None:
        """Offer the model the tools as they are now."""
        self._context.tools = self._toolset.refresh()

    async def ask(
        self, progress: Progress, checkpoint: Callable[[], Awaitable[None]]
    ) -> AssistantMessage:
        """Ask until a whole reply has arrived, and write it to the log.

        What the server finds too long, whatever we counted, is asked once more when compacted,
        behind a new ``checkpoint``; what holds a picture that it refuses, without the pictures.
        """
        turn = progress.turn
        reply = Reply()
        retries: list[StepRetried] = []

        def tell_retry(retry: StepRetried) -> None:
            retries.append(retry)
            self._wire.emit(retry)

        async def attempt() -> None:
            nonlocal reply
            reply = Reply()
            await self._context.prepare_history()
            await self._receive(self._request(), reply)

        async def ask() -> None:
            await ask_again(attempt, max_attempts=self._max_attempts, on_retry=tell_retry)

        try:
            try:
                await ask()
            except ProviderError as error:
                if not self._leave_pictures_out(error):
                    if not await self._compactor.make_room(error):
                        raise
                    await checkpoint()
                await ask()
        except BaseException as error:
            await settle(self._keep_partial(reply, turn, error))
            raise
        progress.usage += reply.usage or Usage()
        message = reply.message(turn=turn, model=self._model)
        if any(len(call.arguments) > _LONG_CHARS for call in message.tool_calls):
            await asyncio.to_thread(repaired_messages, (message,))  # reads them once for all
        await settle(self._write_reply(message, reply.usage, retries))
        return message

    def _request(self) -> ModelRequest:
        context = self._context
        history = context.history
        if self._named is None and not self._sees_images:
            from agent_tui.agent.named_images import NamedImages

            self._named = NamedImages()
        if self._named is not None:
            history = self._named.told(history)
        return ModelRequest(self._model, context.system_prompt, history, self._toolset.schemas)

    def _leave_pictures_out(self, error: ProviderError) -> bool:
        """Name the pictures that there are from now on, if one of them was refused.

        Which one it was, no server says; with it, every later request would fail, too.
        """
        if not (error.about_picture and self._sees_images):
            return False
        from agent_tui.agent.named_images import REFUSED, NamedImages, image_urls

        urls = frozenset(image_urls(self._context.history))
        if not urls or self._named is not None:
            return False
        self._named = NamedImages(urls, REFUSED)
        count = format_count(len(urls), "picture")
        self._wire.emit(NoticeGiven(f"The server refused a picture. Retried without {count}."))
        return True

    async def _receive(self, request: ModelRequest, reply: Reply) -> None:
        try:
            async with aclosing(self._provider.stream(request)) as stream:
                async for part in stream:
                    reply.add(part)
                    if not isinstance(part, ReplyEnded):
                        self._wire.emit(part)
        except ProviderError as error:
            if reply.has_started:
                error.retryable = False
            raise
        if reply.is_empty:
            raise ProviderError(
                "The model sent an empty reply. Retry, or choose another model.",
                retryable=not reply.has_started,
            )

    async def _keep_partial(self, reply: Reply, turn: int, error: BaseException) -> None:
        """Write what had arrived of an interrupted answer; half-written calls never ran."""
        if reply.has_words:
            message = reply.message(turn=turn, model=self._model, with_calls=False)
            await self._write_answer(message)
        cancelled = isinstance(error, asyncio.CancelledError)
        self._wire.emit(StepInterrupted("cancelled" if cancelled else str(error)))

    async def _write_reply(
        self, message: AssistantMessage, usage: Usage | None, retries: Sequence[StepRetried]
    ) -> None:
        if retries:
            told = describe_retries(len(retries), retries[-1].reason)
            with suppress(StorageError):  # the answer says so, if it is refused as well
                await self._context.note(NoticeRecord(told, "retry", message.turn))
        acts = any(self._toolset.has_side_effects(call) for call in message.tool_calls)
        durability = Durability.D1 if acts or not message.tool_calls else Durability.D0
        await self._write_answer(message, usage, durability)
        self.report_status(usage)

    async def _write_answer(
        self,
        message: AssistantMessage,
        usage: Usage | None = None,
        durability: Durability = Durability.D1,
    ) -> None:
        """Write an answer with what it took; one that the disk refuses is held, and said so."""
        told = [UsageRecord(usage.total_tokens, usage)] if usage and usage.total_tokens else []
        try:
            await self._unsaved.write(message, *told, durability=durability)
        except StorageError:
            self._wire.emit(AnswerUnsaved(text_of(message.content)))
            raise

    def report_status(self, usage: Usage | None = None) -> None:
        """Tell how full the context is now, and what the last call took."""
        self._wire.emit(StatusChanged(self._compactor.gauge(), usage, self._model))
