"""What of a turn has no answer in the log: calls without a result, or the prompt itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    HeadRecord,
    Record,
    RevertRecord,
    ToolMessage,
    TurnEndRecord,
    UserMessage,
)

CUT_OFF = "The program ended before this was answered."
"""What is told of a turn whose process was killed."""


def unanswered_calls(newest_first: Iterable[Record], turn: int) -> list[ToolCall]:
    """The calls of the last answer without a result, where that answer belongs to the turn."""
    answered: set[str] = set()
    for record in newest_first:
        if isinstance(record, ToolMessage):
            answered.add(record.tool_call_id)
        elif isinstance(record, AssistantMessage):
            if record.turn != turn:
                break
            return [call for call in record.tool_calls if call.id not in answered]
    return []


def was_cut_off(path: Sequence[Record]) -> bool:
    """Whether the last turn on a path just stops, as it does when its process was killed.

    Only a turn whose last step is still in the log, as it was written, counts.
    """
    said = False
    for record in reversed(path):
        match record:
            case Checkpoint(step=step):
                return bool(step) or (step == 0 and said)
            case AssistantMessage(tool_calls=()) | ToolMessage(rejected=True) | TurnEndRecord():
                return False
            case CompactionRecord() | RevertRecord() | HeadRecord():
                return False
            case UserMessage():
                said = True
            case _:
                pass
    return False


def where_to_resume(path: Sequence[Record]) -> str | None:
    """Where an interrupted turn continues: the id of the record before half an answer.

    None where the path ends with the prompt, so that nothing has to be left behind.
    """
    for place in range(len(path) - 1, -1, -1):
        match path[place]:
            case AssistantMessage(tool_calls=()):
                return path[place - 1].stamp.uuid if place else None
            case AssistantMessage() | ToolMessage() | UserMessage():
                return None
            case _:
                pass
    return None


def can_retry(path: Sequence[Record]) -> bool:
    """Whether the last turn has no whole answer, so that the model can be asked for it again."""
    ended = False
    for record in reversed(path):
        match record:
            case TurnEndRecord():
                ended = True
            case AssistantMessage(tool_calls=()):
                return ended
            case AssistantMessage() | ToolMessage() | UserMessage():
                return True
            case _:
                pass
    return False
