"""Records of a turn that the disk refused: held, and written before anything else."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.context.context import Context
from agent_tui.core.errors import StorageError
from agent_tui.core.records import Record
from agent_tui.sessions.store import Durability


class Unsaved:
    """Writes the records of turns in order; after a full disk nothing is lost or written twice."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._records: list[Record] = []
        self._leaf: str | None = None

    def __bool__(self) -> bool:
        """Whether something waits for the disk; a log replaced since then needs it no more."""
        if self._records and self._leaf != self._context.state.leaf_uuid:
            self._records = []
        return bool(self._records)

    @property
    def held(self) -> Sequence[Record]:
        """The records that wait for the disk, in order."""
        return self._records if self else ()

    async def write(self, *records: Record, durability: Durability) -> None:
        """Write what is held and then these records; raises StorageError, and holds them."""
        held = self.held
        if not (held or records):
            return
        self._records = []
        leaf = self._context.state.leaf_uuid
        try:
            await self._context.note(*held, *records, durability=durability)
        except StorageError:
            self._records = [*held, *records, *self._records]
            self._leaf = leaf
            raise

    async def flush(self) -> None:
        """Write what is held, if anything; raises StorageError where it cannot be yet."""
        await self.write(durability=Durability.D1)
