"""Where in a session a line stands that a search found: told by its time and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import Record

NOT_HERE = "That line is not on this branch. See the tree or the archives."
"""What is told where a line that was found is no longer part of the conversation."""


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line that a search found: its time, a part of its text, and the word to mark in it."""

    at: str
    snippet: str
    mark: str = ""


def find_record(records: Sequence[Record], line: FoundLine) -> int | None:
    """The place of the record that holds the line; None where it left the conversation. Blocks.

    An importer may join lines or split them, so the same time and word do as well as the text.
    """
    snippet, mark = _squeezed(line.snippet.strip("… ")), _squeezed(line.mark)
    near = same = timed = None
    for place, record in enumerate(records):
        is_then = bool(line.at) and record.stamp.at == line.at
        if same is not None and not is_then:
            continue
        text = _squeezed("\n".join(_strings(record_fields(record))))
        says = bool(snippet) and snippet in text
        if says and is_then:
            return place
        if says and same is None:
            same = place
        if is_then and timed is None:
            timed = place
        if is_then and near is None and mark and mark in text:
            near = place
    return next((place for place in (near, same, timed) if place is not None), None)


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _strings(each)
        case list() | tuple():
            for each in value:
                yield from _strings(each)
        case _:
            pass
