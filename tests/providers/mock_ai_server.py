"""Starts mock-ai-api, a third-party OpenAI-compatible server, as a child process on loopback.

Its own launcher puts two servers into sessions of their own and leaves them running when it is
ended; so the one that is needed is started directly, in a session of ours, on a port that the
kernel chooses.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import PATIENCE_SECONDS

_RUNNING = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")


@contextlib.contextmanager
def run_mock_ai_server(log: Path) -> Iterator[str]:
    """The base URL of a running server; its process group is gone afterwards."""
    command = [sys.executable, "-m", "uvicorn", "app.openai_app:app"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", "0", "--no-use-colors"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
            start_new_session=True,
        )
    try:
        yield _wait_for_url(process, log) + "/v1"
    finally:
        _end_group(process)


def _wait_for_url(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        match = _RUNNING.search(log.read_text())
        if match:
            return match[1]
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"mock-ai-api did not start:\n{log.read_text()}")


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return
