"""What became of every record of a file that was imported: nothing is lost without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SHOWN = "shown"
DAMAGED = "damaged"
_UNKNOWN, _SKIPPED = "unknown", "skipped"


@dataclass(frozen=True, slots=True)
class Accounting:
    """The records of a file, by what became of them.

    Attributes:
        read: how many there are; of a file of lines, its lines.
        shown: what is in the session's records, archives or children.
        damaged: what could not be read.
        unknown: what was not understood, kept raw in the records, by its type.
        skipped: what a rule leaves out, by the rule.
    """

    read: int = 0
    shown: int = 0
    damaged: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)


class AccountBook:
    """Takes down the fate of each record while a file is read; the last word on one counts."""

    def __init__(self) -> None:
        self._fates: list[tuple[str, str] | None] = []

    def open(self) -> int:
        """One more record was read; returns its number."""
        self._fates.append(None)
        return len(self._fates) - 1

    def show(self, number: int) -> None:
        """It can be seen in what was imported."""
        self._fates[number] = (SHOWN, "")

    def skip(self, number: int, rule: str) -> None:
        """It is left out by a rule."""
        self._fates[number] = (_SKIPPED, rule)

    def leave_unknown(self, number: int, kind: str) -> None:
        """It was not understood, and is kept raw."""
        self._fates[number] = (_UNKNOWN, kind)

    def damage(self, number: int) -> None:
        """It could not be read."""
        self._fates[number] = (DAMAGED, "")

    def close(self) -> Accounting:
        """The sums; a record without a fate is missing from all but ``read``."""
        sums = Counter(fate for fate in self._fates if fate is not None)
        by_kind: dict[str, dict[str, int]] = {_UNKNOWN: {}, _SKIPPED: {}}
        for (fate, kind), count in sorted(sums.items()):
            if fate in by_kind:
                by_kind[fate][kind] = count
        return Accounting(
            read=len(self._fates),
            shown=sums[SHOWN, ""],
            damaged=sums[DAMAGED, ""],
            unknown=by_kind[_UNKNOWN],
            skipped=by_kind[_SKIPPED],
        )


def add_up(accountings: Iterable[Accounting]) -> Accounting:
    """The accounting of several files together."""
    total, unknown, skipped = Accounting(), Counter[str](), Counter[str]()
    for each in accountings:
        unknown.update(each.unknown)
        skipped.update(each.skipped)
        read, shown = total.read + each.read, total.shown + each.shown
        damaged = total.damaged + each.damaged
        total = Accounting(read, shown, damaged, dict(unknown), dict(skipped))
    return total
