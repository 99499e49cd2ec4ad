"""Serves JSON lines from standard input, many sessions at once, until the input ends.

A request is one line:

    {"type": "prompt", "text": …, "session_id": …?, "id": …?}   a turn; without an id a new session
    {"type": "answer", "session_id": …, "request": …, "decision": "once"|"session"|"reject",
     "feedback": …?}                                            an approval
    {"type": "interrupt", "session_id": …}   {"type": "close", "session_id": …}

Everything that a turn emits comes back as lines of stream-json, each with its ``session_id``; a
request that fails comes back as ``{"type": "error", "id": …, "message": …}``.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.events import ApprovalAnswer, Event
from agent_tui.core.output import complain, say
from agent_tui.headless.event_lines import OPENED, event_fields
from agent_tui.headless.input_lines import InputLine, input_lines
from agent_tui.headless.printing import to_json
from agent_tui.headless.reader_gone import ReaderGone
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.starting.launch import Launch

_DECISIONS = ("once", "session", "reject")


async def serve(launch: Launch) -> int:
    """Answer requests until standard input closes and the last turn has ended."""
    engine = await asyncio.to_thread(Engine.assemble, launch)
    reader = ReaderGone()
    daemon = _Daemon(engine, reader)
    try:
        for trouble in await engine.settle_tools():
            complain(trouble)
        await daemon.serve(input_lines())
    except asyncio.CancelledError:
        reader.check()
        raise
    finally:
        await daemon.close()
        await engine.aclose()
    return 0


class _Daemon:
    """Open sessions by their ids, and the turn that runs in each."""

    def __init__(self, engine: Engine, reader: ReaderGone) -> None:
        self._engine = engine
        self._reader = reader
        self._sessions: dict[str, LiveSession] = {}
        self._turns: dict[str, asyncio.Task[None]] = {}

    async def serve(self, lines: asyncio.Queue[InputLine]) -> None:
        while line := (await lines.get()).text:
            if line.strip():
                await self._take(line)
        await asyncio.gather(*self._turns.values(), return_exceptions=True)

    async def close(self) -> None:
        for turn in self._turns.values():
            turn.cancel()
        await asyncio.gather(*self._turns.values(), return_exceptions=True)
        for name in list(self._sessions):
            await self._close(name)

    async def _take(self, line: str) -> None:
        """Answer one request; whatever is wrong with it is told, and the next one is read."""
        request: Any = None
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise UsageError("Expected one JSON object on each line.")
            await self._answer(request)
        except (ValueError, RecursionError) as error:
            self._fail(request, f"The line is not valid JSON: {error}.")
        except AgentTuiError as error:
            self._fail(request, str(error))

    async def _answer(self, request: dict[str, Any]) -> None:
        match request.get("type"):
            case "prompt":
                await self._prompt(request)
            case "answer":
                decision = request.get("decision")
                if decision not in _DECISIONS:
                    raise UsageError(f"A decision is one of {', '.join(_DECISIONS)}.")
                answer = ApprovalAnswer(decision, str(request.get("feedback", "")))
                self._find(request).approvals.answer(str(request.get("request")), answer)
            case "interrupt":
                self._find(request)
                turn = self._turns.get(request["session_id"])
                if turn is not None:
                    turn.cancel()
            case "close":
                self._find(request)
                await self._close(request["session_id"])
            case other:
                raise UsageError(f"There is no request of type {other!r}.")

    async def _prompt(self, request: dict[str, Any]) -> None:
        text = request.get("text")
        if not isinstance(text, str) or not text.strip():
            raise UsageError("A prompt needs text.")
        session = await self._open(str(request.get("session_id") or ""), request)
        name = session.session_id
        running = self._turns.get(name)
        if running is not None and not running.done():
            session.steer(text)
            return
        self._turns[name] = asyncio.create_task(self._run(session, text, request))

    async def _open(self, name: str, request: dict[str, Any]) -> LiveSession:
        if name in self._sessions:
            return self._sessions[name]
        engine = self._engine
        session = await (engine.open_session(name) if name else engine.new_session())
        known = self._sessions.setdefault(session.session_id, session)
        if known is not session:
            await session.close()
            return known
        session.subscribe(partial(self._emit, session.session_id), self._reader.stop)
        self._say({"type": OPENED, "session_id": session.session_id, "id": request.get("id")})
        return session

    def _find(self, request: dict[str, Any]) -> LiveSession:
        name = request.get("session_id")
        if name not in self._sessions:
            raise UsageError(f"The session {name!r} is not open here.")
        return self._sessions[name]

    async def _run(self, session: LiveSession, text: str, request: dict[str, Any]) -> None:
        try:
            await session.run_turn(text)
        except AgentTuiError as error:
            self._fail(request, str(error))

    async def _close(self, name: str) -> None:
        session, turn = self._sessions.pop(name), self._turns.pop(name, None)
        if turn is not None:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        await self._engine.close_session(session)

    def _emit(self, name: str, event: Event) -> None:
        self._say(event_fields(event) | {"session_id": name})

    def _fail(self, request: Any, message: str) -> None:
        identity = request.get("id") if isinstance(request, dict) else None
        self._say({"type": "error", "id": identity, "message": message})

    def _say(self, fields: dict[str, Any]) -> None:
        say(to_json(fields), flush=True)
