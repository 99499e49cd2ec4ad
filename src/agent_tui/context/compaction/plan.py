"""What a compaction would do: every message's fate, worked out before any model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_tui.context.compaction.assembly import LogParts, read_parts
from agent_tui.context.compaction.attribution import MAX_SCALE
from agent_tui.context.compaction.briefing import Brief, write_brief
from agent_tui.context.compaction.diff import compare
from agent_tui.context.compaction.file_analysis import FileExcerpt, rank_files, read_excerpts
from agent_tui.context.compaction.selection import Room, Selection, indices_of, select
from agent_tui.context.compaction.strategies.registry import FALLBACK, find_strategy
from agent_tui.context.compaction.strategies.strategy import Strategy
from agent_tui.context.context import Context
from agent_tui.context.tokens.message_tokens import count_fresh, messages_of
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.records import Message, UserMessage
from agent_tui.core.summary import CompactionReport, CompactionView
from agent_tui.sessions.log_writer import LogMark
from agent_tui.sessions.replay import SessionState

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
    taken = context.token_count if state.token_count else 0
    request = _Request(context, state, mark, known, taken, trigger, focus, pins, workspace, window)
    plan = await asyncio.to_thread(request.plan, chosen)
    context.tokens.remember(state, plan.tokens, plan.parts.messages[-1])
    return plan


@dataclass(frozen=True, slots=True)
class _Request:
    """All that a plan is made from; ``plan`` runs in a thread."""

    context: Context
    state: SessionState
    mark: LogMark
    known: list[int]
    taken: int
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
        before = self.taken or counted
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
        return replace(plan, view=view_plan(plan, None, report_plan(plan, 0, 0, fallback=False)))

    def _files(
        self, strategy: Strategy, messages: Sequence[Message], window: int
    ) -> tuple[FileExcerpt, ...]:
        if not strategy.adds_files or self.workspace is None:
            return ()
        chars = round(window * _FILES_SHARE * 4)
        return tuple(read_excerpts(rank_files(messages), self.workspace, max_chars=chars))


def brief_plan(plan: CompactionPlan) -> tuple[CompactionPlan, Brief]:
    """The brief for the model; messages for which it has no room are dropped from the plan."""
    budget = round(plan.window * _BRIEF_SHARE)
    chosen, staying = plan.selection.summarised, plan.selection.kept
    brief = write_brief(plan.messages, chosen, staying=staying, focus=plan.focus, budget=budget)
    return replace(plan, selection=_without_room(plan.selection, brief.left_out)), brief


def _without_room(selection: Selection, out: frozenset[int]) -> Selection:
    """Messages that the brief had no room for are dropped, not summarised."""
    if not out:
        return selection
    return Selection(
        selection.kept,
        tuple(i for i in selection.summarised if i not in out),
        tuple(sorted((*selection.dropped, *out))),
    )


def repin_plan(plan: CompactionPlan, pins: frozenset[str]) -> CompactionPlan:
    """The plan with other pins; raises CompactionError when nothing is left to compact."""
    room = Room(plan.messages, plan.tokens, plan.window)
    selection = select(room, plan.strategy.keep(room), indices_of(pins, plan.messages))
    lost = frozenset(plan.selection.dropped).intersection(selection.summarised)
    return replace(plan, selection=_without_room(selection, lost), pins=pins)


def replan_fallback(plan: CompactionPlan) -> CompactionPlan:
    """The plan by the fallback strategy: the newest share stays, the rest goes unsummarised."""
    room = Room(plan.messages, plan.tokens, plan.window)
    selection = select(room, FALLBACK.keep(room), indices_of(plan.pins, plan.messages))
    gone = tuple(sorted((*selection.summarised, *selection.dropped)))
    selection = Selection(selection.kept, (), gone)
    return replace(plan, strategy=FALLBACK, selection=selection, files=())


def count_kept(plan: CompactionPlan) -> CompactionPlan:
    """What is kept is counted as well as can be: the new token count is made of it."""
    tokens = list(plan.tokens)
    for index in plan.selection.kept:
        tokens[index] = plan.counter.count_message(plan.messages[index])
    return replace(plan, tokens=tuple(tokens))


def report_plan(
    plan: CompactionPlan, summary_tokens: int, retries: int, *, fallback: bool
) -> CompactionReport:
    """The numbers of a plan with a summary of so many tokens; ``archive`` is 0."""
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


def view_plan(
    plan: CompactionPlan, message: UserMessage | None, report: CompactionReport
) -> CompactionView:
    """Both sides of a plan; without a message only the left one."""
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
