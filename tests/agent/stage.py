"""A conversation with a scripted model over real files, for the laws of the loop and the runtime.

async with Stage(tmp_path, Reply(text="Hello.")) as stage:
    assert await stage.say("Hi") == "done"
    assert stage.transcript() == [...]
    assert stage.roles_on_disk() == [...]
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from agent_tui.config import (
    AgentSettings,
    ContextSettings,
    ModelSettings,
    Settings,
    WorkspaceSettings,
)
from agent_tui.core.events import (
    AnswerUnsaved,
    ApprovalAnswer,
    ApprovalAnswered,
    ApprovalRequested,
    BackgroundChanged,
    CheckpointMade,
    CompactionBegan,
    CompactionFinished,
    DMailSent,
    Event,
    Failed,
    NoticeGiven,
    PromptJoined,
    QuestionAnswered,
    QuestionAsked,
    Reverted,
    StepBegan,
    StepInterrupted,
    StepRetried,
    SubagentEvent,
    TextDelta,
    ThinkDelta,
    ToolCallBegan,
    ToolFinished,
    ToolStarted,
    TurnBegan,
    TurnEnd,
    TurnFinished,
    TurnResumed,
)
from agent_tui.core.words import INTERRUPTED
from agent_tui.providers.base import Provider
from agent_tui.providers.demo.scenario import Reply, Scenario, ScriptedCall
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.runtime.building.assembling import Run
from agent_tui.runtime.connect.connections import Connections
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.operations.operations import Operations
from agent_tui.runtime.starting.launch import Launch
from agent_tui.sessions.replay import SessionState, read_log
from agent_tui.sessions.sent_messages import repaired_messages
from agent_tui.sessions.store import SessionStore

BIG_WINDOW = 200_000


class Stage:
    """An engine over a folder of its own, and one session whose events are kept."""

    def __init__(
        self,
        folder: Path,
        *script: Reply,
        compactions: tuple[Reply, ...] = (),
        window: int = BIG_WINDOW,
        provider: Provider | None = None,
        yolo: bool = False,
        agent: AgentSettings | None = None,
        context: ContextSettings | None = None,
        resume: str = "",
        capture: bool = False,
        spec: str = "",
        trust: bool = False,
        home: str = "home",
        models: dict[str, ModelSettings] | None = None,
    ) -> None:
        self.folder = folder
        self._home = folder / home
        self.workspace = folder / "work"
        self.workspace.mkdir(exist_ok=True)
        self.events: list[Event] = []
        self.answers: deque[ApprovalAnswer] = deque()
        self.listeners: list[Callable[[Event], None]] = []
        self.provider = provider or Scripted(Scenario(script=script, compactions=compactions))
        settings = Settings(
            agent=agent or AgentSettings(),
            context=context or ContextSettings(),
            workspace=WorkspaceSettings(capture=capture),
            models=models or {},
        )
        self.engine = Engine(
            Run(
                launch=Launch(self.workspace, yolo=yolo, agent=spec, trust=trust),
                settings=settings,
                store=SessionStore(self._home),
                connections=Connections(settings, self.provider, "scripted", window),
                workspace=self.workspace,
            )
        )
        self._resume = resume
        self.session: LiveSession

    async def __aenter__(self) -> Stage:
        if self._resume:
            self.session = await self.engine.open_session(self._resume)
        else:
            self.session = await self.engine.new_session()
        self.session.subscribe(self._hear)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.session.close()
        await self.engine.aclose()

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ApprovalRequested) and self.answers:
            answer = self.answers.popleft()
            asyncio.get_running_loop().call_soon(
                self.session.approvals.answer, event.request.id, answer
            )
        for listener in self.listeners:
            listener(event)

    @property
    def operations(self) -> Operations:
        """What changes the session."""
        return self.session.operations

    async def say(self, prompt: str) -> TurnEnd:
        """One turn, to its end."""
        return await self.session.run_turn(prompt)

    async def say_until(self, prompt: str, moment: Callable[[Event], bool]) -> None:
        """A turn that is cancelled as soon as an event comes that is the moment."""
        task = asyncio.create_task(self.session.run_turn(prompt))

        def cancel_then(event: Event) -> None:
            if moment(event):
                task.cancel()

        self.listeners.append(cancel_then)
        with suppress(asyncio.CancelledError):
            await task
        self.listeners.remove(cancel_then)

    @property
    def log(self) -> Path:
        """The live log on disk."""
        return next(self._home.glob(f"projects/*/{self.session.session_id}/context.jsonl"))

    def lines(self, path: Path | None = None) -> list[dict[str, Any]]:
        """Every line of the log on disk, decoded."""
        return [json.loads(line) for line in (path or self.log).read_text().splitlines()]

    def on_disk(self, role: str) -> list[dict[str, Any]]:
        """The lines of one role."""
        return [line for line in self.lines() if line["role"] == role]

    def roles_on_disk(self) -> list[str]:
        """What lies behind the first lines of a session: header, system prompt, model, title."""
        return [line["role"] for line in self.lines()][4:]

    def transcript(self) -> list[str]:
        """The events so far, each in a few words; deltas that belong together are one line."""
        said: list[str] = []
        for event in self.events:
            if words := _words(event):
                if said and event_is_delta(event) and said[-1].startswith(words[:6]):
                    said[-1] += words[6:]
                else:
                    said.append(words)
        return said


def event_is_delta(event: Event) -> bool:
    return isinstance(event, (TextDelta, ThinkDelta))


def _words(event: Event) -> str:
    match event:
        case TurnBegan(turn, prompt):
            return f"turn {turn}: {prompt}"
        case CheckpointMade(number, turn, step):
            return f"checkpoint {number} (turn {turn}, step {step})"
        case StepBegan(step):
            return f"step {step}"
        case StepRetried(attempt, _, reason):
            return f"retry {attempt}: {reason}"
        case StepInterrupted(reason):
            return f"interrupted: {reason}"
        case TextDelta(text):
            return f"text: {text}"
        case ThinkDelta(text):
            return f"think {text}"
        case ToolCallBegan(_, _, name):
            return f"call {name}"
        case ToolStarted(call):
            return f"start {call.name} {call.arguments}"
        case ToolFinished(call, result, interrupted):
            how = "interrupted" if interrupted else "error" if result.is_error else "ok"
            return f"{how} {call.name}: {result.output.splitlines()[0]:.40}"
        case ApprovalRequested(request):
            return f"ask {request.call.name} {request.title}"
        case ApprovalAnswered(_, answer):
            return f"answer {answer.decision} {answer.feedback}".strip()
        case QuestionAsked(question):
            return f"question {question.text} {' / '.join(question.choices)}".strip()
        case QuestionAnswered(_, answer):
            return f"answered {answer or 'not'}"
        case BackgroundChanged(commands):
            return f"background: {', '.join(commands) or 'none'}"
        case TurnResumed(turn):
            return f"turn {turn} resumed"
        case NoticeGiven(_, kind):
            return f"notice {kind}"
        case AnswerUnsaved(text):
            return f"unsaved: {text}"
        case DMailSent(checkpoint, text):
            return f"dmail to {checkpoint}: {text}"
        case SubagentEvent(_, name, _, event):
            said = "" if event_is_delta(event) else _words(event)
            return f"{name} > {said}" if said else ""
        case PromptJoined(text):
            return f"joined {text}"
        case CompactionBegan(trigger):
            return f"compaction {trigger}"
        case CompactionFinished(None, reason):
            return f"not compacted: {reason}"
        case CompactionFinished():
            return "compacted"
        case Reverted(report):
            return f"{report.reason}: archive {report.archive}"
        case Failed(message):
            return f"failed: {message}"
        case TurnFinished(turn, end, steps):
            return f"turn {turn} {end} after {steps}"
        case _:
            return ""


def call(name: str, *, id: str = "", **arguments: Any) -> ScriptedCall:  # noqa: A002
    """A call of a tool."""
    return ScriptedCall(name, arguments, id=id)


def unanswered(path: Path) -> list[str]:
    """Ids of calls on disk that have no result on disk."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    results = {record["tool_call_id"] for record in records if record["role"] == "tool"}
    calls = [c["id"] for record in records for c in record.get("tool_calls") or ()]
    return [one for one in calls if one not in results]


def doubly_answered(path: Path) -> list[str]:
    """Ids of calls on disk that have more than one result on disk."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    results = [record["tool_call_id"] for record in records if record["role"] == "tool"]
    return sorted({one for one in results if results.count(one) > 1})


def sendable(state: SessionState) -> bool:
    """Whether a server would take the messages: every call is answered, nothing hangs loose."""
    waiting: list[str] = []
    for message in repaired_messages(entry.record for entry in state.messages):  # type: ignore[misc]
        results = getattr(message, "tool_call_id", None)
        if results is not None:
            if results not in waiting:
                return False
            waiting.remove(results)
            continue
        if waiting:
            return False
        waiting = [one.id for one in getattr(message, "tool_calls", ())]
    return not waiting


__all__ = [
    "BIG_WINDOW",
    "INTERRUPTED",
    "Reply",
    "Scenario",
    "Stage",
    "call",
    "doubly_answered",
    "read_log",
    "sendable",
    "unanswered",
]
