"""Layer "model": random stories with deaths, against a model of a dozen lines in memory."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agent_tui.core.records import AssistantMessage, Record, UserMessage
from agent_tui.sessions.archive import finished_archives
from agent_tui.sessions.session_log import SessionLog
from tests.faults.acts import ACTS, D0, D1, HISTORY, Act, can, open_session
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Died, Fault, Shim
from tests.faults.snapshot import LIVE, Snapshot, put, take
from tests.faults.verdict import memory_against_disk, recover

LAYER = "model"
TEXTS = st.text(st.characters(exclude_categories=()), max_size=30)
ACT_NAMES = st.sampled_from([*ACTS])


class SessionStory(RuleBasedStateMachine):
    """The model: the lines of the live log, and the bytes of each archive.

    An act extends the lines or begins them anew; each rotation adds the old bytes as an archive.
    """

    scratch: Path
    outcome: Outcome

    @initialize()
    def begin(self) -> None:
        self.place = tempfile.TemporaryDirectory(dir=self.scratch)
        self.folder = put(Snapshot({LIVE: HISTORY}), Path(self.place.name) / "s1")
        self.runner = asyncio.Runner()
        self.shim = Shim()
        self.session = open_session(self.folder)
        self.live = HISTORY
        self.archives: dict[int, bytes] = {}
        self.outcome.count("stories")

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.runner.run(self.session.close())
            self.runner.close()
            self.place.cleanup()

    @rule(texts=st.lists(TEXTS, min_size=1, max_size=3), durable=st.booleans())
    def append(self, texts: list[str], durable: bool) -> None:
        records: list[Record] = [
            UserMessage(text) if number % 2 else AssistantMessage(text)
            for number, text in enumerate(texts)
        ]
        durability = D1 if durable else D0
        self.runner.run(_append(self.session, records, durability))
        self._extended(len(records))

    @rule(name=ACT_NAMES)
    def act(self, name: str) -> None:
        if not can(ACTS[name], self.session):
            return
        self.runner.run(_do(self.session, ACTS[name], Shim(), None))
        self._done(ACTS[name])

    @rule(name=ACT_NAMES, at=st.integers(1, 45), kept=st.integers(0, 200))
    def die_in(self, name: str, at: int, kept: int) -> None:
        """The process ends at a call of an act, perhaps in the middle of a write."""
        act = ACTS[name]
        if not can(act, self.session):
            return
        fault = Fault(at, "die")
        shim = Shim()
        with shim.in_place():
            self.runner.run(self.session.close())
            self.session = open_session(self.folder)
            died = self.runner.run(_do(self.session, act, shim, fault))
            if died:
                shim.bury()
        if not died:
            self.session = open_session(self.folder)
            self._done(act)
            return
        self.outcome.count("deaths")
        assert not recover(self.folder)
        found = take(self.folder)
        self.session = open_session(self.folder)
        if act.name == "prune":
            assert found.live == self.live
            assert found.archives.items() <= self.archives.items()
            self.archives = found.archives
        elif found.archives == self.archives:
            self._extended(None)
        else:
            self._done(act)

    @precondition(lambda self: self.live.endswith(b"\n"))
    @rule(tail=st.binary(min_size=1, max_size=20).map(lambda b: b.replace(b"\n", b"?")))
    def tear(self, tail: bytes) -> None:
        """Another process died while it appended."""
        self.runner.run(self.session.close())
        with (self.folder / LIVE).open("ab") as log:
            log.write(b'{"role":' + tail)
        self.session = open_session(self.folder)
        self.live += b'{"role":' + tail

    @rule()
    def reopen(self) -> None:
        self.runner.run(self.session.close())
        self.session = open_session(self.folder)

    @invariant()
    def memory_and_disk_are_the_model(self) -> None:
        if not hasattr(self, "session"):
            return
        self.outcome.count("steps")
        found = take(self.folder)
        assert found.live == self.live
        assert found.archives == self.archives
        assert not found.leftovers
        assert finished_archives(self.folder) == sorted(self.archives)
        assert not memory_against_disk(self.session)

    def _done(self, act: Act) -> None:
        match act.kind:
            case "append":
                self._extended(None)
            case "prune":
                self.archives = dict([max(self.archives.items())])
            case "replace":
                self._rotated(act)

    def _extended(self, lines: int | None) -> None:
        """The log grew by lines, and nothing before them changed."""
        live = (self.folder / LIVE).read_bytes()
        healed = self.live if self.live.endswith(b"\n") else self.live + b"\n"
        if live != self.live:
            assert live.startswith(healed)
            assert lines is None or live[len(healed) :].count(b"\n") == lines
        self.live = live

    def _rotated(self, act: Act) -> None:
        """There is one new archive, and it is the old log, byte for byte."""
        found = take(self.folder)
        number = max(self.archives, default=0) + 1
        old = found.archives.get(number, b"")
        if act.name == "compact late":  # what was appended meanwhile is in the archive, too
            assert old.startswith(self.live)
            assert b"meanwhile" in old[len(self.live) :]
        else:
            assert old == self.live
        assert found.live is not None
        if act.name == "restore":
            assert found.live.startswith(self.archives[number - 1])
        kept = [line for line in found.live.split(b"\n")[:-1] if line in old.split(b"\n")]
        assert len(found.live.split(b"\n")) - 1 - len(kept) <= 4 or act.name == "restore"
        self.archives[number] = old
        self.live = found.live


async def _append(session: SessionLog, records: list[Record], durability: Any) -> None:
    await session.append(*records, durability=durability)


async def _do(session: SessionLog, act: Act, shim: Shim, fault: Fault | None) -> bool:
    """Do an act, with a death if a fault is given; whether the process died."""
    token = await act.prepare(session) if act.prepare else None
    shim.arm(fault)
    try:
        await act.run(session, token)
    except Died:
        return True
    shim.disarm()
    if fault is not None:
        await session.close()
    return False


def run(effort: Effort) -> Outcome:
    """300 stories of 40 steps, 90 in the short form; a few short ones against a mutant."""
    outcome = Outcome(LAYER)
    examples, steps = (25, 20) if effort.first_only else (300 if effort.full else 90, 40)

    class Story(SessionStory):
        pass

    Story.scratch = effort.scratch
    Story.outcome = outcome
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate] if effort.first_only else [Phase.generate, Phase.shrink],
        suppress_health_check=[*HealthCheck],
        print_blob=False,
    )
    with timed(outcome):
        try:
            run_state_machine_as_test(Story, settings=chosen)
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", []))
            outcome.find("a story", [f"{error!r} {notes}"])
    return outcome
