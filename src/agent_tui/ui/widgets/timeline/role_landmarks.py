"""What the scroll bar shows of records that are known by their roles alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from agent_tui.core.records import MESSAGE_ROLES
from agent_tui.ui.blocks import Landmark


def landmarks_of(
    roles: Sequence[str],
    further: Sequence[str],
    first: int,
    errors: Collection[int],
    *,
    reach: int,
) -> Iterator[tuple[int, Landmark]]:
    """The landmarks of records, by their roles and the places of errors.

    ``further`` are the same roles and some that follow; a checkpoint's prompt is looked for within
    ``reach`` of it.

    A checkpoint that a prompt follows opens a turn, and any other a step; where there is none,
    everything said opens a turn.
    """
    is_plain, failed = "_checkpoint" not in further, frozenset(errors)
    for number, role in enumerate(roles):
        if role == "_compaction":
            yield first + number, "compaction"
        elif first + number in failed:
            yield first + number, "error"
        elif role == "_checkpoint":
            following = further[number + 1 : number + reach]
            if role := next((each for each in following if each in MESSAGE_ROLES), ""):
                yield first + number, "prompt" if role == "user" else "step"
        elif role == "user" and is_plain:
            yield first + number, "prompt"
