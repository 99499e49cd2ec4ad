"""A compaction by hand, with a preview: drafted, revised and applied while nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent_tui.agent.compactor import Review
from agent_tui.agent.settle import settle
from agent_tui.context.compaction.compaction import CompactionDraft, revise_draft
from agent_tui.context.compaction.strategies.registry import describe_strategies
from agent_tui.core.summary import (
    CompactionReport,
    CompactionRequest,
    CompactionView,
    DraftSummary,
    StrategySummary,
)
from agent_tui.runtime.building.parts import CurrentParts
from agent_tui.runtime.operations.gate import Gate

_KEPT_DRAFTS = 8


class Compacting:
    """Drafts of compactions, as the preview asks an open session for them."""

    def __init__(self, parts: CurrentParts, gate: Gate) -> None:
        self._parts = parts
        self._gate = gate
        self._drafts: dict[str, CompactionDraft] = {}
        self._made = 0

    @property
    def strategies(self) -> tuple[StrategySummary, ...]:
        """The ways to choose what a compaction keeps, with what each keeps in this window."""
        policy = self._parts.now.compactor.policy
        return describe_strategies(policy.window, policy.amounts)

    async def draft(
        self,
        request: CompactionRequest,
        *,
        on_plan: Callable[[CompactionView], None] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> DraftSummary:
        """Work out a compaction; nothing changes until it is applied."""
        self._gate.require_pause()
        draft = await self._parts.now.compactor.draft(
            replace(request, trigger="auto" if self._gate.reviewing else "manual"),
            on_plan=on_plan,
            on_text=on_text,
        )
        return self._keep(draft)

    async def revise(
        self,
        draft_id: str,
        *,
        summary: str | None = None,
        pins: frozenset[str] | None = None,
    ) -> DraftSummary:
        """The draft with an edited summary or other pins, as a new one; no model is asked."""
        return self._keep(await revise_draft(self._drafts[draft_id], summary=summary, pins=pins))

    async def apply(self, draft_id: str) -> CompactionReport:
        """Commit a draft; all drafts are forgotten."""
        async with self._gate.paused():
            report = await settle(self._parts.now.compactor.apply(self._drafts[draft_id]))
        self._drafts.clear()
        return report

    def _keep(self, draft: CompactionDraft) -> DraftSummary:
        self._made += 1
        name = str(self._made)
        self._drafts[name] = draft
        for old in list(self._drafts)[:-_KEPT_DRAFTS]:
            del self._drafts[old]
        return DraftSummary(name, draft.view, draft.failure, draft.refusal)

    def review_automatic(self, show: Review) -> None:
        """Let a person see every automatic compaction before it is applied; its turn waits."""

        async def review() -> CompactionReport | None:
            self._gate.reviewing = True
            try:
                return await show()
            finally:
                self._gate.reviewing = False

        self._parts.now.compactor.review = review
