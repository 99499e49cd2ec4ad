"""Compacts the context when it is full, by hand or before a step, and tells the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from agent_tui.agent.retry import ask_again
from agent_tui.agent.settle import settle
from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.context.trigger import should_compact, trigger_at
from agent_tui.core.dataclass import dataclass
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
from agent_tui.core.records import Message, NoticeRecord, UserMessage
from agent_tui.core.summary import (
    CompactionAmounts,
    CompactionReport,
    CompactionRequest,
    CompactionView,
)
from agent_tui.core.usage import Gauge, Usage
from agent_tui.core.words import CANCELLED, compaction_refusal
from agent_tui.providers.base import ModelRequest, Provider
from agent_tui.resources import prompt

if TYPE_CHECKING:
    from agent_tui.context.compaction.compaction import CompactionDraft

_ENOUGH_ROOM = 0.7  # of the mark at which a compaction fires: less room is soon full again
_GROWTH_BEFORE_ANOTHER_TRY = 20  # parts of the window
_BRIEF_SHARE = 0.75  # of the window; the rest is for instructions and the summary itself
_AGAIN = "\n\n(The answer was cut off: retrying.)\n\n"
_CUT_OFF = "\n\n(Cut off here: the model reached its output limit.)"

_SURE_SHARE = 0.9  # of the window: a refusal of so much is taken to be for its length
_SUSPICIOUS_SHARE = 0.5  # of the window: a refusal of so much may be for its length
_REFUSALS = frozenset({400, 413, 422})
_ADVICE = " If it is too long for this model, compact the conversation, then retry."

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
    amounts: CompactionAmounts = field(default_factory=CompactionAmounts)


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
        self._refused = ""
        self._named_window = 0
        self.review: Review | None = None

    def gauge(self) -> Gauge:
        """How full the context is now; without a mark where nothing compacts by itself."""
        policy = self.policy
        gauge = self._context.gauge(policy.window, policy.reserved, policy.ratio)
        return gauge if policy.auto else replace(gauge, trigger_at=0)

    async def compact_if_full(self) -> None:
        """Compact before a step when the trigger says so.

        Old tool output is masked first; where that makes room enough, nothing is summarised. A
        compaction that was not made is told once. It is not tried again until the context has
        grown by a twentieth of the window, nor is one that left it full: each costs a model call.
        """
        if not (self.policy.auto and self._is_full):
            self._next_try_at, self._refused = 0, ""
            return
        if self._context.token_count < self._next_try_at:
            return
        try:
            done = await self._compact_by_itself()
        except CompactionError as error:
            await self._note_refusal(str(error))
            done = None
        if done is None or self._is_full:
            growth = self.policy.window // _GROWTH_BEFORE_ANOTHER_TRY
            self._next_try_at = self._context.token_count + growth

    async def _compact_by_itself(self) -> CompactionReport | None:
        if self.review is not None:
            return await self.review()
        request = CompactionRequest("auto")
        return await self._mask_enough(request) or await self.compact(request)

    async def _mask_enough(self, request: CompactionRequest) -> CompactionReport | None:
        """Only mask old tool output, where that alone empties the context well below the mark."""
        from agent_tui.context.compaction.strategies.registry import MASK

        if not self.policy.amounts.masked_from:
            return None
        policy = self.policy
        try:
            draft = await self.draft(replace(request, strategy=MASK))
        except CompactionError:
            return None
        mark = trigger_at(policy.window, policy.reserved, policy.ratio)
        if draft.refusal or draft.report.tokens_after > _ENOUGH_ROOM * mark:
            return None
        self._wire.emit(CompactionBegan(request.trigger, self._context.token_count))
        return await settle(self._apply_or_say_why(draft))

    async def _note_refusal(self, reason: str) -> None:
        """Leave a trace of an automatic compaction that was not made; one for each reason."""
        if reason == self._refused:
            return
        self._refused = reason
        with suppress(AgentTuiError):
            await self._context.note(NoticeRecord(compaction_refusal(reason), "compaction"))

    @property
    def _is_full(self) -> bool:
        policy, tokens = self.policy, self._context.token_count
        return should_compact(tokens, policy.window, policy.reserved, policy.ratio)

    async def make_room(self, error: ProviderError) -> bool:
        """Compact because the server finds the context too long, whatever we count; whether it did.

        The window is then taken to be no larger than what was refused: the server knows better.
        Where nothing was compacted, only a window that it named is kept.
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
        self._note_window(error.window)
        done = None
        try:
            done = await self._compact_by_itself()
        except CompactionError as refused:
            await self._note_refusal(str(refused))
            return False
        finally:
            if done is None:
                self.policy = policy
                self._learn_window(self._named_window)
        if done is not None and self._on_learned is not None:
            self._on_learned(self._model, self.policy.window)
        return done is not None

    async def compact(self, request: CompactionRequest) -> CompactionReport:
        """Draft and commit in one go.

        Raises:
            CompactionError: nothing was changed; the message says why.
        """
        self._wire.emit(CompactionBegan(request.trigger, self._context.token_count))
        try:
            draft = await self.draft(
                request, on_text=lambda text: self._wire.emit(CompactionDelta(text))
            )
        except BaseException as error:
            self._tell_refusal(request.trigger, str(error) or CANCELLED)
            raise
        return await settle(self._apply_or_say_why(draft))

    async def _apply_or_say_why(self, draft: CompactionDraft) -> CompactionReport:
        try:
            return await self.apply(draft)
        except AgentTuiError as error:
            self._tell_refusal(draft.view.report.trigger, str(error))
            raise

    def _tell_refusal(self, trigger: str, reason: str) -> None:
        is_told = trigger == "auto" and reason == self._refused
        self._wire.emit(CompactionFinished(None, "" if is_told else reason))

    async def draft(
        self,
        request: CompactionRequest,
        *,
        on_plan: Callable[[CompactionView], None] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> CompactionDraft:
        """Work out a compaction without changing anything; the summary streams to ``on_text``."""
        from agent_tui.context.compaction.compaction import SummaryCost, draft_compaction

        retries, usage = 0, Usage()

        def count_retry(event: StepRetried) -> None:
            nonlocal retries
            retries += 1
            self._wire.emit(event)

        def count_usage(of_call: Usage) -> None:
            nonlocal usage
            usage += of_call

        async def summarise(system: str, brief: str, tell: Callable[[str], None]) -> str:
            return await self._summarise(system, brief, tell, count_retry, count_usage)

        policy = self.policy
        settled = replace(
            request,
            strategy=request.strategy or policy.strategy,
            window=policy.window,
            workspace=str(self._workspace),
            amounts=policy.amounts,
        )
        return await draft_compaction(
            self._context,
            settled,
            summarise=summarise,
            on_plan=on_plan,
            on_text=on_text,
            cost=lambda: SummaryCost(retries, usage if usage.total_tokens else None),
        )

    async def apply(self, draft: CompactionDraft, summary: str | None = None) -> CompactionReport:
        """Commit a draft, with its summary as edited; raises LogChanged when history moved."""
        from agent_tui.context.compaction.compaction import apply_draft

        report = await apply_draft(self._context, draft, summary)
        self._next_try_at, self._refused = 0, ""
        self._wire.emit(CompactionFinished(report))
        self._wire.emit(StatusChanged(self.gauge(), report.usage, self._model))
        return report

    async def summarise_branch(
        self, messages: Sequence[Message], on_text: Callable[[str], None]
    ) -> str:
        """Write a summary of another branch; raises ProviderError when every try failed."""
        from agent_tui.context.compaction.briefing import write_brief

        budget = int(self.policy.window * _BRIEF_SHARE)
        chosen = range(len(messages))
        brief = await asyncio.to_thread(write_brief, messages, chosen, budget=budget)
        return await self._summarise(
            prompt("branch_summary"), brief.text, on_text, self._wire.emit, _forget
        )

    def _note_window(self, told: int) -> None:
        if told:
            self._named_window = min(told, self._named_window or told)

    def _learn_window(self, told: int) -> None:
        """Take a window that the server named when it refused a request as too long."""
        self._note_window(told)
        known = self.policy.window
        if told and (not known or told < known):
            self.policy = replace(self.policy, window=told)
            if self._on_learned is not None:
                self._on_learned(self._model, told)

    async def _summarise(
        self,
        system: str,
        brief: str,
        on_text: Callable[[str], None],
        on_retry: Callable[[StepRetried], None],
        on_usage: Callable[[Usage], None],
    ) -> str:
        """The whole summary; asked for again also where it was cut off, for half of one is none."""
        message = UserMessage(brief, origin="compaction")
        request = ModelRequest(self._model, system, (message,))
        has_started = False

        async def attempt() -> str:
            nonlocal has_started
            if has_started:
                on_text(_AGAIN)
            has_started = False
            pieces: list[str] = []
            try:
                async with aclosing(self._provider.stream(request)) as stream:
                    async for part in stream:
                        if isinstance(part, TextDelta) and part.text:
                            has_started = True
                            pieces.append(part.text)
                            on_text(part.text)
                        elif isinstance(part, ReplyEnded):
                            on_usage(part.usage or Usage())
                            if part.finish_reason == "length":
                                pieces.append(_CUT_OFF)
                                on_text(_CUT_OFF)
            except ProviderError as error:
                self._learn_window(error.window)
                broke_off = has_started and (error.status or 500) >= 500
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


def _forget(_usage: Usage) -> None:
    """For a summary whose tokens nobody adds up."""
