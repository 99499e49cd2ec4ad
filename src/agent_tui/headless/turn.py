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
    QuestionAsked,
    StatusChanged,
    StepBegan,
    StepRetried,
    TextDelta,
    TurnEnd,
    TurnFinished,
)
from agent_tui.core.output import complain, say
from agent_tui.core.text import first_line
from agent_tui.core.usage import Usage
from agent_tui.core.words import say_how
from agent_tui.headless.event_lines import OPENED, event_fields
from agent_tui.headless.printing import to_json
from agent_tui.headless.reader_gone import ReaderGone
from agent_tui.headless.schema_answer import MOST_TRIES, AnswerSchema, UnfitAnswer
from agent_tui.headless.ways import WAYS
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.starting.launch import Launch

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

    def __init__(
        self, session: LiveSession, form: OutputFormat, *, only_value: bool = False
    ) -> None:
        self.text = ""
        self.answer = ""
        self.value: Any = None
        self.failure = ""
        self.denied: list[str] = []
        self.compactions = 0
        self.usage = Usage()
        self._session = session
        self._form = form
        self._only_value = only_value
        self._mid_line = False
        self._between_answers = False

    def begin(self) -> None:
        """Name the session where lines follow one by one, so that it is known whatever comes."""
        if self._form == "stream-json":
            opened = {"type": OPENED, "session_id": self._session.session_id}
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
                self.answer = ""
            case ApprovalRequested(request):
                self.denied.append(request.title)
                rule = f"; allow it with --allow '{request.offers[0]}'" if request.offers else ""
                self._say(f"rejected: {request.title}: {_NOBODY}{rule}")
                self._session.approvals.answer(request.id, ApprovalAnswer("reject"))
            case QuestionAsked(question):
                self._say(f"not answered: {first_line(question.text)}: nobody is here to answer it")
                self._session.questions.answer(question.id, "")
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
        self.answer += text
        if self._between_answers:
            text, self._between_answers = f"\n\n{text}", False
        self.text += text
        if self._form == "text" and not self._only_value:
            self._mid_line = not text.endswith("\n")
            say(text, end="", flush=True)

    def _say(self, sentence: str) -> None:
        if self._mid_line:
            say(flush=True)
            self._mid_line = False
        complain(say_how(sentence, WAYS))

    def finish(self, end: TurnEnd) -> None:
        """Close the output: a last newline, or the one JSON object."""
        if self._form == "text" and self._mid_line:
            say()
        if self._only_value and end == "done" and self._form != "json":
            value = {"type": "answer", "value": self.value}
            say(to_json(self.value if self._form == "text" else value), flush=True)
        if self._form != "json":
            return
        gauge = self._session.gauge
        result = {
            "session_id": self._session.session_id,
            "end": end,
            "text": self.text,
            **({"value": self.value} if self._only_value else {}),
            "usage": dataclasses.asdict(self.usage),
            "tokens": gauge.tokens,
            "window": gauge.window,
            "compactions": self.compactions,
            "denied": self.denied,
            "error": self.failure or None,
        }
        say(to_json(result))


async def print_turn(launch: Launch, form: OutputFormat, schema: AnswerSchema | None) -> int:
    """Run the launch's prompt and print it; returns the exit code."""
    engine = await asyncio.to_thread(Engine.assemble, launch)
    try:
        session = await engine.open_launched()
        for notice in (*session.notices, *await engine.settle_tools()):
            complain(say_how(notice, WAYS))
        printer = Printer(session, form, only_value=schema is not None)
        printer.begin()
        reader = ReaderGone()
        session.subscribe(printer.hear, reader.stop)
        end: TurnEnd = "cancelled"
        try:
            if session.view.is_empty:  # a prompt that nobody answers is no session
                engine.connections.require_model()
            end = await _run(session, launch.prompt, printer, schema)
        except asyncio.CancelledError:
            reader.check()
            complain("interrupted; the session is safe.")
        except AgentTuiError as error:
            printer.hear(Failed(str(error)))
            end = "failed"
        printer.finish(end)
        await engine.close_session(session)
        return EXIT_CODES[end]
    finally:
        await engine.aclose()


async def _run(
    session: LiveSession, prompt: str, printer: Printer, schema: AnswerSchema | None
) -> TurnEnd:
    """One turn; with a schema as many as it takes until the answer fits, within bounds."""
    if schema is None:
        return await session.run_turn(prompt)
    prompt = schema.instruct(prompt)
    for _ in range(MOST_TRIES):
        end = await session.run_turn(prompt)
        if end != "done":
            return end
        printer.value, trouble = schema.check(printer.answer)
        if not trouble:
            return end
        prompt = schema.ask_again(trouble)
    printer.value = None
    raise UnfitAnswer(f"After {MOST_TRIES} answers: {trouble}")
