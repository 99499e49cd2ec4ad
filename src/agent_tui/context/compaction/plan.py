"""What a compaction would do: every message's fate, worked out before any model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_tui.context.compaction.assembly import LogParts, read_parts
from agent_tui.context.compaction.attribution import MAX_SCALE
from agent_tui.context.compaction.briefing import Brief, write_brief
from agent_tui.context.compaction.diff import compare, rescale
from agent_tui.context.compaction.file_analysis import FileExcerpt, rank_files, read_excerpts
from agent_tui.context.compaction.masking import calls_of, mask_output, outputs_to_mask
from agent_tui.context.compaction.name_index import count_index
from agent_tui.context.compaction.selection import (
    Room,
    Selection,
    indices_of,
    select,
    select_all,
)
from agent_tui.context.compaction.strategies.registry import FALLBACK, MASK, find_strategy
from agent_tui.context.compaction.strategies.strategy import Strategy
from agent_tui.context.context import Context
from agent_tui.context.tokens.message_tokens import count_fresh, messages_of
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.errors import CompactionError
from agent_tui.core.records import Message, ToolMessage, UserMessage
from agent_tui.core.summary import CompactionReport, CompactionRequest, CompactionView
from agent_tui.core.usage import Usage
from agent_tui.sessions.log_writer import LogMark
from agent_tui.sessions.replay import SessionState

_BRIEF_SHARE = 0.75  # of the window; the rest is for instructions and the summary itself
_FILES_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """What a compaction would do, before any model was asked.

    Attributes:
        request: what was asked for; its pins and window are settled.
        mark: the fingerprint of the log that was read.
        parts: what of that log goes into the new one.
        messages: the messages that were read, with ``tokens`` each.
        masks: the results that stay with a line in the place of their output, by index, and
            ``mask_tokens``, what each takes then.
        selection: the fate of every message.
        overhead: tokens of system prompt and tools.
        scale: the provider's tokens for one of ours.
        files: the most important files of the workspace, as they are now.
        view: the left side, with every message's fate; its summary is empty.
    """

    request: CompactionRequest
    mark: LogMark
    parts: LogParts
    counter: TokenCounter
    messages: tuple[Message, ...]
    tokens: tuple[int, ...]
    masks: dict[int, ToolMessage]
    mask_tokens: dict[int, int]
    selection: Selection
    strategy: Strategy
    tokens_before: int
    overhead: int
    scale: float
    files: tuple[FileExcerpt, ...]
    view: CompactionView

    @property
    def room(self) -> Room:
        """What strategies choose from."""
        return Room(self.messages, self.tokens, self.request.window)

    @property
    def pins(self) -> frozenset[str]:
        """The keys of the messages that stay whatever the strategy says."""
        return self.request.pins or frozenset()

    @property
    def is_mask(self) -> bool:
        """Whether nothing is summarised or dropped: only old output is masked."""
        return self.strategy.name == MASK

    @property
    def is_fallback(self) -> bool:
        """Whether the rest is cut off without a summary by a model."""
        return self.strategy.name == FALLBACK


async def plan_compaction(
    context: Context, request: CompactionRequest | None = None
) -> CompactionPlan:
    """Choose every message's fate; asks no model, changes nothing.

    Raises:
        UsageError: there is no such strategy.
        CompactionError: there is nothing to compact.
    """
    request = request or CompactionRequest()
    strategy = find_strategy(request.strategy, request.amounts)
    mark = await context.log.mark()
    state = context.state
    known = context.tokens.known(state)
    taken = context.token_count if state.token_count else 0
    planning = _Planning(context, state, mark, known, taken, request, strategy)
    plan = await asyncio.to_thread(planning.plan)
    context.tokens.remember(state, plan.tokens, plan.parts.messages[-1])
    return plan


@dataclass(frozen=True, slots=True)
class _Planning:
    """All that a plan is made from; ``plan`` runs in a thread."""

    context: Context
    state: SessionState
    mark: LogMark
    known: list[int]
    taken: int
    request: CompactionRequest
    strategy: Strategy

    def plan(self) -> CompactionPlan:
        parts = read_parts(self.state, self.mark.size)
        messages = messages_of(parts.messages)
        counter = self.context.counter
        tokens = self.known[: len(messages)]
        tokens += count_fresh(counter, messages[len(tokens) :])
        overhead = self.context.overhead_tokens
        counted = overhead + sum(tokens)
        before = self.taken or counted
        plan = CompactionPlan(
            request=self._settled(max(before, counted)),
            mark=self.mark,
            parts=parts,
            counter=counter,
            messages=tuple(messages),
            tokens=tuple(tokens),
            masks={},
            mask_tokens={},
            selection=Selection((), (), ()),
            strategy=self.strategy,
            tokens_before=before or counted,
            overhead=overhead,
            scale=min(before / counted, MAX_SCALE) if before and counted else 1.0,
            files=(),
            view=_NO_VIEW,
        )
        plan = choose(plan, plan.pins)
        plan = replace(plan, files=_read_files(plan))
        return replace(plan, view=view_plan(plan, None, report_plan(plan, 0)))

    def _settled(self, taken: int) -> CompactionRequest:
        """The request with a window, and with the pins of the compaction before where none came."""
        request = self.request
        pins = request.pins
        if pins is None:
            last = self.state.compactions[-1:]
            pins = frozenset(last[0].pins) if last else frozenset()
        return replace(
            request, pins=pins, window=request.window or taken, focus=request.focus.strip()
        )


def _read_files(plan: CompactionPlan) -> tuple[FileExcerpt, ...]:
    """What the model that writes the summary is shown of the workspace."""
    request = plan.request
    if not request.workspace or not plan.strategy.asks_model:
        return ()
    excerpts = read_excerpts(
        rank_files(plan.messages),
        Path(request.workspace),
        max_chars=round(request.window * _FILES_SHARE * 4),
        max_files=request.amounts.file_count,
        max_lines=request.amounts.file_lines,
    )
    return tuple(excerpts)


def choose(plan: CompactionPlan, pins: frozenset[str]) -> CompactionPlan:
    """The plan with the fates that its strategy and these pins give.

    Raises:
        CompactionError: nothing is left to compact.
    """
    pinned = indices_of(pins, plan.messages)
    room = plan.room
    selection = select_all(room) if plan.is_mask else select(room, plan.strategy.keep(room), pinned)
    masked = outputs_to_mask(
        plan.messages, plan.tokens, selection.kept, pinned, plan.request.amounts
    )
    if plan.is_mask and not masked:
        raise CompactionError(
            f"Nothing to mask: no tool output before the newest "
            f"{plan.request.amounts.unmasked_tokens:,} tokens is long enough."
        )
    calls = calls_of(plan.messages)
    masks = {
        index: mask_output(message, calls.get(message.tool_call_id))
        for index in masked
        if isinstance(message := plan.messages[index], ToolMessage)
    }
    return replace(
        plan,
        request=replace(plan.request, pins=pins),
        selection=replace(selection, masked=masked),
        masks=masks,
        mask_tokens={i: plan.counter.count_message(mask) for i, mask in masks.items()},
    )


def brief_plan(plan: CompactionPlan) -> tuple[CompactionPlan, Brief]:
    """The brief for the model; messages for which it has no room are dropped from the plan."""
    brief = write_brief(
        plan.messages,
        plan.selection.summarised,
        staying=plan.selection.kept,
        focus=plan.request.focus,
        budget=round(plan.request.window * _BRIEF_SHARE),
        files=plan.files,
    )
    return replace(plan, selection=_without_room(plan.selection, brief.left_out)), brief


def _without_room(selection: Selection, out: frozenset[int]) -> Selection:
    """Messages that the brief had no room for are dropped, not summarised."""
    if not out:
        return selection
    return replace(
        selection,
        summarised=tuple(i for i in selection.summarised if i not in out),
        dropped=tuple(sorted((*selection.dropped, *out))),
    )


def repin_plan(plan: CompactionPlan, pins: frozenset[str]) -> CompactionPlan:
    """The plan with other pins; raises CompactionError when nothing is left to compact."""
    chosen = choose(plan, pins)
    lost = frozenset(plan.selection.dropped).intersection(chosen.selection.summarised)
    return replace(chosen, selection=_without_room(chosen.selection, lost))


def replan_fallback(plan: CompactionPlan) -> CompactionPlan:
    """The plan by the fallback strategy: the newest share stays, the rest goes unsummarised."""
    strategy = find_strategy(FALLBACK, plan.request.amounts)
    plan = choose(replace(plan, strategy=strategy), plan.pins)
    selection = plan.selection
    gone = tuple(sorted((*selection.summarised, *selection.dropped)))
    return replace(plan, selection=replace(selection, summarised=(), dropped=gone), files=())


def count_kept(plan: CompactionPlan) -> CompactionPlan:
    """What is kept is counted as well as can be: the new token count is made of it."""
    tokens = list(plan.tokens)
    for index in plan.selection.kept:
        tokens[index] = plan.counter.count_message(plan.messages[index])
    return replace(plan, tokens=tuple(tokens))


def tokens_kept(plan: CompactionPlan) -> int:
    """What the messages that stay take in the new context."""
    return sum(plan.mask_tokens.get(i, plan.tokens[i]) for i in plan.selection.kept)


def report_plan(
    plan: CompactionPlan,
    summary_tokens: int,
    message: UserMessage | None = None,
    *,
    retries: int = 0,
    usage: Usage | None = None,
) -> CompactionReport:
    """The numbers of a plan with a summary of so many tokens; ``archive`` is 0."""
    selection, request = plan.selection, plan.request
    return CompactionReport(
        trigger=request.trigger,
        strategy=plan.strategy.name,
        tokens_before=plan.tokens_before,
        tokens_after=round((plan.overhead + summary_tokens + tokens_kept(plan)) * plan.scale),
        kept=len(selection.kept),
        summarised=len(selection.summarised),
        dropped=len(selection.dropped),
        archive=0,
        files=tuple(file.path for file in plan.files) if plan.strategy.adds_files else (),
        retries=retries,
        fallback=plan.is_fallback,
        focus=request.focus,
        masked=len(plan.masks),
        masked_tokens=rescale(sum(plan.tokens[i] for i in plan.masks), plan.scale),
        index_tokens=rescale(count_index(message, plan.counter.count_message), plan.scale),
        usage=usage,
    )


def view_plan(
    plan: CompactionPlan, message: UserMessage | None, report: CompactionReport
) -> CompactionView:
    """Both sides of a plan; without a message only the left one."""
    messages: Sequence[Message] = plan.messages
    return compare(
        messages,
        plan.tokens,
        plan.selection,
        message,
        plan.counter.count_message(message) if message is not None else 0,
        report,
        pins=plan.pins,
        masks=plan.masks,
        mask_tokens=plan.mask_tokens,
        scale=plan.scale,
    )


_NO_VIEW = CompactionView((), (), "", CompactionReport("", "", 0, 0, 0, 0, 0, 0))
