"""The last things that were said in a session, in short: what a list shows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_tui.core.messages import text_of
from agent_tui.core.origins import ASKED
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Record,
    UserMessage,
)

_MOST_EXCHANGES = 4


@dataclass(frozen=True, slots=True)
class Exchange:
    """A prompt and the last words of its answer; either may be empty."""

    prompt: str
    answer: str = ""
    compacted: bool = False


def last_exchanges(records: Sequence[Record]) -> tuple[Exchange, ...]:
    """The last few prompts with the end of each answer, oldest first."""
    return exchanges_back(reversed(records), _MOST_EXCHANGES)


def exchanges_back(newest_first: Iterable[Record], most: int) -> tuple[Exchange, ...]:
    """The same from records newest first, reading no more of them than needed."""
    found: list[Exchange] = []
    answer = ""
    for record in newest_first:
        match record:
            case AssistantMessage(content) if not answer:
                answer = text_of(content).strip()
            case UserMessage(content, origin) if origin in ASKED:
                found.append(Exchange(text_of(content).strip(), answer))
                answer = ""
            case CompactionRecord():
                if answer:  # it continues from the summary: no prompt of a person leads to it
                    found.append(Exchange("", answer))
                    answer = ""
                found.append(Exchange("", "", compacted=True))
            case _:
                pass
        if len(found) >= most:
            break
    return tuple(reversed(found[:most]))


def exchanges_before(records: Sequence[Record], checkpoint: int) -> tuple[Exchange, ...]:
    """What was said last before a checkpoint: what a revert to it leaves."""
    for place in range(len(records) - 1, -1, -1):
        record = records[place]
        if isinstance(record, Checkpoint) and record.id == checkpoint:
            return last_exchanges(records[:place])
    return ()
