"""The agent's list of what is to do, as its calls of the todo tool say it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Literal, TypeAlias, get_args

from agent_tui.core.arguments import read_arguments
from agent_tui.core.dataclass import dataclass
from agent_tui.core.records import AssistantMessage, Record
from agent_tui.core.text import first_line

TODO_TOOL = "todo"
TodoState: TypeAlias = Literal["open", "doing", "done"]
_STATES = get_args(TodoState)
_MOST_RECORDS = 1_000


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One thing to do."""

    text: str
    state: TodoState = "open"


def read_todo(arguments: str) -> tuple[TodoItem, ...]:
    """The list in the arguments of a call; what is no item is left out."""
    items = read_arguments(arguments).get("items")
    return tuple(
        TodoItem(each["text"], each["state"] if each.get("state") in _STATES else "open")
        for each in (items if isinstance(items, list) else ())
        if isinstance(each, dict) and isinstance(each.get("text"), str)
    )


def describe_todo(items: Sequence[TodoItem]) -> str:
    """How far a list is, and what is being done: ``2 of 5 done · Run the tests``."""
    done = sum(item.state == "done" for item in items)
    now = next((item.text for item in items if item.state == "doing"), "")
    return f"{done} of {len(items)} done" + (f" · {first_line(now)}" if now else "")


def last_todo(path: Sequence[Record]) -> tuple[TodoItem, ...]:
    """The list that is in force where a path ends; empty where there is none, or all is done."""
    for record in islice(reversed(path), _MOST_RECORDS):
        if not isinstance(record, AssistantMessage):
            continue
        for call in reversed(record.tool_calls):
            if call.name == TODO_TOOL and (items := read_todo(call.arguments)):
                return items if any(item.state != "done" for item in items) else ()
    return ()
