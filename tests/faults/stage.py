"""Plays one act on one session with one fault, and keeps the folder for the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from agent_tui.sessions.session_log import SessionLog
from tests.faults.acts import Act, open_session, steady_ids
from tests.faults.shim import Call, Died, Fault, Shim
from tests.faults.snapshot import Snapshot, put, take
from tests.faults.verdict import Case

T = TypeVar("T")
Check = Callable[[SessionLog, BaseException | None], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Play:
    """How an act ended: ``error`` is None when it returned, Died when its process ended."""

    folder: Path
    error: BaseException | None
    calls: list[Call]
    reached: bool


class Stage:
    """A scratch folder, an event loop and steady ids for as many plays as one likes."""

    def __init__(self, scratch: Path) -> None:
        self.folder = scratch / "s1"
        self._runner = asyncio.Runner()
        self._ids = steady_ids()

    def __enter__(self) -> Stage:
        self.restart_ids = self._ids.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ids.__exit__(kind, error, trace)
        self._runner.close()

    def ask(self, coroutine: Coroutine[object, object, T]) -> T:
        """Run a coroutine to its end."""
        return self._runner.run(coroutine)

    def rehearse(self, act: Act, before: Snapshot, hard_links: bool = True) -> tuple[Case, Play]:
        """Play an act undisturbed: its calls, and the folder that it should leave."""
        opening: list[Snapshot] = []
        play = self.play(act, before, None, hard_links, opening=opening)
        if play.error is not None:
            raise play.error
        return Case(act, opening[0], take(self.folder)), play

    def play(
        self,
        act: Act,
        before: Snapshot,
        fault: Fault | None,
        hard_links: bool = True,
        opening: list[Snapshot] | None = None,
        check: Check | None = None,
    ) -> Play:
        """Play an act with a fault; ``opening`` receives the folder as the act itself found it."""
        put(before, self.folder)
        shim = Shim(hard_links)
        self.restart_ids(0)
        with shim.in_place():
            session = open_session(self.folder)
            error = self._runner.run(self._act(session, act, shim, fault, opening, check))
        return Play(self.folder, error, shim.calls, fault is None or len(shim.calls) >= fault.at)

    async def _act(
        self,
        session: SessionLog,
        act: Act,
        shim: Shim,
        fault: Fault | None,
        opening: list[Snapshot] | None,
        check: Check | None,
    ) -> BaseException | None:
        error: BaseException | None = None
        token = await act.prepare(session) if act.prepare else None
        if opening is not None:
            opening.append(take(self.folder))
        shim.arm(fault)
        try:
            await act.run(session, token)
        except (Exception, Died) as raised:
            error = raised
        await asyncio.sleep(0)
        shim.disarm()
        if check is not None and not shim.dead:
            await check(session, error)
        if not shim.dead:
            await session.close()
        return error
