"""One prompt through the same runtime as the screen: text, one JSON object, or JSON lines."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, Literal, TypeAlias

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    CompactionFinished,
    Event,
    Failed,
    NoticeGiven,
    StatusChanged,
    StepBegan,
    StepRetried,
    SubagentEvent,
    TextDelta,
    TurnEnd,
    TurnFinished,
)
from agent_tui.core.output import complain, say
from agent_tui.core.usage import Usage
from agent_tui.headless.printing import to_json
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.launch import Launch
from agent_tui.runtime.open_session import OpenSession

OutputFormat: TypeAlias = Literal["text", "json", "stream-json"]

EXIT_CODES: dict[TurnEnd, int] = {
    "done": 0,
    "failed": 1,
    "max_steps": 3,
    "limit": 3,
    "repetition": 3,
    "rejected": 5,
    "cancelled": 130,
}
_NOBODY = "nobody is here to approve it"


class Printer:
    """Prints what a turn emits, in one of the three forms; denies what nobody can approve."""

    def __init__(self, session: OpenSession, form: OutputFormat) -> None:
        self.text = ""
        self.failure = ""
        self.denied: list[str] = []
        self.compactions = 0
        self.usage = Usage()
        self._session = session
        self._form = form
        self._mid_line = False
        self._between_answers = False

    def begin(self) -> None:
        """Name the session where lines follow one by one, so that it is known whatever comes."""
        if self._form == "stream-json":
            opened = {"type": "session_opened", "session_id": self._session.session_id}
            say(to_json(opened), flush=True)

    def hear(self, event: Event) -> None:
        """Take the next event."""
        if self._form == "stream-json":
            say(to_json(event_fields(event)), flush=True)
        match event:
            case TextDelta(text):
                self._write(text)
            case StepBegan():
                self._between_answers = bool(self.text)
            case ApprovalRequested(request):
                self.denied.append(request.title)
                rule = f"; allow it with --allow '{request.offers[0]}'" if request.offers else ""
                self._say(f"denied: {request.title}: {_NOBODY}{rule}")
                self._session.answer(request.id, ApprovalAnswer("reject"))
            case Failed(message):
                self.failure = message
                self._say(message)
            case StepRetried(_, wait_seconds, reason):
                self._say(f"retrying in {wait_seconds:.1f} s: {reason}")
            case CompactionFinished(report):
                self.compactions += report is not None
            case StatusChanged(usage=Usage() as usage):
                self.usage = self.usage + usage
            case NoticeGiven(text):
                self._say(text)
            case TurnFinished(end="max_steps" | "limit" | "repetition", reason=reason):
                self._say(reason)
            case _:
                pass

    def _write(self, text: str) -> None:
        if self._between_answers:
            text, self._between_answers = f"\n\n{text}", False
        self.text += text
        if self._form == "text":
            self._mid_line = not text.endswith("\n")
            say(text, end="", flush=True)

    def _say(self, sentence: str) -> None:
        if self._mid_line:
            say(flush=True)
            self._mid_line = False
        complain(sentence)

    def finish(self, end: TurnEnd) -> None:
        """Close the output: a last newline, or the one JSON object."""
        if self._form == "text" and self._mid_line:
            say()
        if self._form != "json":
            return
        gauge = self._session.gauge
        result = {
            "session_id": self._session.session_id,
            "end": end,
            "text": self.text,
            "usage": dataclasses.asdict(self.usage),
            "tokens": gauge.tokens,
            "window": gauge.window,
            "compactions": self.compactions,
            "denied": self.denied,
            "error": self.failure or None,
        }
        say(to_json(result))


def event_fields(event: Event) -> dict[str, Any]:
    """An event as a JSON object: its type in snake case, then its fields."""
    name = type(event).__name__
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
    fields = {"type": snake.replace("d_mail", "dmail"), **dataclasses.asdict(event)}
    return fields if not isinstance(event, SubagentEvent) else fields | _nested(event)


def _nested(event: SubagentEvent) -> dict[str, Any]:
    return {"event": event_fields(event.event)}


async def print_turn(launch: Launch, form: OutputFormat) -> int:
    """Run the launch's prompt and print it; returns the exit code."""
    engine = await asyncio.to_thread(Engine.assemble, launch)
    try:
        session = await engine.open_launched()
        for notice in (*session.notices, *await engine.settle_tools()):
            complain(notice)
        printer = Printer(session, form)
        printer.begin()
        session.subscribe(printer.hear)
        end: TurnEnd = "cancelled"
        try:
            end = await session.run_turn(launch.prompt)
        except asyncio.CancelledError:
            complain("interrupted; the session is safe.")
        except AgentTuiError as error:
            printer.hear(Failed(str(error)))
            end = "failed"
        printer.finish(end)
        await engine.close_session(session)
        return EXIT_CODES[end]
    finally:
        await engine.aclose()
