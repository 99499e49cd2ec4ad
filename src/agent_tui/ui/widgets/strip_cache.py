"""The strips of the blocks that were drawn last, as many as fit a number of rows."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeAlias

from textual.strip import Strip

Key: TypeAlias = tuple[int, bool, bool]
"""Which block, whether it is expanded, and whether it is active."""


class StripCache:
    """Least recently used first out. Rows, not blocks, are what takes memory."""

    def __init__(self, most_rows: int = 3_000) -> None:
        self._most_rows = most_rows
        self._rows = 0
        self._strips: OrderedDict[Key, list[Strip]] = OrderedDict()

    def get(self, key: Key) -> list[Strip] | None:
        strips = self._strips.get(key)
        if strips is not None:
            self._strips.move_to_end(key)
        return strips

    def put(self, key: Key, strips: list[Strip]) -> None:
        self._drop(key)
        self._strips[key] = strips
        self._rows += len(strips) + 1
        while self._rows > self._most_rows and len(self._strips) > 1:
            _, oldest = self._strips.popitem(last=False)
            self._rows -= len(oldest) + 1

    def forget(self, index: int) -> None:
        """A block changed."""
        for expanded in (False, True):
            for active in (False, True):
                self._drop((index, expanded, active))

    def clear(self) -> None:
        self._strips.clear()
        self._rows = 0

    def _drop(self, key: Key) -> None:
        old = self._strips.pop(key, None)
        if old is not None:
            self._rows -= len(old) + 1
