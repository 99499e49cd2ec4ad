"""Compaction: select what stays, brief a model, take its summary, check that it helps, commit.

A draft changes nothing. Applying one replaces the log in one step, and only if it still begins with
the bytes that were summarised; what was appended meanwhile is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_tui.context.compaction.assembly import (
    assemble_log,
    assemble_masked_log,
    with_captures,
)
from agent_tui.context.compaction.diff import view_past
from agent_tui.context.compaction.fallback_notes import write_fallback_notes
from agent_tui.context.compaction.in_parts import Summarise, summarise_brief
from agent_tui.context.compaction.name_index import index_names
from agent_tui.context.compaction.plan import (
    CompactionPlan,
    brief_plan,
    count_kept,
    plan_compaction,
    repin_plan,
    replan_fallback,
    report_plan,
    view_plan,
)
from agent_tui.context.compaction.summary_message import write_summary_message
from agent_tui.context.context import Context
from agent_tui.context.tokens.message_tokens import messages_of
from agent_tui.context.trigger import should_compact, trigger_at
from agent_tui.core.errors import CompactionError, ProviderError
from agent_tui.core.records import CompactionRecord, Record, UsageRecord, UserMessage
from agent_tui.core.summary import CompactionReport, CompactionRequest, CompactionView
from agent_tui.core.usage import Usage
from agent_tui.sessions.replay import Entry

__all__ = [
    "CompactionDraft",
    "CompactionPlan",
    "Summarise",
    "SummaryCost",
    "apply_draft",
    "draft_compaction",
    "plan_compaction",
    "revise_draft",
    "should_compact",
    "trigger_at",
    "view_past",
]


_LEAST_INDEX_TOKENS, _INDEX_PART = 100, 50  # a fiftieth of the window at most
_INDEX_PART_OF_FREED = 5


@dataclass(frozen=True, slots=True)
class SummaryCost:
    """What a summary took: requests that were repeated, and tokens."""

    retries: int = 0
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class CompactionDraft:
    """A compaction that is ready to be applied; nothing on disk has changed.

    Attributes:
        plan: what it was made from.
        summary: the text that takes the place of what goes.
        view: both sides; ``view.report.archive`` is 0.
        failure: why there is no summary by the model; empty when there is one.
        refusal: why applying it would be refused; empty when it would help.
    """

    plan: CompactionPlan
    summary: str
    view: CompactionView
    cost: SummaryCost = SummaryCost()
    failure: str = ""
    refusal: str = ""

    @property
    def report(self) -> CompactionReport:
        """The numbers, as far as they are known before it is applied."""
        return self.view.report


async def draft_compaction(
    context: Context,
    request: CompactionRequest | None = None,
    *,
    summarise: Summarise,
    on_plan: Callable[[CompactionView], None] | None = None,
    on_text: Callable[[str], None] | None = None,
    cost: Callable[[], SummaryCost] = SummaryCost,
    fall_back: bool = True,
) -> CompactionDraft:
    """Plan a compaction and have its summary written; nothing changes until it is applied.

    Args:
        context: what is to be compacted.
        request: how.
        summarise: asks the model, retrying as it sees fit.
        on_plan: is given the left side as soon as it is known, before the model is asked.
        on_text: is given the summary as it streams.
        cost: says, at the end, what ``summarise`` took.
        fall_back: whether a summary that fails is replaced by the fallback, which asks no model;
            the draft then says why in ``failure``.

    Raises:
        CompactionError: there is nothing to compact, or, without ``fall_back``, the summary was
            empty.
        ProviderError: without ``fall_back``: the model could not be asked.
    """
    plan = await plan_compaction(context, request)
    if on_plan is not None:
        on_plan(plan.view)
    if plan.is_mask:
        return await asyncio.to_thread(_make_draft, plan, "", SummaryCost())
    if not plan.strategy.asks_model:
        return await asyncio.to_thread(_fallback_draft, plan, "no model was asked", SummaryCost())
    plan, brief = await asyncio.to_thread(brief_plan, plan)
    try:
        summary = await summarise_brief(brief, summarise, on_text or _tell_nobody)
    except (ProviderError, CompactionError) as error:
        if not fall_back:
            raise
        return await asyncio.to_thread(_fallback_draft, plan, str(error), cost())
    return await asyncio.to_thread(_make_draft, plan, summary, cost())


def _tell_nobody(text: str) -> None:
    del text


async def revise_draft(
    draft: CompactionDraft, *, summary: str | None = None, pins: frozenset[str] | None = None
) -> CompactionDraft:
    """The draft with an edited summary or other pins; no model is asked.

    Raises:
        CompactionError: the new pins leave nothing to compact.
    """
    plan = draft.plan
    text = draft.summary if summary is None else summary
    if pins is not None and pins != plan.pins:
        plan = await asyncio.to_thread(repin_plan, plan, pins)
    return await asyncio.to_thread(_make_draft, plan, text, draft.cost, draft.failure)


async def apply_draft(
    context: Context, draft: CompactionDraft, summary: str | None = None
) -> CompactionReport:
    """Commit a draft, with its summary as edited; the old log becomes an archive.

    Raises:
        CompactionError: it would not make the context smaller, or the summary is empty; nothing
            was changed.
        LogChanged: the log no longer begins with what was summarised; nothing was changed.
    """
    if summary is not None and summary.strip() != draft.summary:
        draft = await revise_draft(draft, summary=summary)
    if draft.refusal:
        raise CompactionError(draft.refusal)
    usage = UsageRecord(draft.report.tokens_after, estimated=True)
    archive = await context.log.compact(
        draft.plan.mark, lambda number: _new_log(draft, number, usage)
    )
    plan = draft.plan
    late = len(plan.messages) if plan.is_mask else len(plan.selection.kept) + 1
    await _correct_late_usage(context, usage, first_late=late)
    return replace(draft.report, archive=archive)


def _new_log(draft: CompactionDraft, archive: int, usage: UsageRecord) -> list[Record | Entry]:
    plan, entries = draft.plan, draft.plan.parts.messages
    record = _record(plan, draft.report, archive)
    if plan.is_mask:
        masks: dict[int, Record] = {entries[i].offset: each for i, each in plan.masks.items()}
        return assemble_masked_log(plan.parts, record, masks, usage)
    kept = [(entries[i], plan.masks.get(i) or entries[i]) for i in plan.selection.kept]
    staying = list(with_captures(plan.parts, kept))
    return assemble_log(plan.parts, record, _summary_message(plan, draft.summary), staying, usage)


async def _correct_late_usage(context: Context, usage: UsageRecord, first_late: int) -> None:
    """A usage reported after the draft was started is kept, but it is of the old context."""
    state = context.state
    if state.token_estimated and state.token_count == usage.token_count:
        return
    late = context.counter.count_messages(messages_of(state.messages[first_late:]))
    await context.note(UsageRecord(usage.token_count + sum(late), estimated=True))


def _record(plan: CompactionPlan, report: CompactionReport, archive: int) -> CompactionRecord:
    return CompactionRecord(
        trigger=report.trigger,
        strategy=report.strategy,
        pre_tokens=report.tokens_before,
        post_tokens=report.tokens_after,
        archive=archive,
        files=report.files,
        kept=report.kept,
        summarised=report.summarised,
        dropped=report.dropped,
        retries=report.retries,
        fallback=report.fallback,
        focus=report.focus,
        masked=report.masked,
        pins=tuple(sorted(plan.pins)),
        usage=report.usage,
        losses=report.losses,
    )


def _fallback_draft(plan: CompactionPlan, reason: str, cost: SummaryCost) -> CompactionDraft:
    plan = replan_fallback(plan)
    gone = plan.selection.dropped
    notes = write_fallback_notes(plan.messages, gone, reason, window=plan.request.window)
    return _make_draft(plan, notes, cost, reason)


def _make_draft(
    plan: CompactionPlan, summary: str, cost: SummaryCost, failure: str = ""
) -> CompactionDraft:
    plan = count_kept(plan)
    message = None if plan.is_mask else _summary_message(plan, summary)
    tokens = plan.counter.count_message(message) if message else 0
    report = report_plan(plan, tokens, message, retries=cost.retries, usage=cost.usage)
    view = view_plan(plan, message, report)
    refusal = _refusal(plan, summary, report)
    return CompactionDraft(plan, summary.strip(), view, cost, failure, refusal)


def _refusal(plan: CompactionPlan, summary: str, report: CompactionReport) -> str:
    if not summary.strip() and not plan.is_mask:
        return "The summary is empty; nothing was changed."
    before, after = report.tokens_before, report.tokens_after
    if after >= before:
        return (
            f"Compacting would not make the context smaller: {before:,} tokens "
            f"before, about {after:,} after. Nothing was changed."
        )
    least = plan.request.amounts.minimum_saving
    if after > before * (1 - least):
        return (
            f"Compacting would free {1 - after / before:.0%} of the context, less than the "
            f"{least:.0%} that context.minimum_saving asks for. Nothing was changed."
        )
    return ""


def _summary_message(plan: CompactionPlan, summary: str) -> UserMessage:
    """The message that takes the place of what goes, with an index of the names in it."""
    selection = plan.selection
    gone = sorted((*selection.summarised, *selection.dropped))
    room = max(_LEAST_INDEX_TOKENS, plan.request.window // _INDEX_PART)
    freed = sum(plan.tokens[i] for i in gone) // _INDEX_PART_OF_FREED
    tokens = min(plan.request.amounts.index_tokens, room, freed)
    index = index_names([plan.messages[i] for i in gone], tokens=tokens, said=summary)
    files = plan.files if plan.strategy.adds_files else ()
    return write_summary_message(summary, files, index, fallback=plan.is_fallback)
