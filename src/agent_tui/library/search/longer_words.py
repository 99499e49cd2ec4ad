"""The words of the index that begin as a typed one does."""

from __future__ import annotations

import sqlite3

_MOST = 100
_LAST = "\U0010ffff"


class LongerWords:
    """Finds words by their beginning, in one state of the index.

    Attributes:
        are_all: whether no word was left out since this was set.
    """

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._is_ready = False
        self.are_all = True

    def of(self, beginning: str) -> list[str]:
        """The first of them in the order of the alphabet; the beginning itself, if it is a word."""
        words = self._first(beginning)
        self.are_all &= len(words) < _MOST
        return words

    def all_of(self, beginning: str) -> list[str]:
        """All of them; none where there are too many to tell."""
        words = self._first(beginning)
        return words if len(words) < _MOST else []

    def _first(self, beginning: str) -> list[str]:
        if not self._is_ready:
            self._base.execute(_TERMS)
            self._is_ready = True
        end = beginning + _LAST
        found = self._base.execute(_LONGER, (beginning, end, end, _MOST))
        return [word for (word,) in found]


_TERMS = "CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'words', 'instance')"
_LONGER = """WITH RECURSIVE longer (word) AS (
    SELECT (SELECT term FROM terms WHERE term >= ? LIMIT 1)
    UNION ALL
    SELECT (SELECT term FROM terms WHERE term >= longer.word || char(1) LIMIT 1)
    FROM longer WHERE longer.word < ?)
    SELECT word FROM longer WHERE word < ? LIMIT ?"""
"""From word to word: to ask for all at once would read every line that has one."""
