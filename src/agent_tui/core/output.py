"""The one door to standard output and standard error: nothing passes it that a terminal obeys."""

from __future__ import annotations

import codecs
import sys

from agent_tui.core.text import clean


def say(text: str = "", *, end: str = "\n", flush: bool = False) -> None:
    """Write to standard output; control characters and bidi controls come out visible."""
    sys.stdout.write(clean(text) + end)
    if flush:
        sys.stdout.flush()


def complain(sentence: str) -> None:
    """Say on standard error what went wrong, or what the user should know."""
    sys.stderr.write(f"agent-tui: {clean(sentence)}\n")
    sys.stderr.flush()


def say_bytes(data: bytes) -> None:
    """Write a file's bytes: as they are into a file or pipe, made safe on a terminal."""
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(data)
        return
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    say(decode(data, final=True), end="", flush=True)
