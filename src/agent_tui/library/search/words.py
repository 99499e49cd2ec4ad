"""Words as the index knows them: text split for its tokenizer, and facets as words of their own.

SQLite's unicode61 takes a run of letters and digits for a word. Chinese, Japanese and Korean write
none of the blanks that it needs, so their runs become overlapping pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_CJK = "\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
_CJK += "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[\W_]+")
_DEEP = 5


def split_cjk(text: str) -> str:
    """The text with every run of CJK characters as pairs between blanks."""
    if text.isascii() or not _RUN.search(text):
        return text
    return _RUN.sub(lambda run: f" {' '.join(pairs(run.group()))} ", text)


def pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; a single one stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def words_of(text: str) -> list[str]:
    """The words of a text as the index splits it, in lower case."""
    return [word.lower() for word in _WORD.findall(split_cjk(text))]


@lru_cache(4096)
def facet(kind: str, value: str) -> str:
    """A word that stands for a fact about a line, unlike any that people write."""
    return f"xq{kind}{_PLAIN.sub('', value).lower()}"


def path_facets(kind: str, paths: Iterable[str]) -> Iterator[str]:
    """Words for files: every end of a path, and every folder in it."""
    for path in paths:
        parts = [part for part in path.replace("\\", "/").split("/") if part][-12:]
        for depth in range(1, min(len(parts), _DEEP) + 1):
            yield facet(kind, "".join(parts[-depth:]))
        for part in parts[:-1]:
            yield facet(kind, part)
