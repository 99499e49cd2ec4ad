"""How fast a key comes back in a real pty: idle, while an answer streams, in a long session.

A key is timed from the write into the pty until the program has drawn it. The answer streams at
500 chunks a second from the scripted provider. Memory is the resident set of the whole program.

Run: ``python -m tests.benchmarks.keys [--keys N]``. One JSON line a figure.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import statistics
import tempfile
import time
from pathlib import Path

import pexpect

from tests.terminal import PROGRAM, environment

P50_MS, MAX_MS = 15.0, 50.0
IDLE_P50_MS = 8.0


class Echo:
    """The program in a pty, timed key by key."""

    def __init__(self, arguments: list[str], env: dict[str, str]) -> None:
        settled = env | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        self.child = pexpect.spawn(
            str(PROGRAM), arguments, env=settled, dimensions=(40, 120), timeout=60, maxread=65536
        )

    def close(self) -> None:
        """End the program."""
        self.child.close(force=True)

    def drain(self, seconds: float) -> None:
        """Read what is drawn for a while."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self._read(left)

    def _read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self.child.child_fd], [], [], max(0, seconds))
        return os.read(self.child.child_fd, 65536) if ready else b""

    def is_drawing(self, seconds: float = 0.3) -> bool:
        """Whether anything is drawn without a key."""
        return bool(self._read(seconds))

    def key(self, letter: str) -> float:
        """Milliseconds until a letter that is nowhere else on the screen has been drawn."""
        began = time.perf_counter()
        os.write(self.child.child_fd, letter.encode())
        seen = b""
        while letter.encode() not in seen:
            if time.perf_counter() - began > 5:
                raise TimeoutError(f"{letter!r} was not drawn within 5 s")
            seen += self._read(0.5)
        return (time.perf_counter() - began) * 1000

    @property
    def memory_mb(self) -> float:
        """The resident set."""
        status = Path(f"/proc/{self.child.pid}/status").read_text(encoding="utf-8")
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


LETTERS = [chr(0x100 + n) for n in range(0x80)]


def time_keys(echo: Echo, keys: int) -> list[float]:
    """Times of keys, a few frames apart."""
    times = []
    for number in range(keys):
        times.append(echo.key(LETTERS[number % len(LETTERS)]))
        echo.drain(0.03)
    return times


def report(name: str, times: list[float], limit: float, **more: object) -> None:
    """Print one figure as a JSON line."""
    figures = {
        "p50_ms": round(statistics.median(times), 1),
        "max_ms": round(max(times), 1),
        "limit_p50_ms": limit,
        "limit_max_ms": MAX_MS,
    }
    print(json.dumps({"name": name} | figures | more))


def scenario(folder: Path, chunks: int) -> Path:
    """A scenario file whose only answer is long prose, streamed at 500 chunks a second."""
    words = "word " * chunks
    path = folder / "stream.toml"
    path.write_text(
        "window = 2000000\nchunks_per_second = 500\nchunk_chars = 5\n"
        f'[[script]]\ntext = "{words}"\n',
        encoding="utf-8",
    )
    return path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=60)
    keys = parser.parse_args().keys
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        env = environment(home)
        echo = Echo(["--demo"], env)
        echo.drain(2.5)
        report("key_echo_idle", time_keys(echo, keys), IDLE_P50_MS)
        memory = echo.memory_mb
        echo.close()
        path = scenario(home, chunks=keys * 60)
        streaming = Echo(["--scenario", str(path), "go"], env)
        streaming.child.expect_exact(b"word word", timeout=20)
        times = time_keys(streaming, keys)
        assert streaming.is_drawing(), "the answer ended before the measurement"
        report("key_echo_streaming", times, P50_MS, chunks_per_second=500)
        sizes = {"idle_mb": round(memory), "streaming_mb": round(streaming.memory_mb)}
        print(json.dumps({"name": "memory"} | sizes))
        streaming.close()


if __name__ == "__main__":
    main()
