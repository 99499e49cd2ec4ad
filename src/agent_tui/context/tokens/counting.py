"""Exact token counts from a process of their own.

Making an encoding holds the interpreter for 150 to 260 ms and takes 60 MB: in the process that
draws the screen, every key would wait for it.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from struct import pack, unpack

_SCRIPT = Path(__file__).with_name("counting_child.py")
_START_SECONDS = 30.0
_ANSWER_SECONDS = 30.0


class CountingProcess:
    """Counts texts by one encoding; asked from any thread, one question at a time.

    It is started when it is first needed, ends by itself when nobody has asked for minutes, and is
    started again for those who can wait.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._owed = 0

    def start(self) -> bool:
        """Have it running and its ranks loaded; False where that cannot be."""
        with self._lock:
            return self._has_started()

    def count(self, texts: Sequence[str], patience_seconds: float | None = None) -> list[int]:
        """The tokens of each text; empty where they are not to be had.

        With ``patience_seconds``, they are not to be had from a process that is not running, is at
        work for somebody else or does not answer within that time.
        """
        hasty = patience_seconds is not None
        if not self._lock.acquire(timeout=patience_seconds if hasty else -1):  # type: ignore[arg-type]
            return []
        try:
            if hasty and self._child is None:
                return []
            for _ in range(2):  # it may have ended since it was last asked
                if self._child is None and not self._has_started():
                    return []
                with suppress(OSError, EOFError):
                    return self._ask(texts, patience_seconds or _ANSWER_SECONDS, hasty=hasty)
                self._end()
                if hasty:
                    return []
            return []
        finally:
            self._lock.release()

    def stop(self) -> None:
        """End it; it can be started again."""
        with self._lock:
            self._end()

    def _has_started(self) -> bool:
        if self._child is not None:
            return True
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", str(_SCRIPT), self._encoding],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env={},  # it needs no key, no path and no proxy
                start_new_session=True,  # keys that are signals are not meant for it
            )
            self._owed = 0
            self._read(4, _START_SECONDS)
        except (OSError, EOFError, ValueError):
            self._end()
        return self._child is not None

    def _ask(self, texts: Sequence[str], seconds: float, *, hasty: bool) -> list[int]:
        assert self._child is not None
        assert self._child.stdin is not None
        try:  # what was owed; a process at work must not be written to, nor waited for again
            self._read(0, 0.0 if hasty else seconds)
        except TimeoutError:
            return []
        pieces = [text.encode("utf-8", "replace") for text in texts]
        head = pack(f"<{len(pieces) + 1}I", len(pieces), *map(len, pieces))
        question = memoryview(b"".join((head, *pieces)))
        while question:
            question = question[os.write(self._child.stdin.fileno(), question) :]
        try:
            return list(unpack(f"<{len(pieces)}I", self._read(4 * len(pieces), seconds)))
        except TimeoutError:
            return []

    def _read(self, size: int, seconds: float) -> bytes:
        """An answer, behind those that nobody waited for; what is missing of it stays owed."""
        assert self._child is not None
        assert self._child.stdout is not None
        descriptor, data, self._owed = self._child.stdout.fileno(), b"", self._owed + size
        while self._owed:
            if not select.select([descriptor], [], [], seconds)[0]:
                raise TimeoutError
            piece = os.read(descriptor, min(self._owed, 1 << 16))
            if not piece:
                raise EOFError
            data, self._owed = data + piece, self._owed - len(piece)
        return data[-size:] if size else b""

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()


@cache
def counting_process(encoding: str) -> CountingProcess:
    """The process for an encoding: one for all counters of this program."""
    return CountingProcess(encoding)
