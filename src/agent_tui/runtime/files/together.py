"""The conversation's half of an operation that also reverts files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, get_args

from agent_tui.core.records import RevertReason
from agent_tui.core.words import operation_words
from agent_tui.sessions.store import SessionLog

_OF = operation_words("user").name
"""What an undo or a redo of both is of: only reverts are made together with files."""


@dataclass(frozen=True, slots=True)
class ConversationMove:
    """Go back to a checkpoint, or restore an archive: the other half of a revert of both.

    The journal of the files names it before anything is changed, so that a start after a crash can
    make it too.
    """

    reason: RevertReason
    checkpoint: int | None = None
    archive: int = 0

    @property
    def fields(self) -> dict[str, object]:
        """What the journal says of it."""
        return {"reason": self.reason, "checkpoint": self.checkpoint, "archive": self.archive}

    async def make(self, log: SessionLog, operation: str) -> int:
        """Make the move, unless the log has it; returns the archive of what was replaced."""
        if done := archive_of(log, operation):
            return done
        if self.checkpoint is not None:
            return await log.revert(self.checkpoint, self.reason, operation)
        of = _OF if self.reason in ("undo", "redo") else ""
        return await log.restore(self.archive, self.reason, operation, of)


def archive_of(log: SessionLog, operation: str) -> int:
    """The archive that the conversation's half of an operation made; 0 where it made none."""
    made = (each.archive for each in log.state.reverts if each.operation == operation)
    return next(made, 0) if operation else 0


def parse_move(about: Mapping[str, object]) -> ConversationMove | None:
    """The move that a journal names; None where only files were to go back."""
    fields = about.get("conversation")
    if not isinstance(fields, Mapping) or fields.get("reason") not in get_args(RevertReason):
        return None
    checkpoint, archive = fields.get("checkpoint"), fields.get("archive")
    return ConversationMove(
        cast("RevertReason", fields["reason"]),
        checkpoint if isinstance(checkpoint, int) else None,
        archive if isinstance(archive, int) else 0,
    )
