"""Megabytes on their way to a server: piece by piece, so that no write holds the event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator

_SLICE_BYTES = 65_536
_BIG_BYTES = 1_000_000


def as_content(body: bytes) -> tuple[bytes | AsyncIterator[bytes], dict[str, str]]:
    """A body as an HTTP client should send it, and the headers that this needs."""
    if len(body) <= _BIG_BYTES:
        return body, {}
    return _slices(body), {"Content-Length": str(len(body))}


async def _slices(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), _SLICE_BYTES):
        yield body[start : start + _SLICE_BYTES]
