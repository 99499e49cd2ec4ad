"""The real program in a pty, asking a server on loopback, timed key by key."""

from __future__ import annotations

import asyncio
import json
import os
import select
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import pexpect

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    SessionHeader,
    SystemPrompt,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.sessions.log import Durability
from agent_tui.sessions.store import SessionStore
from tests.terminal import PROGRAM, environment

ROOT = Path(__file__).parents[2]
LETTERS = [chr(n) for n in range(0x100, 0x180)]
_CLEAR = "\x15"
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """The benchmark's chat server in a process of its own; ``events`` says what happened when."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.chat_server"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert self._process.stdout is not None
        self.port = int(json.loads(self._process.stdout.readline())["port"])
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.events.append(json.loads(line))

    def times(self, event: str) -> list[float]:
        """When each event of a kind was."""
        return [seen["at"] for seen in self.events if seen["event"] == event]

    @property
    def settings(self) -> dict[str, str]:
        """The environment by which the program finds it."""
        return {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"http://127.0.0.1:{self.port}/v1"}

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(10)


@dataclass
class Key:
    """One key that was pressed: when, and how long until it was drawn.

    ``waited`` is how much of that the machine gave to others, while those who bring a key to the
    screen were ready to run; ``used`` is what the program's main thread used of the processor.
    ``beside`` is the share of it that what streams meanwhile takes, keys or none: the longer a key
    waits for the machine, the more of that lies in between.
    """

    at: float
    milliseconds: float
    waited: float = 0.0
    used: float = 0.0
    beside: float = 0.0

    @property
    def held(self) -> float:
        """How long the program itself let the key wait."""
        waited = min(self.waited, self.milliseconds)
        return max(self.used - self.beside * waited, self.milliseconds - waited)

    @property
    def held_raw(self) -> float:
        """The same with all that the main thread did meanwhile, also for what streams."""
        return max(self.used, self.milliseconds - self.waited)


@dataclass(frozen=True)
class Share:
    """Milliseconds of the processor that a thread used, and for which it was ready and waited."""

    used: float
    waited: float

    @classmethod
    def of(cls, path: Path) -> Share:
        """As Linux counts it; nothing where it does not, or where the thread is gone."""
        try:
            used, waited, _ = path.read_text(encoding="ascii").split()
        except (OSError, ValueError):
            return cls(0.0, 0.0)
        return cls(int(used) / 1e6, int(waited) / 1e6)


@dataclass
class Program:
    """``agent-tui`` in a pty of 120 by 40."""

    arguments: list[str]
    env: dict[str, str]
    cwd: Path
    keys: list[Key] = field(default_factory=list)
    beside: float = 0.0
    _pressed: int = 0
    _seen: bytes = b""

    def __post_init__(self) -> None:
        settled = self.env | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        self.began = time.perf_counter()
        self.child = pexpect.spawn(
            str(PROGRAM),
            self.arguments,
            env=settled,
            cwd=str(self.cwd),
            dimensions=(40, 120),
            timeout=60,
            maxread=65536,
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.child.close(force=True)
        except pexpect.ExceptionPexpect:  # killed, but gigabytes are not given back at once
            os.waitpid(self.child.pid or 0, 0)

    def send(self, text: str) -> None:
        """Write to the pty."""
        os.write(self.child.child_fd, text.encode())

    def read(self, seconds: float) -> bytes:
        """What is drawn next, at the latest after so long."""
        ready, _, _ = select.select([self.child.child_fd], [], [], max(0.0, seconds))
        data = os.read(self.child.child_fd, 65536) if ready else b""
        self._seen = self._seen[-4_000:] + data
        return data

    def drain(self, seconds: float) -> None:
        """Read what is drawn for a while."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.read(left)

    def until(self, text: str, seconds: float = 60) -> float:
        """When a text was drawn."""
        wanted = text.encode()
        until = time.perf_counter() + seconds
        while wanted not in self._seen:
            if time.perf_counter() > until:
                raise TimeoutError(f"{text!r} was not drawn within {seconds} s")
            self.read(0.2)
        return time.perf_counter()

    def forget(self) -> None:
        """What was drawn so far is no answer to what comes."""
        self._seen = b""

    def quiet(self, seconds: float = 1.0, most: float = 60) -> None:
        """Wait until the program has used next to no processor for a while."""
        until = time.perf_counter() + most
        while time.perf_counter() < until:
            before = self.cpu_seconds
            self.drain(seconds)
            if self.cpu_seconds - before < 0.06 * seconds:
                return

    def clear(self) -> None:
        """Empty the prompt, and begin to time keys anew."""
        self.send(_CLEAR)
        self.drain(0.1)
        self.keys.clear()
        self._pressed = 1

    def key(self) -> Key:
        """Press a letter and wait until it is drawn."""
        if self._pressed % len(LETTERS) == 0:
            self.send(_CLEAR)
            self.drain(0.05)
        letter = LETTERS[self._pressed % len(LETTERS)]
        self._pressed += 1
        self._seen = b""
        before, began = self.shares(), time.perf_counter()
        self.send(letter)
        self.until(letter, 30)
        key = self.timed(began, time.perf_counter(), before)
        self.keys.append(key)
        return key

    @property
    def cpu_seconds(self) -> float:
        """Processor time that the program has used."""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def shares(self) -> dict[str, Share]:
        """What the machine gave to each of its threads so far, and to the one that measures."""
        threads = Path(f"/proc/{self.child.pid}/task")
        found = {path.name: Share.of(path / "schedstat") for path in threads.glob("*")}
        return found | {"here": Share.of(Path("/proc/thread-self/schedstat"))}

    def used_ms(self) -> float:
        """Milliseconds of the processor that its threads have used so far."""
        return sum(share.used for name, share in self.shares().items() if name != "here")

    def timed(self, began: float, ended: float, before: dict[str, Share]) -> Key:
        """What took from one time to another, with what it waited for the machine since ``before``.

        Those who bring a key to the screen wait one after the other: the main thread, the one that
        measures, and of those that read and write the terminal at least the one that waited most.
        """
        after, none = self.shares(), Share(0.0, 0.0)
        waits = {
            name: share.waited - before.get(name, none).waited for name, share in after.items()
        }
        main = str(self.child.pid)
        first = waits.pop(main, 0.0) + waits.pop("here", 0.0)
        used = after.get(main, none).used - before.get(main, none).used
        waited = first + max(waits.values(), default=0.0)
        return Key(began, (ended - began) * 1000, waited, used, self.beside)

    def note_what_streams(self, seconds: float = 2.0) -> None:
        """Measure what the main thread takes of the processor now, while no key is pressed."""
        main, began = str(self.child.pid), time.perf_counter()
        before = self.shares()[main].used
        self.drain(seconds)
        took = (time.perf_counter() - began) * 1000
        self.beside = (self.shares()[main].used - before) / took

    @property
    def memory_mb(self) -> float:
        """The resident set."""
        return resident_mb(self.child.pid or 0)


def resident_mb(pid: int) -> float:
    """The resident set of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def judge(figures: dict[str, Any], key: str, limit: float, **more: float) -> bool:
    """Print a figure with its limit as a JSON line, and say whether it holds.

    ``more`` are limits of other figures of the same line, by their names.
    """
    limits = {key: limit} | more
    holds = all(figures[each] <= most for each, most in limits.items())
    told = {f"limit_{each}": most for each, most in limits.items()}
    print(json.dumps(figures | told | {"holds": holds}), flush=True)
    return holds


def key_figures(keys: Sequence[Key]) -> dict[str, Any]:
    """How long keys took, and how long the program itself let them wait."""
    times = [key.milliseconds for key in keys] or [0.0]
    return {
        "keys": len(keys),
        "p50_ms": round(statistics.median(times), 1),
        "max_ms": round(max(times), 1),
        "held_p50_ms": round(statistics.median([key.held for key in keys] or [0.0]), 1),
        "held_max_ms": round(max((key.held for key in keys), default=0.0), 1),
        "held_raw_p50_ms": round(statistics.median([key.held_raw for key in keys] or [0.0]), 1),
        "held_raw_max_ms": round(max((key.held_raw for key in keys), default=0.0), 1),
    }


def slowest(keys: Sequence[Key]) -> float:
    """The longest that the program itself held one of these keys, in milliseconds."""
    return max((key.held for key in keys), default=0.0)


def calmest(measure: Callable[[], list[Key]], limit: float, tries: int) -> list[Key]:
    """What is measured, again where a key was held for longer: others use this machine, too.

    It may take the processor in ways that the threads are not told of; the calmest try counts.
    """
    tried = [measure()]
    while slowest(tried[-1]) > limit and len(tried) < tries:
        tried.append(measure())
    return min(tried, key=slowest)


def conversation(count: int) -> list[Record]:
    """Records of so many messages: prompts, calls, results and answers."""
    records: list[Record] = []
    checkpoint = 0
    for turn in range(1, count // 4 + 1):
        call = ToolCall(f"old-{turn}", "read_file", json.dumps({"path": f"src/part_{turn}.py"}))
        records += [
            Checkpoint(checkpoint, turn, 0),
            UserMessage(f"Please look at part {turn} and say what is wrong.", "human", turn),
            Checkpoint(checkpoint + 1, turn, 1),
            AssistantMessage("I read the file.", (call,), turn=turn),
            ToolMessage(call.id, f"line {turn}: value = compute({turn})\n" * 6, turn=turn),
            Checkpoint(checkpoint + 2, turn, 2),
            AssistantMessage(
                f"Part {turn} is **right** but for `compute`, which is called twice.", turn=turn
            ),
            UsageRecord(1_000 + turn),
        ]
        checkpoint += 3
    return records


async def _write_session(home: Path, workspace: Path, session_id: str, count: int) -> None:
    store = SessionStore(home)
    log = await store.create(SessionHeader(session_id, str(workspace), "2026-01-01T00:00:00Z", "1"))
    records = [SystemPrompt("You are a careful agent. " * 20), *conversation(count)]
    for start in range(0, len(records), 5_000):
        await log.append(*records[start : start + 5_000], durability=Durability.D0)
    await log.close()
    await store.aclose()


def make_session(home: Path, workspace: Path, count: int) -> str:
    """A session of so many messages on disk; its id."""
    session_id = f"bench-{count}"
    asyncio.run(_write_session(home, workspace, session_id, count))
    return session_id


def make_home(folder: Path, server: Server, config: str = "") -> tuple[Path, Path, dict[str, str]]:
    """A data folder, a workspace and an environment; nothing is compacted by itself."""
    home, workspace = folder / "home", folder / "workspace"
    home.mkdir()
    workspace.mkdir()
    (home / "config.toml").write_text(config or "[context]\nauto_compact = false\n")
    return home, workspace, environment(home) | server.settings
