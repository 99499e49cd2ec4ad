"""Runs aimock (npm ``@copilotkit/aimock``), a model server that others wrote, on loopback."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE_SECONDS


@contextmanager
def run_aimock_server(folder: Path, answers: list[dict[str, Any]]) -> Iterator[str]:
    """The address of a server with these answers, without ``/v1``."""
    fixtures, log = folder / "fixtures.json", folder / "server.log"
    fixtures.write_text(json.dumps({"fixtures": answers}))
    with log.open("w") as output:
        process = subprocess.Popen(
            ["llmock", "-p", "0", "-h", "127.0.0.1", "-f", str(fixtures)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _wait_for_url(process, log)
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def _wait_for_url(process: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:[1-9]\d*", log.read_text()):
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")
