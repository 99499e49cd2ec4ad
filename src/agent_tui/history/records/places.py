"""Places in a conversation by what people call them: a checkpoint, a turn, a message, a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from agent_tui.core.errors import SessionError, UsageError
from agent_tui.core.format import format_minute
from agent_tui.core.records import Checkpoint, Record, is_message, is_prompt
from agent_tui.history.records.contents import count_messages
from agent_tui.history.records.lazy_sequence import RecordsOnDisk

Kind: TypeAlias = Literal["checkpoint", "turn", "message", "time"]

_TYPED = re.compile(r"(?:(?P<kind>checkpoint|turn|message)\s+)?(?P<number>\d{1,9})")
_TIME = re.compile(r"(?:(?P<day>\d{4}-\d\d-\d\d)\s+)?(?P<clock>\d{1,2}:\d\d)")
_KINDS: dict[str, Kind] = {"turn": "turn", "message": "message"}


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place as it was named.

    ``number`` is a checkpoint's or a turn's own, or counts from 1; ``time`` is local, ``14:05`` or
    ``2026-11-22 14:05``.
    """

    kind: Kind
    number: int = 0
    time: str = ""


def read_place(typed: str) -> NamedPlace:
    """What was typed as a place; a number alone is a checkpoint. Raises UsageError."""
    text = typed.strip().lower()
    if numbered := _TYPED.fullmatch(text):
        kind: Kind = _KINDS.get(numbered["kind"], "checkpoint")
        return NamedPlace(kind, int(numbered["number"]))
    if timed := _TIME.fullmatch(text):
        return NamedPlace("time", time=f"{timed['day'] or ''} {timed['clock']:0>5}".strip())
    expected = "a checkpoint's number, turn N, message N, or a time such as 14:05"
    raise UsageError(f"Expected {expected}, got {typed!r}.")


def find_place(records: Sequence[Record], place: NamedPlace) -> int | None:
    """The index of the record at a place; None where there is no such place. Blocks.

    A time without a day is one of the last day of the conversation; the first record then or later
    is meant.
    """
    match place.kind:
        case "checkpoint":
            number = place.number
            return _nth(records, 1, lambda each: isinstance(each, Checkpoint) and each.id == number)
        case "turn":
            return _turn(records, place.number)
        case "message":
            return _nth(records, place.number, is_message)
        case "time":
            return _at_time(records, place.time)


def name_last_message(records: Sequence[Record], end: int) -> str:
    """The last message before a place, as it is named to resume from it. Blocks.

    That is its number from 1; where other branches may stand between the records, its id.

    Raises:
        SessionError: there is none.
    """
    found = next((r for i in range(end - 1, -1, -1) if is_message(r := records[i])), None)
    if found is None:
        raise SessionError("No message comes before this: there is nothing to continue.")
    if isinstance(records, RecordsOnDisk) and found.stamp.uuid:
        return found.stamp.uuid
    return str(count_messages(records[:end]))


def _nth(records: Iterable[Record], number: int, is_meant: Callable[[Record], bool]) -> int | None:
    found = (index for index, record in enumerate(records) if is_meant(record))
    return next(islice(found, number - 1, None), None) if number > 0 else None


def _turn(records: Iterable[Record], number: int) -> int | None:
    """By its own number, which a compaction does not change; counted where no turn has one."""
    prompts = [(i, each.turn, each.origin) for i, each in enumerate(records) if is_prompt(each)]
    if any(turn is not None for _, turn, _ in prompts):
        return next((index for index, turn, _ in prompts if turn == number), None)
    begins = [index for index, _, origin in prompts if origin != "steer"]
    return begins[number - 1] if 0 < number <= len(begins) else None


def _at_time(records: Sequence[Record], time: str) -> int | None:
    if " " not in time:
        minutes = (format_minute(record.stamp.at) for record in reversed(records))
        time = f"{next(filter(None, minutes), '')[:10]} {time}"
    return _nth(records, 1, lambda each: format_minute(each.stamp.at) >= time)
