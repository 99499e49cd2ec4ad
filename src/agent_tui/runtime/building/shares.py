"""What fills the context of an open session, by kinds of things and by what would free it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.usage import Share
from agent_tui.runtime.building.parts import CurrentParts, SessionParts

if TYPE_CHECKING:
    from agent_tui.context.compaction.filling import Filling
    from agent_tui.context.context import Context


class Shares:
    """Counts the shares of a context off the loop; what counts them is loaded there, when asked."""

    def __init__(self, parts: CurrentParts) -> None:
        self._parts = parts
        self._filling: Filling | None = None

    async def attribution(self, checkpoint: int | None = None) -> tuple[Share, ...]:
        """What fills the context now; what a compaction and a revert to a checkpoint would free."""
        parts = self._parts.now
        return await asyncio.to_thread(_attribute, parts, parts.context.token_count, checkpoint)

    async def filling(self) -> tuple[Share, ...]:
        """What kinds of things fill the context now; after a turn it costs what the turn added."""
        context = self._parts.now.context
        return await asyncio.to_thread(self._fill, context, context.token_count)

    def _fill(self, context: Context, total: int) -> tuple[Share, ...]:
        from agent_tui.context.compaction.filling import Filling

        if self._filling is None or self._filling.context is not context:
            self._filling = Filling(context)
        return self._filling.shares(total)


def _attribute(parts: SessionParts, total: int, checkpoint: int | None) -> tuple[Share, ...]:
    from agent_tui.context.compaction.attribution import attribute_context

    policy = parts.compactor.policy
    shares = attribute_context(
        parts.context,
        parts.equipment.toolset.schemas,
        checkpoint,
        strategy=policy.strategy,
        window=policy.window,
        total=total,
    )
    return tuple(_as_seen_from(parts.equipment.workspace, share) for share in shares)


def _as_seen_from(workspace: Path, share: Share) -> Share:
    """The share with the path of a file in the workspace as people write it there."""
    path = Path(share.detail)
    if not path.is_absolute() or not path.is_relative_to(workspace):
        return share
    return replace(share, detail=str(path.relative_to(workspace)))
