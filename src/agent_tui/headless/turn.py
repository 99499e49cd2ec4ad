"""One prompt through the same runtime as the screen: text, one JSON object, or JSON lines."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from typing import Any, Literal, TypeAlias

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    CompactionFinished,
    Event,
    Failed,
    StatusChanged,
    StepRetried,
    TextDelta,
    TurnEnd,
)
from agent_tui.core.text import clean
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.launch import Launch
from agent_tui.runtime.open_session import OpenSession

OutputFormat: TypeAlias = Literal["text", "json", "stream-json"]

EXIT_CODES: dict[TurnEnd, int] = {
    "done": 0,
    "failed": 1,
    "max_steps": 3,
    "rejected": 5,
    "cancelled": 130,
}
_NOBODY = "nobody is here to approve it; run with --yolo to allow every action"


class Printer:
    """Prints what a turn emits, in one of the three forms; denies what nobody can approve."""

    def __init__(self, session: OpenSession, form: OutputFormat) -> None:
        self.text: list[str] = []
        self.failure = ""
        self.denied: list[str] = []
        self.compactions = 0
        self.usage: dict[str, Any] = {}
        self._session = session
        self._form = form
        self._mid_line = False

    def hear(self, event: Event) -> None:
        """Take the next event."""
        if self._form == "stream-json":
            print(json.dumps(event_fields(event), ensure_ascii=False), flush=True)
        if isinstance(event, TextDelta):
            self.text.append(event.text)
            if self._form == "text":
                self._mid_line = not event.text.endswith("\n")
                print(clean(event.text), end="", flush=True)
        elif isinstance(event, ApprovalRequested):
            self.denied.append(event.request.title)
            self._say(f"denied: {clean(event.request.title)}: {_NOBODY}")
            self._session.answer(event.request.id, ApprovalAnswer("reject"))
        elif isinstance(event, Failed):
            self.failure = event.message
            self._say(clean(event.message))
        elif isinstance(event, StepRetried):
            self._say(f"retrying in {event.wait_seconds:.1f} s: {clean(event.reason)}")
        elif isinstance(event, CompactionFinished):
            self.compactions += event.report is not None
        elif isinstance(event, StatusChanged) and event.usage is not None:
            self.usage = dataclasses.asdict(event.usage)

    def _say(self, sentence: str) -> None:
        if self._mid_line:
            print(flush=True)
            self._mid_line = False
        print(f"agent-tui: {sentence}", file=sys.stderr, flush=True)

    def finish(self, end: TurnEnd) -> None:
        """Close the output: a last newline, or the one JSON object."""
        if self._form == "text" and self._mid_line:
            print()
        if self._form != "json":
            return
        gauge = self._session.gauge
        result = {
            "session_id": self._session.session_id,
            "end": end,
            "text": "".join(self.text),
            "usage": self.usage,
            "tokens": gauge.tokens,
            "window": gauge.window,
            "compactions": self.compactions,
            "denied": self.denied,
            "error": self.failure or None,
        }
        print(json.dumps(result, ensure_ascii=False))


def event_fields(event: Event) -> dict[str, Any]:
    """An event as a JSON object: its type in snake case, then its fields."""
    name = type(event).__name__
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
    return {"type": snake.replace("d_mail", "dmail"), **dataclasses.asdict(event)}


async def print_turn(launch: Launch, form: OutputFormat) -> int:
    """Run the launch's prompt and print it; returns the exit code."""
    engine = await asyncio.to_thread(Engine.assemble, launch)
    try:
        session = await engine.open_launched()
        printer = Printer(session, form)
        session.subscribe(printer.hear)
        end: TurnEnd = "cancelled"
        try:
            end = await session.run_turn(launch.prompt)
        except asyncio.CancelledError:
            print("agent-tui: interrupted; the session is safe.", file=sys.stderr)
        except AgentTuiError as error:
            print(f"agent-tui: {error}", file=sys.stderr)
            end = "failed"
        printer.finish(end)
        await engine.close_session(session)
        return EXIT_CODES[end]
    finally:
        await engine.aclose()
