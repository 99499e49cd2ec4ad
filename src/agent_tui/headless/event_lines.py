"""Events as JSON lines: the stable form in which scripts hear a turn.

A line's ``type`` is the event's name in snake case, its other fields are the event's own. Fields
may be added; none is renamed or removed without a word in the release notes.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, get_args

from agent_tui.core.events import Event, PicturesShown, SubagentEvent

OPENED = "session_opened"
"""The first line, with the session's id; it is no event of a turn."""


def event_type(kind: type) -> str:
    """The ``type`` of an event's lines."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_")
    return snake.replace("d_mail", "dmail")


def event_fields(event: Event) -> dict[str, Any]:
    """An event as a JSON object: its type, then its fields."""
    fields = {"type": event_type(type(event)), **dataclasses.asdict(event)}
    if isinstance(event, SubagentEvent):
        fields["event"] = event_fields(event.event)
    if isinstance(event, PicturesShown):  # what they are; the session has the pictures
        fields["images"] = [image.url.partition(";")[0] for image in event.images]
    return fields


def event_table() -> list[tuple[str, tuple[str, ...], str]]:
    """Every line that there is: its type, the names of its fields, and what it says."""
    rows: list[tuple[str, tuple[str, ...], str]] = [
        (OPENED, ("session_id",), "The session of all lines that follow.")
    ]
    for kind in get_args(Event):
        names = tuple(field.name for field in dataclasses.fields(kind))
        about = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
        rows.append((event_type(kind), names, about))
    return rows


def describe_events() -> str:
    """The page of ``agent-tui help stream-json``."""
    lines = [
        "With --output-format stream-json each line of standard output is one JSON object, whose",
        "type is one of these. Fields may be added later; none is renamed or removed.",
        "",
    ]
    for name, fields, about in event_table():
        lines += [f"{name}  {', '.join(fields)}", f"    {about}"]
    return "\n".join(lines) + "\n"
