"""Compaction: select what stays, brief a model, take its summary, check that it helps, commit.

A draft changes nothing. Applying one replaces the log in one step, and only if it still begins with
the bytes that were summarised; what was appended meanwhile is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from agent_tui.context.assembly import LogParts, assemble_log, read_parts
from agent_tui.context.attribution import MAX_SCALE
from agent_tui.context.briefing import Brief, write_brief
from agent_tui.context.context import Context
from agent_tui.context.diff import compare, view_past
from agent_tui.context.fallback_notes import write_fallback_notes
from agent_tui.context.file_analysis import FileExcerpt, rank_files, read_excerpts
from agent_tui.context.message_tokens import count_fresh, messages_of
from agent_tui.context.selection import Room, Selection, indices_of, select
from agent_tui.context.strategies.registry import FALLBACK, find_strategy
from agent_tui.context.strategies.strategy import Strategy
from agent_tui.context.summary_message import write_summary_message
from agent_tui.context.tokens import TokenCounter
from agent_tui.context.trigger import should_compact, trigger_at
from agent_tui.core.errors import CompactionError, ProviderError
from agent_tui.core.records import CompactionRecord, Message, UsageRecord, UserMessage
from agent_tui.core.summary import CompactionReport, CompactionView
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.tail import LogMark

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

Summarise: TypeAlias = Callable[[str, str], AsyncIterator[str]]
"""Streams the summary for a system prompt and a brief; raises ProviderError when it gives up."""

_BRIEF_SHARE = 0.75  # of the window; the rest is for instructions and the summary itself
_FILES_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """What a compaction would do, before any model was asked.

    Attributes:
        mark: the fingerprint of the log that was read.
        parts: what of that log goes into the new one.
        messages: the messages that were read, with ``tokens`` each.
        selection: their fates.
        overhead: tokens of system prompt and tools.
        scale: the provider's tokens for one of ours.
        files: what a strategy adds of the workspace, as it is now.
        view: the left side, with every message's fate; its summary is empty.
    """

    mark: LogMark
    parts: LogParts
    counter: TokenCounter
    messages: tuple[Message, ...]
    tokens: tuple[int, ...]
    selection: Selection
    strategy: Strategy
    trigger: str
    focus: str
    pins: frozenset[str]
    window: int
    tokens_before: int
    overhead: int
    scale: float
    files: tuple[FileExcerpt, ...]
    view: CompactionView


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


async def plan_compaction(
    context: Context,
    *,
    trigger: str = "manual",
    strategy: str = "",
    focus: str = "",
    pins: frozenset[str] = frozenset(),
    workspace: Path | None = None,
    window: int = 0,
) -> CompactionPlan:
    """Choose every message's fate; asks no model, changes nothing.

    Args:
        context: what is to be compacted.
        trigger: ``auto`` or ``manual``, for the record.
        strategy: a strategy's name; empty for the default.
        focus: what the summary should keep above all.
        pins: keys of messages that stay whatever the strategy says.
        workspace: where the files that a strategy adds are read; none are without it.
        window: the model's window; by default what the context takes now.

    Raises:
        UsageError: there is no such strategy.
        CompactionError: there is nothing to compact.
    """
    chosen = find_strategy(strategy)
    mark = await context.log.mark()
    state = context.state
    known = context.tokens.known(state)
    request = _Request(context, state, mark, known, trigger, focus, pins, workspace, window)
    plan = await asyncio.to_thread(request.plan, chosen)
    context.tokens.remember(state, plan.tokens, plan.parts.messages[-1])
    return plan


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
    brief = await asyncio.to_thread(_write_brief, plan)
    plan = replace(plan, selection=_without_room(plan.selection, brief))
    try:
        summary = await _receive(brief, summarise, on_text)
    except (ProviderError, CompactionError) as error:
        if not fall_back:
            raise
        return await asyncio.to_thread(_fallback_draft, plan, str(error), retries())
    return await asyncio.to_thread(_make_draft, plan, summary, retries())


async def _receive(
    brief: Brief, summarise: Summarise, on_text: Callable[[str], None] | None
) -> str:
    pieces: list[str] = []
    async for piece in summarise(brief.system, brief.text):
        pieces.append(piece)
        if on_text is not None:
            on_text(piece)
    summary = "".join(pieces).strip()
    if not summary:
        raise CompactionError("The model sent an empty summary; nothing was changed.")
    return summary


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
        plan = await asyncio.to_thread(_repin, plan, pins)
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
    return replace(report, archive=archive)


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


@dataclass(frozen=True, slots=True)
class _Request:
    """All that a plan is made from; ``plan`` runs in a thread."""

    context: Context
    state: SessionState
    mark: LogMark
    known: list[int]
    trigger: str
    focus: str
    pins: frozenset[str]
    workspace: Path | None
    window: int

    def plan(self, strategy: Strategy) -> CompactionPlan:
        parts = read_parts(self.state, self.mark.size)
        messages = messages_of(parts.messages)
        counter = self.context.counter
        tokens = self.known[: len(messages)]
        tokens += count_fresh(counter, messages[len(tokens) :])
        overhead = self.context.overhead_tokens
        counted = overhead + sum(tokens)
        before = self.context.token_count if self.state.token_count else counted
        window = self.window or max(before, counted)
        room = Room(messages, tokens, window)
        selection = select(room, strategy.keep(room), indices_of(self.pins, messages))
        plan = CompactionPlan(
            mark=self.mark,
            parts=parts,
            counter=counter,
            messages=tuple(messages),
            tokens=tuple(tokens),
            selection=selection,
            strategy=strategy,
            trigger=self.trigger,
            focus=self.focus.strip(),
            pins=self.pins,
            window=window,
            tokens_before=before or counted,
            overhead=overhead,
            scale=min(before / counted, MAX_SCALE) if before and counted else 1.0,
            files=self._files(strategy, messages, window),
            view=_NO_VIEW,
        )
        return replace(plan, view=_view(plan, None, _report(plan, 0, 0, fallback=False)))

    def _files(
        self, strategy: Strategy, messages: Sequence[Message], window: int
    ) -> tuple[FileExcerpt, ...]:
        if not strategy.adds_files or self.workspace is None:
            return ()
        chars = round(window * _FILES_SHARE * 4)
        return tuple(read_excerpts(rank_files(messages), self.workspace, max_chars=chars))


def _write_brief(plan: CompactionPlan) -> Brief:
    budget = round(plan.window * _BRIEF_SHARE)
    chosen = plan.selection.summarised
    return write_brief(plan.messages, chosen, focus=plan.focus, budget=budget)


def _without_room(selection: Selection, brief: Brief) -> Selection:
    """Messages that the brief had no room for are dropped, not summarised."""
    out = brief.left_out
    if not out:
        return selection
    return Selection(
        selection.kept,
        tuple(i for i in selection.summarised if i not in out),
        tuple(sorted((*selection.dropped, *out))),
    )


def _repin(plan: CompactionPlan, pins: frozenset[str]) -> CompactionPlan:
    room = Room(plan.messages, plan.tokens, plan.window)
    selection = select(room, plan.strategy.keep(room), indices_of(pins, plan.messages))
    lost = set(plan.selection.dropped).intersection(selection.summarised)
    brief = Brief("", "", frozenset(lost))
    return replace(plan, selection=_without_room(selection, brief), pins=pins)


def _fallback_draft(plan: CompactionPlan, reason: str, retries: int) -> CompactionDraft:
    """A draft by the fallback strategy: the newest share stays, the rest goes unsummarised."""
    room = Room(plan.messages, plan.tokens, plan.window)
    selection = select(room, FALLBACK.keep(room), indices_of(plan.pins, plan.messages))
    gone = tuple(sorted((*selection.summarised, *selection.dropped)))
    plan = replace(plan, strategy=FALLBACK, selection=Selection(selection.kept, (), gone), files=())
    notes = write_fallback_notes(plan.messages, gone, reason)
    return _make_draft(plan, notes, retries, reason)


def _make_draft(
    plan: CompactionPlan, summary: str, retries: int, failure: str = ""
) -> CompactionDraft:
    fallback = plan.strategy is FALLBACK
    plan = _with_exact_counts(plan)
    message = _summary_message(plan, summary, fallback=fallback)
    report = _report(plan, plan.counter.count_message(message), retries, fallback=fallback)
    view = _view(plan, message, report)
    return CompactionDraft(plan, summary.strip(), view, retries, failure, _refusal(summary, report))


def _with_exact_counts(plan: CompactionPlan) -> CompactionPlan:
    """What is kept is counted as well as can be: the new token count is made of it."""
    tokens = list(plan.tokens)
    for index in plan.selection.kept:
        tokens[index] = plan.counter.count_message(plan.messages[index])
    return replace(plan, tokens=tuple(tokens))


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


def _report(
    plan: CompactionPlan, summary_tokens: int, retries: int, *, fallback: bool
) -> CompactionReport:
    selection = plan.selection
    after = plan.overhead + summary_tokens + sum(plan.tokens[i] for i in selection.kept)
    return CompactionReport(
        trigger=plan.trigger,
        strategy=plan.strategy.name,
        tokens_before=plan.tokens_before,
        tokens_after=round(after * plan.scale),
        kept=len(selection.kept),
        summarised=len(selection.summarised),
        dropped=len(selection.dropped),
        archive=0,
        files=tuple(file.path for file in plan.files),
        retries=retries,
        fallback=fallback,
        focus=plan.focus,
    )


def _view(
    plan: CompactionPlan, message: UserMessage | None, report: CompactionReport
) -> CompactionView:
    summary_tokens = plan.counter.count_message(message) if message is not None else 0
    return compare(
        plan.messages,
        plan.tokens,
        plan.selection,
        message,
        summary_tokens,
        report,
        pins=plan.pins,
    )


_NO_VIEW = CompactionView((), (), "", CompactionReport("", "", 0, 0, 0, 0, 0, 0))
