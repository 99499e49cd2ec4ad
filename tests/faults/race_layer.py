"""Layer "two windows": while one discards or deletes a session, another one may write in it.

The first window is stopped after every call, and at every pair of calls, and the other one goes on;
then the other way round. Nothing that was acknowledged may go with the session.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from agent_tui.core.errors import AgentTuiError, SessionBusy
from agent_tui.core.records import UserMessage
from agent_tui.sessions import lock
from agent_tui.sessions.lock import FolderLock
from agent_tui.sessions.log import LogFile
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import SessionStore
from tests.faults.acts import D1, HISTORY, SMALL, open_store, steady_ids
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Shim
from tests.faults.snapshot import LIVE, Snapshot, put

LAYER = "two windows"
SESSION = "s1"
_LINES = HISTORY.splitlines(keepends=True)
_HEADER, _PROMPT, _ASKED, _BAD, _ANSWER = _LINES[0], _LINES[1], _LINES[3], _LINES[4], _LINES[5]
_LEFT = b'{"role":"_head","to":"h"}\n'
QUIET = Snapshot({LIVE: _HEADER + _PROMPT})
SPOKEN = {
    "a question": Snapshot({LIVE: _HEADER + _PROMPT + _ASKED}),
    "an answer": Snapshot({LIVE: _HEADER + _ANSWER}),
    "on a branch that was left": Snapshot({LIVE: _HEADER + _ASKED + _ANSWER + _LEFT}),
    "before a revert": Snapshot({LIVE: _HEADER + _PROMPT, f"{LIVE}.1": SMALL.files[LIVE]}),
    "in a line that cannot be read": Snapshot({LIVE: _HEADER + _BAD}),
    "in a line that was torn": Snapshot({LIVE: _HEADER + _ASKED[:-20]}),
    "by a later version": Snapshot({LIVE: _HEADER + _LINES[-1]}),
}


@dataclass(slots=True)
class Window:
    """A process with a store, and what it was told that it said."""

    root: Path
    runner: asyncio.Runner
    session: SessionLog | None = None
    said: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def store(self) -> SessionStore:
        return open_store(self.root)

    def do(self, step: Step) -> None:
        """Do something; a refusal in words is an answer like any other."""
        try:
            step(self)
        except AgentTuiError:
            pass
        except Exception as error:
            self.broken.append(f"a raw {type(error).__name__} came out: {error}")

    def discard(self) -> None:
        self.store._discard(SESSION)

    def delete(self) -> None:
        self.store._delete(SESSION)

    def restore(self) -> None:
        self.store._undelete(self.store.place_of_deleted(SESSION))

    def make(self) -> None:
        self.store._make_session(self.root / "projects" / "-w" / SESSION, [QUIET.files[LIVE]])

    def open(self) -> None:
        store = self.store
        self.session = store._open(store.find(SESSION), "")

    def say(self) -> None:
        if self.session is not None:
            self.runner.run(self.session.append(UserMessage("do not lose me"), durability=D1))
            self.said.append("do not lose me")

    def close(self) -> None:
        if self.session is not None:
            self.runner.run(self.session.close())


Step = Callable[[Window], None]
FIRSTS: tuple[Step, ...] = (Window.discard, Window.delete)
SECONDS: tuple[tuple[Step, ...], ...] = (
    (Window.open, Window.say, Window.close),
    (Window.discard, Window.make, Window.open, Window.say, Window.close),
    (Window.delete, Window.restore, Window.open, Window.say, Window.close),
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Who runs when.

    Attributes:
        steps: what one window does.
        cuts: what the other one does, by the call of the first that it follows, counted from 1.
    """

    name: str
    steps: tuple[Step, ...]
    cuts: dict[int, tuple[Step, ...]]


def run(effort: Effort) -> Outcome:
    """Keep what was said however it is read; then cut two windows into each other."""
    outcome = Outcome(LAYER)
    # Nobody else runs while a window waits here for the other to be done.
    at_once = mock.patch.object(lock, "time", _PassingTime())
    with timed(outcome), asyncio.Runner() as runner, steady_ids(), at_once:
        stage = _Stage(effort.scratch / "store", runner)
        for how, session in SPOKEN.items():
            outcome.count("sessions kept")
            outcome.find(f"something was said {how}", stage.keep(session))
        outcome.find("nothing was said", stage.clear_away())
        outcome.find("a lock is held", stage.wait_in_vain())
        seconds = SECONDS[:2] if effort.first_only else SECONDS
        for first, second in itertools.product(FIRSTS, seconds):
            places = ("projects",) if first is Window.discard else ("projects", "trash")
            for schedule in stage.schedules(first, second, effort.full):
                outcome.count("interleavings")
                outcome.find(schedule.name, stage.play(schedule, places))
                if outcome.findings and effort.first_only:
                    return outcome
        outcome.count("acknowledged", stage.acknowledged)
    return outcome


class _PassingTime:
    """A clock that waiting moves on at once."""

    def __init__(self) -> None:
        self._now = 0.0

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds


class _Stage:
    """A store with one quiet session, again and again."""

    def __init__(self, root: Path, runner: asyncio.Runner) -> None:
        self.root = root
        self.acknowledged = 0
        self._runner = runner

    def _window(self) -> Window:
        return Window(self.root, self._runner)

    def _put(self, session: Snapshot) -> None:
        files = {f"projects/-w/{SESSION}/{name}": data for name, data in session.files.items()}
        put(Snapshot(files), self.root)

    def keep(self, session: Snapshot) -> list[str]:
        """I1: discard leaves a session alone in which something was said."""
        self._put(session)
        window = self._window()
        window.do(Window.discard)
        there = {path.name: path.read_bytes() for path in self._logs("projects")}
        return window.broken + ([] if there == {LIVE: session.files[LIVE]} else ["it is gone"])

    def clear_away(self) -> list[str]:
        """Discard takes a session away in which nothing was said."""
        self._put(QUIET)
        window = self._window()
        window.do(Window.discard)
        return window.broken + (["it is not discarded"] if self._logs("projects", "trash") else [])

    def wait_in_vain(self) -> list[str]:
        """I20: a lock that is held long is not stolen, and nothing is written without it."""
        self._put(QUIET)
        folder = self.root / "projects" / "-w" / SESSION
        holder, file = FolderLock(folder), LogFile(folder, lock_timeout_seconds=0.05)
        holder.acquire()
        try:
            file.append(_ASKED, D1)
        except SessionBusy:
            sound = (folder / LIVE).read_bytes() == QUIET.files[LIVE]
            return [] if sound else ["it was written all the same"]
        finally:
            file.close()
            holder.close()
        return ["it was written without the lock"]

    def schedules(self, first: Step, second: tuple[Step, ...], full: bool) -> Iterator[Schedule]:
        """One window whole after every call of the other; or speaking only after a later call."""
        names = f"{first.__name__} / {', '.join(step.__name__ for step in second)}"
        calls = self._count((first,))
        for at in range(1, calls + 1):
            yield Schedule(f"{names}, at {at}", (first,), {at: second})
        for at in range(1, self._count(second) + 1):
            yield Schedule(f"{names}, the other way round at {at}", second, {at: (first,)})
        if first is not Window.discard and not full:
            return
        *begin, say, close = second
        for at, then in itertools.combinations(range(1, calls + 1), 2):
            cuts = {at: tuple(begin), then: (say, close)}
            yield Schedule(f"{names}, at {at} and {then}", (first,), cuts)

    def _count(self, steps: tuple[Step, ...]) -> int:
        self._put(QUIET)
        return self._run(Schedule("", steps, {}), self._window(), self._window())

    def play(self, schedule: Schedule, places: Sequence[str]) -> list[str]:
        """I1: what was acknowledged is still there, in one of these places."""
        self._put(QUIET)
        windows = self._window(), self._window()
        self._run(schedule, *windows)
        broken = [*windows[0].broken, *windows[1].broken]
        said = [text for window in windows for text in window.said]
        self.acknowledged += len(said)
        there = b"".join(path.read_bytes() for path in self._logs(*places))
        return broken + [f"{text!r} is gone" for text in said if text.encode() not in there]

    def _run(self, schedule: Schedule, one: Window, other: Window) -> int:
        calls = 0
        is_cut = False

        def watch(*_: Any) -> None:
            nonlocal calls, is_cut
            if is_cut:
                return
            calls += 1
            is_cut = True
            for step in schedule.cuts.get(calls, ()):
                other.do(step)
            is_cut = False

        with Shim(watch=watch).in_place():
            for step in schedule.steps:
                one.do(step)
        return calls

    def _logs(self, *places: str) -> list[Path]:
        return [path for place in places for path in sorted((self.root / place).rglob(LIVE))]
