"""Compacts the context when it is full, by hand or before a step, and tells the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from agent_tui.agent.retry import ask_again
from agent_tui.agent.settle import settle
from agent_tui.agent.wire import Wire
from agent_tui.context.compaction.briefing import write_brief
from agent_tui.context.compaction.compaction import (
    CompactionDraft,
    apply_draft,
    draft_compaction,
    should_compact,
)
from agent_tui.context.context import Context
from agent_tui.core.errors import AgentTuiError, CompactionError, ProviderError
from agent_tui.core.events import (
    CompactionBegan,
    CompactionDelta,
    CompactionFinished,
    ReplyEnded,
    StatusChanged,
    StepRetried,
    TextDelta,
)
from agent_tui.core.records import Message, UserMessage
from agent_tui.core.summary import CompactionReport, CompactionView
from agent_tui.core.usage import Gauge
from agent_tui.providers.base import ModelRequest, Provider
from agent_tui.resources import prompt

_GROWTH_BEFORE_ANOTHER_TRY = 20  # parts of the window
_BRIEF_SHARE = 0.75  # of the window; the rest is for instructions and the summary itself
_AGAIN = "\n\n(The answer broke off: the model is asked again.)\n\n"
_CUT_OFF = "\n\n(Cut off here: the model reached the limit of what it may write.)"

_SURE_SHARE = 0.9  # of the window: a refusal of so much is taken to be for its length
_SUSPICIOUS_SHARE = 0.5  # of the window: a refusal of so much may be for its length
_REFUSALS = frozenset({400, 413, 422})
_ADVICE = " If the conversation is too long for this model, compact it with /compact, then retry."

Review: TypeAlias = Callable[[], Awaitable[CompactionReport | None]]
"""Lets a person see an automatic compaction first; None when it was not applied."""


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """When a compaction fires and what it keeps; ``window`` and ``reserved`` in tokens."""

    window: int
    reserved: int
    ratio: float
    strategy: str
    auto: bool = True
    max_attempts: int = 5


class Compactor:
    """The one way to compact, whoever asks for it."""

    def __init__(
        self,
        *,
        context: Context,
        provider: Provider,
        model: str,
        policy: CompactionPolicy,
        wire: Wire,
        workspace: Path,
        on_learned: Callable[[str, int], None] | None = None,
    ) -> None:
        self._on_learned = on_learned
        self.policy = policy
        self._context = context
        self._provider = provider
        self._model = model
        self._wire = wire
        self._workspace = workspace
        self._next_try_at = 0
        self.review: Review | None = None

    def gauge(self) -> Gauge:
        """How full the context is now; without a mark where nothing compacts by itself."""
        policy = self.policy
        gauge = self._context.gauge(policy.window, policy.reserved, policy.ratio)
        return gauge if policy.auto else replace(gauge, trigger_at=0)

    async def compact_if_full(self) -> None:
        """Compact before a step when the trigger says so.

        A compaction that was not made is told once. It is not tried again until the context has
        grown by a twentieth of the window, nor is one that left it full: each costs a model call.
        """
        if not (self.policy.auto and self._is_full):
            self._next_try_at = 0
            return
        if self._context.token_count < self._next_try_at:
            return
        try:
            done = await (self.review() if self.review else self.compact(trigger="auto"))
        except CompactionError:
            done = None
        if done is None or self._is_full:
            growth = self.policy.window // _GROWTH_BEFORE_ANOTHER_TRY
            self._next_try_at = self._context.token_count + growth

    @property
    def _is_full(self) -> bool:
        policy, tokens = self.policy, self._context.token_count
        return should_compact(tokens, policy.window, policy.reserved, policy.ratio)

    async def make_room(self, error: ProviderError) -> bool:
        """Compact because the server finds the context too long, whatever we count; whether it did.

        The window is then taken to be no larger than what was refused: the server knows better.
        A refusal without a known word is taken for that where the window is as good as full.

        Raises:
            ProviderError: a person must decide whether to compact.
        """
        policy, tokens = self.policy, self._context.token_count
        full = 1.0 if error.too_long else tokens / (policy.window or 1e9)
        if not (error.too_long or error.status in _REFUSALS) or full < _SUSPICIOUS_SHARE:
            return False
        if not policy.auto or full < _SURE_SHARE:
            raise _with_advice(error)
        known = min(policy.window or tokens, tokens)
        self.policy = replace(policy, window=min(known, error.window or known))
        done = None
        try:
            done = await (self.review() if self.review else self.compact(trigger="auto"))
        except CompactionError:
            return False
        finally:
            if done is None:
                self.policy = policy
        if done is not None and self._on_learned is not None:
            self._on_learned(self._model, self.policy.window)
        return done is not None

    async def compact(
        self, *, trigger: str, focus: str = "", strategy: str = ""
    ) -> CompactionReport:
        """Draft and commit in one go.

        Raises:
            CompactionError: nothing was changed; the message says why.
        """
        self._wire.emit(CompactionBegan(trigger, self._context.token_count))
        try:
            draft = await self.draft(
                trigger=trigger,
                focus=focus,
                strategy=strategy,
                on_text=lambda text: self._wire.emit(CompactionDelta(text)),
            )
        except BaseException as error:
            self._wire.emit(CompactionFinished(None, str(error) or "cancelled"))
            raise
        return await settle(self._apply_or_say_why(draft))

    async def _apply_or_say_why(self, draft: CompactionDraft) -> CompactionReport:
        try:
            return await self.apply(draft)
        except AgentTuiError as error:
            self._wire.emit(CompactionFinished(None, str(error)))
            raise

    async def draft(
        self,
        *,
        trigger: str = "manual",
        focus: str = "",
        strategy: str = "",
        pins: frozenset[str] = frozenset(),
        on_plan: Callable[[CompactionView], None] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> CompactionDraft:
        """Work out a compaction without changing anything; the summary streams to ``on_text``."""
        retries = 0

        def count_retry(event: StepRetried) -> None:
            nonlocal retries
            retries += 1
            self._wire.emit(event)

        async def summarise(system: str, brief: str, tell: Callable[[str], None]) -> str:
            return await self._summarise(system, brief, tell, count_retry)

        return await draft_compaction(
            self._context,
            trigger=trigger,
            strategy=strategy or self.policy.strategy,
            focus=focus,
            pins=pins,
            summarise=summarise,
            on_plan=on_plan,
            on_text=on_text,
            window=self.policy.window,
            workspace=self._workspace,
            retries=lambda: retries,
        )

    async def apply(self, draft: CompactionDraft, summary: str | None = None) -> CompactionReport:
        """Commit a draft, with its summary as edited; raises LogChanged when history moved."""
        report = await apply_draft(self._context, draft, summary)
        self._next_try_at = 0
        self._wire.emit(CompactionFinished(report))
        self._wire.emit(StatusChanged(self.gauge(), None, self._model))
        return report

    async def summarise_branch(
        self, messages: Sequence[Message], on_text: Callable[[str], None]
    ) -> str:
        """Write a summary of a branch that was left; raises ProviderError when it gives up."""
        budget = int(self.policy.window * _BRIEF_SHARE)
        chosen = range(len(messages))
        brief = await asyncio.to_thread(write_brief, messages, chosen, budget=budget)
        return await self._summarise(prompt("branch_summary"), brief.text, on_text, self._wire.emit)

    async def _summarise(
        self,
        system: str,
        brief: str,
        on_text: Callable[[str], None],
        on_retry: Callable[[StepRetried], None],
    ) -> str:
        """The whole summary; asked for again also where it broke off, for half of one is none."""
        message = UserMessage(brief, origin="compaction")
        request = ModelRequest(self._model, system, (message,))
        has_begun = False

        async def attempt() -> str:
            nonlocal has_begun
            if has_begun:
                on_text(_AGAIN)
            has_begun = False
            pieces: list[str] = []
            try:
                async with aclosing(self._provider.stream(request)) as stream:
                    async for part in stream:
                        if isinstance(part, TextDelta) and part.text:
                            has_begun = True
                            pieces.append(part.text)
                            on_text(part.text)
                        elif isinstance(part, ReplyEnded) and part.finish_reason == "length":
                            pieces.append(_CUT_OFF)
                            on_text(_CUT_OFF)
            except ProviderError as error:
                broke_off = has_begun and (error.status or 500) >= 500
                error.retryable = error.retryable or broke_off
                raise
            summary = "".join(pieces).strip()
            if not summary:
                raise ProviderError("The model sent an empty summary.", retryable=True)
            return summary

        return await ask_again(attempt, max_attempts=self.policy.max_attempts, on_retry=on_retry)


def _with_advice(error: ProviderError) -> ProviderError:
    """The error of a request that was too long, with what a person can do about it."""
    return ProviderError(f"{error}{_ADVICE}", status=error.status, too_long=error.too_long)
