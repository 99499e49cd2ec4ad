"""Compaction: select what stays, brief a model, take its summary, check that it helps, commit.

A draft changes nothing. Applying one replaces the log in one step, and only if it still begins with
the bytes that were summarised; what was appended meanwhile is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from agent_tui.context.compaction.assembly import assemble_log
from agent_tui.context.compaction.briefing import Brief
from agent_tui.context.compaction.diff import view_past
from agent_tui.context.compaction.fallback_notes import write_fallback_notes
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
from agent_tui.context.compaction.strategies.registry import FALLBACK
from agent_tui.context.compaction.summary_message import write_summary_message
from agent_tui.context.context import Context
from agent_tui.context.tokens.message_tokens import messages_of
from agent_tui.context.trigger import should_compact, trigger_at
from agent_tui.core.errors import CompactionError, ProviderError
from agent_tui.core.records import CompactionRecord, UsageRecord, UserMessage
from agent_tui.core.summary import CompactionReport, CompactionView

__all__ = [
    "CompactionDraft",
    "CompactionPlan",
    "Summarise",
    "apply_draft",
    "draft_compaction",
    "plan_compaction",
    "revise_draft",
    "should_compact",
    "trigger_at",
    "view_past",
]

Summarise: TypeAlias = Callable[[str, str, Callable[[str], None]], Awaitable[str]]
"""Writes the summary for a system prompt and a brief, and tells it as it comes.

What it returns counts, and not what it told: where an answer broke off, it may have begun anew.
Raises ProviderError when it gives up.
"""


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
    retries: int = 0
    failure: str = ""
    refusal: str = ""

    @property
    def report(self) -> CompactionReport:
        """The numbers, as far as they are known before it is applied."""
        return self.view.report


def _no_retries() -> int:
    return 0


async def draft_compaction(
    context: Context,
    *,
    summarise: Summarise,
    trigger: str = "manual",
    strategy: str = "",
    focus: str = "",
    pins: frozenset[str] = frozenset(),
    on_plan: Callable[[CompactionView], None] | None = None,
    on_text: Callable[[str], None] | None = None,
    workspace: Path | None = None,
    window: int = 0,
    retries: Callable[[], int] = _no_retries,
    fall_back: bool = True,
) -> CompactionDraft:
    """Plan a compaction and have its summary written; nothing changes until it is applied.

    What is not explained here is as for ``plan_compaction``.

    Args:
        context: what is to be compacted.
        trigger: ``auto`` or ``manual``.
        strategy: a strategy's name; empty for the default.
        focus: what the summary should keep above all.
        pins: keys of messages that stay.
        workspace: where files are read.
        window: the model's window.
        summarise: asks the model, retrying as it sees fit.
        on_plan: is given the left side as soon as it is known, before the model is asked.
        on_text: is given the summary as it streams.
        retries: says, at the end, how often ``summarise`` tried again.
        fall_back: whether a summary that fails is replaced by the fallback, which asks no model;
            the draft then says why in ``failure``.

    Raises:
        CompactionError: there is nothing to compact, or, without ``fall_back``, the summary was
            empty.
        ProviderError: without ``fall_back``: the model could not be asked.
    """
    plan = await plan_compaction(
        context,
        trigger=trigger,
        strategy=strategy,
        focus=focus,
        pins=pins,
        workspace=workspace,
        window=window,
    )
    if on_plan is not None:
        on_plan(plan.view)
    if not plan.strategy.asks_model:
        return await asyncio.to_thread(_fallback_draft, plan, "no model was asked", 0)
    plan, brief = await asyncio.to_thread(brief_plan, plan)
    try:
        summary = await _written(brief, summarise, on_text)
    except (ProviderError, CompactionError) as error:
        if not fall_back:
            raise
        return await asyncio.to_thread(_fallback_draft, plan, str(error), retries())
    return await asyncio.to_thread(_make_draft, plan, summary, retries())


async def _written(
    brief: Brief, summarise: Summarise, on_text: Callable[[str], None] | None
) -> str:
    summary = (await summarise(brief.system, brief.text, on_text or _tell_nobody)).strip()
    if not summary:
        raise CompactionError("The model sent an empty summary; nothing was changed.")
    return summary


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
    return await asyncio.to_thread(_make_draft, plan, text, draft.retries, draft.failure)


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
    plan, report = draft.plan, draft.report
    message = _summary_message(plan, draft.summary, fallback=report.fallback)
    kept = [plan.parts.messages[index] for index in plan.selection.kept]
    usage = UsageRecord(report.tokens_after, estimated=True)
    archive = await context.log.compact(
        plan.mark,
        lambda number: assemble_log(plan.parts, _record(report, number), message, kept, usage),
    )
    await _correct_late_usage(context, usage, first_late=1 + len(kept))
    return replace(report, archive=archive)


async def _correct_late_usage(context: Context, usage: UsageRecord, first_late: int) -> None:
    """A usage that was reported after the draft was begun is kept, but it is of the old context."""
    state = context.state
    if state.token_estimated and state.token_count == usage.token_count:
        return
    late = context.counter.count_messages(messages_of(state.messages[first_late:]))
    await context.note(UsageRecord(usage.token_count + sum(late), estimated=True))


def _record(report: CompactionReport, archive: int) -> CompactionRecord:
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
    )


def _fallback_draft(plan: CompactionPlan, reason: str, retries: int) -> CompactionDraft:
    plan = replan_fallback(plan)
    gone = plan.selection.dropped
    notes = write_fallback_notes(plan.messages, gone, reason, window=plan.window)
    return _make_draft(plan, notes, retries, reason)


def _make_draft(
    plan: CompactionPlan, summary: str, retries: int, failure: str = ""
) -> CompactionDraft:
    fallback = plan.strategy is FALLBACK
    plan = count_kept(plan)
    message = _summary_message(plan, summary, fallback=fallback)
    report = report_plan(plan, plan.counter.count_message(message), retries, fallback=fallback)
    view = view_plan(plan, message, report)
    return CompactionDraft(plan, summary.strip(), view, retries, failure, _refusal(summary, report))


def _refusal(summary: str, report: CompactionReport) -> str:
    if not summary.strip():
        return "The summary is empty; nothing was changed."
    if report.tokens_after >= report.tokens_before:
        return (
            f"Compacting would not make the context smaller: {report.tokens_before:,} tokens "
            f"before, about {report.tokens_after:,} after. Nothing was changed."
        )
    return ""


def _summary_message(plan: CompactionPlan, summary: str, *, fallback: bool) -> UserMessage:
    return write_summary_message(summary, plan.files, fallback=fallback)
