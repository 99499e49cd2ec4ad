"""The real program killed again and again in turns that overflow: the same session always goes on.

Every life continues the session that the one before left behind, so each kill is followed by a
reopening, whose requests and files are checked.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pexpect
import pytest

from tests.e2e import long_read
from tests.e2e.stage import LIVE, Stage, assert_valid, is_summary_request, quit_by_command
from tests.providers.sse_server import Answer, Seen, SseServer
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.timeout(600)

MID_ANSWER_SECONDS = 0.03


@dataclass
class Life:
    """One run of the program, as seen from outside: since its start."""

    stage: Stage
    server: SseServer
    requests: int
    lines: int
    archives: int

    @classmethod
    def begin(cls, stage: Stage, server: SseServer) -> Life:
        return cls(stage, server, len(server.requests), _lines(stage), len(_archives(stage)))

    def asked(self, count: int) -> bool:
        """Whether the server was asked so often."""
        return len(self.server.requests) - self.requests >= count

    def summarising(self) -> bool:
        """Whether the server was asked for a summary."""
        return any(map(is_summary_request, self.server.requests[self.requests :]))

    def grown(self, lines: int) -> bool:
        """Whether the log has grown by so many lines, or became another one."""
        return _lines(self.stage) - self.lines >= lines or self.rotated()

    def rotated(self) -> bool:
        """Whether there is one archive more, and the log is another."""
        return len(_archives(self.stage)) > self.archives

    def rotating(self) -> bool:
        """Whether a rotation has at least started."""
        return self.rotated() or (self.asked(1) and len(_archives(self.stage, started=True)) > 0)


Moment = tuple[str, Callable[[Life], bool], float]
"""A name, when it has come, and how many seconds later the program is killed."""

MOMENTS: tuple[Moment, ...] = (
    *((f"at line {n}", lambda life, n=n: life.grown(n), 0.0) for n in (1, 3, 6)),
    *((f"at request {n}", lambda life, n=n: life.asked(n), 0.0) for n in (1, 3)),
    *((f"in answer {n}", lambda life, n=n: life.asked(n), 0.04) for n in (1,)),
    *((f"{s} s into the summary", Life.summarising, s) for s in (0.0, 0.03, 0.05)),
    *(("in the rotation", Life.rotating, s) for s in (0.0, 0.0, 0.002)),
    *((f"{s} s after the rotation", Life.rotated, s) for s in (0.0, 0.02)),
)


def _folder(stage: Stage) -> Path | None:
    """The session's folder; the one beside it holds the contents of files."""
    logs = stage.home.glob(f"projects/*/*/{LIVE}*")
    return next((path.parent for path in logs), None)


def _lines(stage: Stage) -> int:
    folder = _folder(stage)
    try:
        return (folder / LIVE).read_bytes().count(b"\n") if folder else 0
    except FileNotFoundError:
        return 0


def _archives(stage: Stage, *, started: bool = False) -> list[Path]:
    """The archives, or else the one that a rotation has only started: it is the live log still."""
    folder = _folder(stage)
    if folder is None:
        return []
    names = [path for path in folder.glob(f"{LIVE}.*") if path.suffix[1:].isdecimal()]
    try:
        return [path for path in names if path.samefile(folder / LIVE) == started]
    except FileNotFoundError:  # a rotation ended meanwhile
        return []


def read_until_compacted(life: Life, seen: Seen) -> Answer:
    """In each life the model reads part after part until the context was compacted."""
    if is_summary_request(seen):
        return long_read.summarise(MID_ANSWER_SECONDS)
    if life.summarising():
        return long_read.end(MID_ANSWER_SECONDS)
    return long_read.read_part(len(life.server.requests), MID_ANSWER_SECONDS)


def kill_at(life: Life, moment: Moment, *arguments: str) -> None:
    """Start the program with a prompt, and kill it at its moment."""
    _, has_come, later = moment
    with life.stage.open(*arguments, long_read.PROMPT) as terminal:
        until = time.monotonic() + PATIENCE_SECONDS
        while not has_come(life):
            assert time.monotonic() < until, f"never came: {moment[0]}"
            try:
                terminal.process.read_nonblocking(65536, timeout=0.001)
            except pexpect.TIMEOUT:
                continue
        time.sleep(later)
        terminal.process.kill(signal.SIGKILL)
        terminal.process.wait()


def logs_of(stage: Stage) -> dict[str, bytes]:
    """Every log of the session: live and archives, as they are on disk."""
    folder = _folder(stage)
    live = [folder / LIVE] if folder and (folder / LIVE).exists() else []
    return {path.name: path.read_bytes() for path in (*live, *_archives(stage))}


def whole_lines(data: bytes) -> bytes:
    """Without a torn last line: that was never promised."""
    return data[: data.rfind(b"\n") + 1]


def assert_kept(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Whatever was on disk is there still: archives as they were, the live log begins another."""
    for name, data in before.items():
        if name == LIVE:
            assert any(log.startswith(whole_lines(data)) for log in after.values()), "records lost"
        else:
            assert after[name] == data, f"{name} changed"


def assert_no_phantoms(logs: dict[str, bytes]) -> None:
    """Archives are numbered without gaps, and each was made by an act that is on record."""
    numbers = {int(name.rpartition(".")[2]) for name in logs if name != LIVE}
    records = [json.loads(line) for log in logs.values() for line in whole_lines(log).splitlines()]
    acts = {r["archive"] for r in records if r["role"] in ("_compaction", "_revert")}
    assert numbers == acts == set(range(1, len(numbers) + 1))


def assert_was_written(request: Seen, logs: dict[str, bytes]) -> None:
    """What a model was told is in the log: nothing is said that could be lost."""
    texts = set()
    for log in logs.values():
        records = map(json.loads, whole_lines(log).splitlines())
        texts |= {json.dumps(r["content"]) for r in records if r["role"] in ("user", "tool")}
    for message in request.body["messages"]:
        if message["role"] in ("user", "tool"):
            told = json.dumps(message["content"])
            assert told in texts or "Interrupted" in told or "summary" in told, told[:200]


def test_a_turn_killed_at_any_moment_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    with SseServer() as server:
        stage = long_read.set_up(tmp_path, server, "[context]\nwindow = 4000\nreserved = 0\n")
        assert stage.run("-p", "Begin").returncode == 0
        session_id, before = stage.disk.session_id, logs_of(stage)
        for moment in MOMENTS:
            life = Life.begin(stage, server)
            server.reply = partial(read_until_compacted, life)
            kill_at(life, moment, "-r", session_id)
            after = logs_of(stage)
            assert_kept(before, after)
            for request in server.requests[life.requests :]:
                assert_valid(request.body["messages"])
                if not is_summary_request(request):
                    assert_was_written(request, after)
            before = after

        # It goes on without a screen, and on one.
        server.reply = partial(read_until_compacted, Life.begin(stage, server))
        ended = stage.run("-r", session_id, "-p", long_read.PROMPT)
        assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, long_read.END)
        after = logs_of(stage)
        assert_kept(before, after)
        assert_no_phantoms(after)
        assert len(after) - 1 == len(stage.disk.archives()) > 2
        with stage.open("-r", session_id) as terminal:
            terminal.wait_for(long_read.END)
            quit_by_command(terminal)
        assert logs_of(stage) == after
        for request in server.requests:
            assert_valid(request.body["messages"])


@pytest.mark.parametrize("lines", [1, 2])
def test_a_session_killed_at_its_birth_can_be_gone_on_with(tmp_path: Path, lines: int) -> None:
    with SseServer() as server:
        stage = Stage(tmp_path, server)
        kill_at(Life.begin(stage, server), ("at birth", lambda life: life.grown(lines), 0.0))
        born = whole_lines(stage.disk.log.read_bytes())
        ended = stage.run("-r", stage.disk.session_id, "-p", "hello")
        assert (ended.returncode, ended.stdout) == (0, "Hello from **loopback**.\n")
        assert stage.disk.log.read_bytes().startswith(born)
        roles = [message["role"] for message in server.requests[-1].body["messages"]]
        assert roles == ["system", "user"]
