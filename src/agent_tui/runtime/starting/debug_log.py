"""A log file of named events with levels, for ``--debug``; nothing of it reaches the screen.

It holds no conversation text: only names, numbers, and sentences about errors.
"""

from __future__ import annotations

import dataclasses
import logging
import os
from pathlib import Path
from typing import Any

from agent_tui.core.events import (
    CompactionDelta,
    Event,
    Failed,
    ShellOutput,
    StepRetried,
    TextDelta,
    ThinkDelta,
    ToolCallDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
)
from agent_tui.core.text import clean

_LARGEST = 5_000_000
_KEPT = 2
_FORM = "%(asctime)s.%(msecs)03d %(levelname)-7s %(name)s %(message)s"
_events = logging.getLogger("agent_tui.events")
_DELTAS = (TextDelta, ThinkDelta, ToolCallDelta, ToolOutput, ShellOutput, CompactionDelta)


def quiet_libraries() -> None:
    """Keep what libraries log off the terminal, where it would paint over the screen."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())


def start_debug_log(path: Path) -> None:
    """Write everything that is logged from now on into a file for its owner only."""
    from logging.handlers import RotatingFileHandler

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    handler = RotatingFileHandler(path, maxBytes=_LARGEST, backupCount=_KEPT, encoding="utf-8")
    handler.setFormatter(_CleanFormatter(_FORM, "%Y-%m-%dT%H:%M:%S"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("agent_tui").setLevel(logging.DEBUG)


class _CleanFormatter(logging.Formatter):
    """One line an event, without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record)).replace("\n", "\n    ")


def log_event(event: Event) -> None:
    """Log one event of a turn by its name, with its numbers; deltas at the lowest level."""
    name = type(event).__name__
    if isinstance(event, _DELTAS):
        _events.debug("%s", name)
        return
    _events.log(_level_of(event), "%s %s", name, _facts(event))


def _level_of(event: Event) -> int:
    match event:
        case Failed():
            return logging.ERROR
        case StepRetried():
            return logging.WARNING
        case TurnFinished(end=end) if end != "done":
            return logging.WARNING
        case _:
            return logging.INFO


def _facts(event: Event) -> str:
    """What may be logged of an event: numbers and flags, names of tools, our own sentences."""
    facts: dict[str, Any] = {
        field.name: value
        for field in dataclasses.fields(event)
        if isinstance(value := getattr(event, field.name), int | float | bool)
    }
    match event:
        case ToolStarted(call) | ToolFinished(call):
            facts["tool"] = call.name
        case Failed(message):
            facts["message"] = message
        case StepRetried(reason=reason) | TurnFinished(reason=reason) if reason:
            facts["reason"] = reason
        case _:
            pass
    if isinstance(event, ToolFinished):
        facts |= {"characters": len(event.result.output), "failed": event.result.is_error}
    return " ".join(f"{key}={value!r}" for key, value in facts.items())
