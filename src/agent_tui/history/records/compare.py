"""Two branches beside each other: what they share, what each says alone, and what comes again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from agent_tui.core.records import Message, Record, is_message
from agent_tui.core.tree import Branch, Comparison, message_key
from agent_tui.history.records.contents import count_tokens


def compare_branches(
    left: tuple[str, Sequence[Record]],
    right: tuple[str, Sequence[Record]],
    count: Callable[[Message], int],
) -> Comparison:
    """Align two branches, each given as title and records; counts tokens, so call it in a thread.

    Messages with the same id, or the same words where they have none, stand beside each other. The
    longest order-keeping choice of such pairs is taken (patience: the longest increasing run).
    """
    sides = [_branch(title, records, count) for title, records in (left, right)]
    keys = [[message_key(message) for message in side.messages] for side in sides]
    common = 0
    for one, other in zip(*keys, strict=False):
        if one != other:
            break
        common += 1
    pairs = [(index, index) for index in range(common)]
    pairs += _longest_run(_matches(keys[0][common:], keys[1][common:], common))
    rows = tuple(_fill(pairs, len(keys[0]), len(keys[1])))
    return Comparison(sides[0], sides[1], rows, common)


def _branch(title: str, records: Sequence[Record], count: Callable[[Message], int]) -> Branch:
    messages = tuple(record for record in records if is_message(record))
    counts = tuple(count(message) for message in messages)
    return Branch(title, messages, counts, count_tokens(records, count))


def _matches(left: list[str], right: list[str], offset: int) -> list[tuple[int, int]]:
    """Messages that occur once on each side, by their place at the left."""
    places = {key: index for index, key in enumerate(right)}
    return [
        (index + offset, places[key] + offset) for index, key in enumerate(left) if key in places
    ]


def _longest_run(matches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """As many of the pairs as can stand in order on both sides."""
    ends: list[int] = []  # the smallest right place that ends a run of each length
    at: list[int] = []
    before: list[int] = []
    for index, (_, right) in enumerate(matches):
        length = bisect_left(ends, right)
        before.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [right]
        at[length : length + 1] = [index]
    run: list[tuple[int, int]] = []
    index = at[-1] if at else -1
    while index >= 0:
        run.append(matches[index])
        index = before[index]
    return run[::-1]


def _fill(
    pairs: list[tuple[int, int]], left_count: int, right_count: int
) -> Iterator[tuple[int | None, int | None]]:
    """Put what stands alone between the pairs, both sides from the same row on."""
    left = right = 0
    for next_left, next_right in [*pairs, (left_count, right_count)]:
        while left < next_left or right < next_right:
            yield left if left < next_left else None, right if right < next_right else None
            left, right = min(left + 1, next_left), min(right + 1, next_right)
        if next_left < left_count or next_right < right_count:
            yield next_left, next_right
            left, right = next_left + 1, next_right + 1
