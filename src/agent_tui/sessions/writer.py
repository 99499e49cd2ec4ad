"""One thread that does every write of a store, in order; appends that wait share a flush."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeAlias
from weakref import WeakKeyDictionary

from agent_tui.core.dataclass import dataclass
from agent_tui.core.records import Record
from agent_tui.sessions.log import Durability
from agent_tui.sessions.log_writer import Change, LogWriter
from agent_tui.sessions.replay import SessionState

_LARGEST_GROUP = 2048
_FREED_AT_ONCE = 500
_SETTLED_AT_ONCE = 128  # about half a millisecond of the loop's time


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job; a failed one may carry a change too, so that memory follows disk."""

    change: Change
    error: BaseException | None = None


Settle: TypeAlias = Callable[[Outcome], None]


@dataclass(slots=True, eq=False)
class Job:
    """Something for the writer thread: records to append, or else a call."""

    loop: asyncio.AbstractEventLoop
    tail: LogWriter
    settle: Settle
    run: Callable[[], Change] | None = None
    records: Sequence[Record] = ()
    durability: Durability = Durability.D0
    outcome: Outcome | None = None
    waiter: asyncio.Future[None] | None = None


class Writer:
    """Takes jobs from event loops and settles each on its own loop, in the order they were given.

    ``settle`` runs on the loop before the future is done, whether or not anybody still waits for
    it: what reached the disk reaches the memory, and in the same order.
    """

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._done: WeakKeyDictionary[asyncio.AbstractEventLoop, deque[tuple[Job, Outcome]]]
        self._done = WeakKeyDictionary()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="session-writer")
        self._lock = threading.RLock()  # what is submitted may run at once, in the same thread
        self._draining = False

    async def append(
        self,
        tail: LogWriter,
        records: Sequence[Record],
        durability: Durability,
        settle: Settle,
    ) -> Change:
        """Write records; returns when they are as durable as asked and settled."""
        return await self._settled(
            Job(asyncio.get_running_loop(), tail, settle, None, records, durability)
        )

    async def call(self, tail: LogWriter, run: Callable[[], Change], settle: Settle) -> Change:
        """Run something in the writer thread, after all that was submitted before."""
        return await self._settled(Job(asyncio.get_running_loop(), tail, settle, run))

    async def _settled(self, job: Job) -> Change:
        """Wait for a job even when the waiting task is cancelled; then pass the cancellation on."""
        cancelled: asyncio.CancelledError | None = None
        self._submit(job)
        while job.outcome is None:
            job.waiter = job.loop.create_future()
            try:
                await job.waiter
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        if job.outcome.error is not None:
            raise job.outcome.error
        return job.outcome.change

    def close(self) -> None:
        """Finish what was submitted, then end the thread."""
        self._thread.shutdown(wait=True)

    def _submit(self, job: Job) -> None:
        with self._lock:
            self._jobs.append(job)
            if self._draining:
                return
            self._draining = True
            try:
                self._thread.submit(self._drain)
            except RuntimeError:  # it was closed: a job that nobody takes is waited for forever
                self._jobs.pop()
                self._draining = False
                raise

    def _drain(self) -> None:
        while group := self._next_group():
            for job, outcome in zip(group, _run_together(group), strict=True):
                self._done.setdefault(job.loop, deque()).append((job, outcome))
            for loop in {job.loop for job in group}:
                with suppress(RuntimeError):  # a loop that was closed meanwhile waits for nothing
                    loop.call_soon_threadsafe(_settle_some, loop, self._done[loop])

    def _next_group(self) -> list[Job]:
        """The next job, with the appends to the same log that wait right behind it."""
        with self._lock:
            if not self._jobs:
                self._draining = False
                return []
            first = self._jobs.popleft()
            group = [first]
            while first.run is None and self._jobs and len(group) < _LARGEST_GROUP:
                if self._jobs[0].run is not None or self._jobs[0].tail is not first.tail:
                    break
                group.append(self._jobs.popleft())
            return group


def _run_together(group: Sequence[Job]) -> list[Outcome]:
    """Run one call, or appends to one log; whatever goes wrong is for the callers to hear."""
    tail, run = group[0].tail, group[0].run
    results: Sequence[Change | BaseException]
    try:
        if run is None:
            durable = any(job.durability is Durability.D1 for job in group)
            durability = Durability.D1 if durable else Durability.D0
            results = tail.append([job.records for job in group], durability)
        else:
            results = [run()]
    except BaseException as error:
        results = [error] * len(group)
    if not any(isinstance(result, BaseException) for result in results):
        return [Outcome(result) for result in results if isinstance(result, Change)]
    seen = _catch_up(tail)
    return [
        Outcome(seen, result) if isinstance(result, BaseException) else Outcome(result)
        for result in results
    ]


def _catch_up(tail: LogWriter) -> Change:
    try:
        return tail.catch_up()
    except Exception:  # whatever it is, the thread must live on for the next job
        return Change()  # what failed is already on its way to the caller


def _settle_some(loop: asyncio.AbstractEventLoop, done: deque[tuple[Job, Outcome]]) -> None:
    """Settle what is done, a little at a time, so that keys are answered in between."""
    try:
        for _ in range(min(len(done), _SETTLED_AT_ONCE)):
            job, outcome = done.popleft()
            job.outcome = outcome
            job.settle(outcome)
            if job.waiter is not None:
                with suppress(asyncio.InvalidStateError):  # its task was cancelled: it looks again
                    job.waiter.set_result(None)
    finally:  # a signal may break in anywhere; those behind must not wait forever
        if done:
            loop.call_soon(_settle_some, loop, done)


def free_later(state: SessionState) -> None:
    """Free a state that a loop is done with in a thread, bit by bit: it may hold many records."""
    asyncio.get_running_loop().run_in_executor(None, _free, [state])


def _free(states: list[SessionState]) -> None:
    entries = list(states.pop().all_entries)
    while entries:
        del entries[-_FREED_AT_ONCE:]
        time.sleep(0)
