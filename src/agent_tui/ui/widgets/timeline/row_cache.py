"""The rows of the blocks that were drawn last, up to a number of rows."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeAlias

from agent_tui.ui.renderers.lines import Row

Key: TypeAlias = tuple[int, bool, bool]
"""Which block, whether it is expanded, and whether it is active."""


class RowCache:
    """Least recently used first out. Rows, not blocks, are what takes memory."""

    def __init__(self, most_rows: int = 16_000) -> None:
        self._most_rows = most_rows
        self._held_rows = 0
        self._blocks: OrderedDict[Key, list[Row]] = OrderedDict()

    def get(self, key: Key) -> list[Row] | None:
        rows = self._blocks.get(key)
        if rows is not None:
            self._blocks.move_to_end(key)
        return rows

    def put(self, key: Key, rows: list[Row]) -> None:
        self._drop(key)
        self._blocks[key] = rows
        self._held_rows += len(rows) + 1
        while self._held_rows > self._most_rows and len(self._blocks) > 1:
            _, oldest = self._blocks.popitem(last=False)
            self._held_rows -= len(oldest) + 1

    def forget(self, index: int) -> None:
        """Drop the rows of a block that changed."""
        for expanded in (False, True):
            for active in (False, True):
                self._drop((index, expanded, active))

    def clear(self) -> None:
        self._blocks.clear()
        self._held_rows = 0

    def _drop(self, key: Key) -> None:
        old = self._blocks.pop(key, None)
        if old is not None:
            self._held_rows -= len(old) + 1
