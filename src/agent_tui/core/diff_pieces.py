"""One place of a diff as it is shown, found again among the hunks of a revert."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from typing import TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.revert_plan import PathPlan
from agent_tui.core.text import reveal


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """Lines that went and lines that came in one place, as they are shown.

    ``number`` counts those that look the same, from 1; ``of`` says how many these are.
    """

    removed: tuple[str, ...]
    added: tuple[str, ...]
    number: int = 1
    of: int = 1


_Look: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The lines that went and those that came."""


def pieces_by_line(diff: str) -> list[frozenset[DiffPiece]]:
    """For each line that is shown of a unified diff, the pieces that it stands for.

    Of a line that was not changed, and of the gap before a hunk, those are all of its hunk. Before
    the first one there is no gap.
    """
    sections: list[list[str]] = []
    for line in diff.split("\n")[2:]:
        if line.startswith("@@") or not sections:
            sections.append([])
        is_gap = line.startswith("@@") and len(sections) > 1
        if is_gap or line[:1] in ("+", "-", " "):
            sections[-1].append(line)
    places = [_runs(section) for section in sections]
    looks = [
        _look([section[at] for at in run])
        for section, runs in zip(sections, places, strict=True)
        for run in runs
    ]
    numbered = iter(_number(looks))
    told: list[frozenset[DiffPiece]] = []
    for section, runs in zip(sections, places, strict=True):
        pieces = list(islice(numbered, len(runs)))
        by_place = {at: piece for run, piece in zip(runs, pieces, strict=True) for at in run}
        whole = frozenset(pieces)
        told += [
            frozenset({by_place[at]}) if at in by_place else whole for at in range(len(section))
        ]
    return told


def find_hunks(plan: PathPlan, pieces: Collection[DiffPiece]) -> frozenset[int]:
    """The hunks of a revert that put these pieces back; empty where they are not among them.

    Of several that look the same none is found where some of them are gone: which, nobody knows.
    """
    # What a revert adds had been removed.
    shown = _number([(_shown(hunk.added), _shown(hunk.removed)) for hunk in plan.hunks])
    return frozenset(
        hunk.id for hunk, piece in zip(plan.hunks, shown, strict=True) if piece in pieces
    )


def _runs(section: Sequence[str]) -> list[list[int]]:
    """The places of lines that were changed and stand together."""
    runs: list[list[int]] = []
    for at, line in enumerate(section):
        if line[:1] not in ("+", "-"):
            continue
        if runs and runs[-1][-1] == at - 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _look(lines: Sequence[str]) -> _Look:
    return (
        tuple(line[1:] for line in lines if line.startswith("-")),
        tuple(line[1:] for line in lines if line.startswith("+")),
    )


def _number(looks: Sequence[_Look]) -> list[DiffPiece]:
    """The pieces of a file in their order, told from those that look the same."""
    total, seen = Counter(looks), Counter[_Look]()
    pieces = []
    for look in looks:
        seen[look] += 1
        pieces.append(DiffPiece(*look, seen[look], total[look]))
    return pieces


def _shown(lines: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(
        reveal(line.decode(errors="replace").removesuffix("\n").removesuffix("\r"))
        for line in lines
    )
