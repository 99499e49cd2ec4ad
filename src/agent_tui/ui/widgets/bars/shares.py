"""The kinds of things that fill a context, in the order and colours in which they are shown."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.core.usage import Share

_STYLES: tuple[tuple[str, str], ...] = (
    ("system", "$share-5"),
    ("tools", "$share-5"),
    ("project", "$share-4"),
    ("file", "$share-4"),
    ("summary", "$compaction"),
    ("user", "$share-1"),
    ("agent", "$share-2"),
    ("thinking", "$share-3"),
    ("tool call", "$share-4"),
    ("tool", "$share-3"),
    ("picture", "$share-2"),
    ("media", "$share-2"),
)
_OTHER = "$muted"


def share_style(kind: str) -> str:
    """The colour of a kind of share; the first name that the kind begins with decides."""
    name = kind.replace("_", " ").lower()
    for start, style in _STYLES:
        if name.startswith(start):
            return style
    return _OTHER


def shares_by_kind(shares: Sequence[Share]) -> list[tuple[str, int]]:
    """Tokens per kind, in the order in which the kinds first appear."""
    sums: dict[str, int] = {}
    for share in shares:
        sums[share.kind] = sums.get(share.kind, 0) + share.tokens
    return list(sums.items())
