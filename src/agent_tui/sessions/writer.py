"""One thread that does every write of a store, in order; appends that wait share a flush."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import Record
from agent_tui.sessions.log import Durability
from agent_tui.sessions.tail import Change, Tail

_LARGEST_GROUP = 256


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job; a failed one may carry a change too, so that memory follows disk."""

    change: Change
    error: BaseException | None = None


Settle: TypeAlias = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Append:
    """Records of one caller for one log."""

    tail: Tail
    records: Sequence[Record]
    durability: Durability
    settle: Settle
    future: asyncio.Future[Change]


@dataclass(frozen=True, slots=True)
class Call:
    """Anything else that must wait its turn behind the writes before it."""

    tail: Tail
    run: Callable[[], Change]
    settle: Settle
    future: asyncio.Future[Change]


Job: TypeAlias = Append | Call


class Writer:
    """Takes jobs from event loops and settles each on its own loop, in the order they were given.

    ``settle`` runs on the loop before the future is done, whether or not anybody still waits for
    it: what reached the disk reaches the memory, and in the same order.
    """

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="session-writer")
        self._lock = threading.Lock()
        self._draining = False

    async def append(
        self,
        tail: Tail,
        records: Sequence[Record],
        durability: Durability,
        settle: Settle,
    ) -> Change:
        """Write records; returns when they are as durable as asked and settled."""
        future: asyncio.Future[Change] = asyncio.get_running_loop().create_future()
        self._submit(Append(tail, records, durability, settle, future))
        return await _settled(future)

    async def call(self, tail: Tail, run: Callable[[], Change], settle: Settle) -> Change:
        """Run something in the writer thread, after all that was submitted before."""
        future: asyncio.Future[Change] = asyncio.get_running_loop().create_future()
        self._submit(Call(tail, run, settle, future))
        return await _settled(future)

    def close(self) -> None:
        """Finish what was submitted, then end the thread."""
        self._thread.shutdown(wait=True)

    def _submit(self, job: Job) -> None:
        with self._lock:
            self._jobs.append(job)
            if self._draining:
                return
            self._draining = True
        self._thread.submit(self._drain)

    def _drain(self) -> None:
        while group := self._next_group():
            _deliver(group, _run_together(group))

    def _next_group(self) -> list[Job]:
        """The next job, with the appends to the same log that wait right behind it."""
        with self._lock:
            if not self._jobs:
                self._draining = False
                return []
            group = [self._jobs.popleft()]
            while isinstance(group[0], Append) and len(group) < _LARGEST_GROUP and self._jobs:
                follower = self._jobs[0]
                if not isinstance(follower, Append) or follower.tail is not group[0].tail:
                    break
                group.append(self._jobs.popleft())
            return group


def _run_together(group: Sequence[Job]) -> list[Outcome]:
    """Run one call, or appends to one log; whatever goes wrong is for the callers to hear."""
    tail = group[0].tail
    results: Sequence[Change | BaseException]
    try:
        match group[0]:
            case Append():
                appends = [job for job in group if isinstance(job, Append)]
                durable = any(job.durability is Durability.D1 for job in appends)
                durability = Durability.D1 if durable else Durability.D0
                results = tail.append([job.records for job in appends], durability)
            case Call() as call:
                results = [call.run()]
    except BaseException as error:
        results = [error] * len(group)
    if not any(isinstance(result, BaseException) for result in results):
        return [Outcome(result) for result in results if isinstance(result, Change)]
    seen = _catch_up(tail)
    return [
        Outcome(seen, result) if isinstance(result, BaseException) else Outcome(result)
        for result in results
    ]


def _catch_up(tail: Tail) -> Change:
    try:
        return tail.catch_up()
    except AgentTuiError:
        return Change()  # what failed is already on its way to the caller


def _deliver(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> None:
    pairs = zip(jobs, outcomes, strict=True)
    for loop, settled in groupby(pairs, key=lambda pair: pair[0].future.get_loop()):
        with suppress(RuntimeError):  # a loop that was closed meanwhile waits for nothing
            loop.call_soon_threadsafe(_settle_all, list(settled))


def _settle_all(settled: Sequence[tuple[Job, Outcome]]) -> None:
    for job, outcome in settled:
        job.settle(outcome)
        if outcome.error is not None:
            job.future.set_exception(outcome.error)
        else:
            job.future.set_result(outcome.change)


async def _settled(future: asyncio.Future[Change]) -> Change:
    """Wait for a write even when the waiting task is cancelled; then pass the cancellation on."""
    cancelled: asyncio.CancelledError | None = None
    while True:
        try:
            result = await asyncio.shield(future)
        except asyncio.CancelledError as error:
            cancelled = error
            if not future.done():
                continue
        if cancelled is not None:
            raise cancelled
        return result
