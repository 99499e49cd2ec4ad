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
from typing import Generic, TypeAlias, TypeVar

from agent_tui.core.records import Record
from agent_tui.sessions.log import Durability
from agent_tui.sessions.tail import Change, Tail

T = TypeVar("T")
_LARGEST_GROUP = 256

Settle: TypeAlias = Callable[[T], object]


@dataclass(frozen=True, slots=True)
class Append:
    """Records of one caller for one log."""

    tail: Tail
    records: Sequence[Record]
    durability: Durability
    settle: Settle[Change]
    future: asyncio.Future[Change]


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """Anything else that must wait its turn behind the writes before it."""

    run: Callable[[], T]
    settle: Settle[T]
    future: asyncio.Future[T]


Job: TypeAlias = Append | Call[Change]
Outcome: TypeAlias = Change | BaseException


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
        settle: Settle[Change],
    ) -> Change:
        """Write records; returns when they are as durable as asked and settled."""
        future: asyncio.Future[Change] = asyncio.get_running_loop().create_future()
        self._submit(Append(tail, records, durability, settle, future))
        return await _settled(future)

    async def call(self, run: Callable[[], Change], settle: Settle[Change]) -> Change:
        """Run something in the writer thread, after all that was submitted before."""
        future: asyncio.Future[Change] = asyncio.get_running_loop().create_future()
        self._submit(Call(run, settle, future))
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
            first = group[0]
            outcomes: Sequence[Outcome]
            if isinstance(first, Append):
                outcomes = _append_together(first.tail, [j for j in group if isinstance(j, Append)])
            else:
                outcomes = [_outcome_of(first.run)]
            _deliver(group, outcomes)

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


def _append_together(tail: Tail, group: Sequence[Append]) -> Sequence[Outcome]:
    durable = any(job.durability is Durability.D1 for job in group)
    try:
        return tail.append(
            [job.records for job in group], Durability.D1 if durable else Durability.D0
        )
    except BaseException as error:
        return [error] * len(group)


def _outcome_of(run: Callable[[], Change]) -> Outcome:
    try:
        return run()
    except BaseException as error:
        return error


def _deliver(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> None:
    pairs = zip(jobs, outcomes, strict=True)
    for loop, settled in groupby(pairs, key=lambda pair: pair[0].future.get_loop()):
        with suppress(RuntimeError):  # a loop that was closed meanwhile waits for nothing
            loop.call_soon_threadsafe(_settle_all, list(settled))


def _settle_all(settled: Sequence[tuple[Job, Outcome]]) -> None:
    for job, outcome in settled:
        if isinstance(outcome, BaseException):
            job.future.set_exception(outcome)
        else:
            job.settle(outcome)
            job.future.set_result(outcome)


async def _settled(future: asyncio.Future[T]) -> T:
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
