"""Deliberate bugs in the protocol. A harness that does not notice them would prove nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def in_force(name: str) -> Iterator[None]:
    """Run with one bug in the store; with none when the name is empty."""
    yield
