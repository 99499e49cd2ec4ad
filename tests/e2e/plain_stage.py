"""The program as lines between two pipes, for the tests of plain conversations."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

from tests.e2e.stage import Stage
from tests.terminal import PROGRAM
from tests.waiting import PATIENCE_SECONDS

READABLE_SECONDS = 0.7
"""A person answers no sooner after a question."""


class Plain:
    """``agent-tui --plain`` between two pipes."""

    def __init__(self, stage: Stage, *arguments: str) -> None:
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            [str(PROGRAM), "--plain", *arguments],
            env=stage.env,
            cwd=stage.workspace,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")

    def hear(self, wanted: str, seconds: float = PATIENCE_SECONDS) -> str:
        """Wait for a line that holds a text; fails with all lines."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for line in self.lines:
                if wanted in line:
                    return line
            time.sleep(0.02)
        raise AssertionError(f"never said: {wanted!r}\n" + "\n".join(self.lines))

    def forget(self) -> None:
        self.lines.clear()

    def __enter__(self) -> Plain:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self.close()

    def paste(self, text: str) -> None:
        """Lines that arrive together."""
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), text.encode())

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def close(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        code = self._process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        self._process.stdout.close()
        return code
