"""How much a server may send: beyond it an answer is given up, or what is too long is cut."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    import httpx2

MOST_EVENT_BYTES = 32_000_000
"""One line, or one event, of a stream."""
MOST_REPLY_BYTES = 256_000_000
"""A whole answer, decoded."""
MOST_ERROR_BYTES = 1_000_000
"""The body of a refusal: the rest of it is not read."""
MOST_CALLS = 256
"""Calls of tools in one answer."""


LONGEST_NAME = 200
"""A tool's name, in characters: a longer one would be sent again with every request."""
LONGEST_ID = 10_000
"""A call's id; some proxies keep a signature of the model in it."""


class TooMuch(Exception):
    """A server sent more than an answer can be; the text says what there was too much of."""


async def bounded(
    arriving: AsyncIterator[bytes], most: int = MOST_REPLY_BYTES
) -> AsyncIterator[bytes]:
    """The same bytes; raises TooMuch when there are more than ``most``."""
    total = 0
    async for data in arriving:
        total += len(data)
        if total > most:
            raise TooMuch(f"more than {most // 1_000_000:,} MB")
        yield data


async def read_bounded(arriving: AsyncIterator[bytes]) -> bytes:
    """All of the bytes; raises TooMuch when there are more than a reply may have."""
    return b"".join([data async for data in bounded(arriving, MOST_REPLY_BYTES)])


async def cut_refusal(response: httpx2.Response) -> None:
    """Read no more of a refusal than anybody needs: the SDK would read it to its end."""
    if response.status_code >= 300:
        await cut_body(response, MOST_ERROR_BYTES)


async def cut_body(response: httpx2.Response, most: int) -> None:
    """Read a body to its end here, and no more of it than this: others would read all of it."""
    body = bytearray()
    async for data in response.aiter_bytes():
        body += data
        if len(body) > most:
            break
    await response.aclose()
    # What ``aread`` gives from now on: there is no public way to set it.
    response._content = bytes(body[:most])


class NewCalls:
    """Gives calls their ids: the server's own where it is good for one call only.

    A server that counts from ``call_0`` in every reply, or gives no ids, gets a fresh one.

    Args:
        used_ids: gives the ids of earlier calls.
    """

    def __init__(self, used_ids: Callable[[], Collection[str]] = tuple) -> None:
        self._used_ids = used_ids
        self._new_ids: set[str] = set()

    def take_id(self, server_id: str) -> str:
        """The id of the next call."""
        own = server_id
        if not own or len(own) > LONGEST_ID or own in self._new_ids or own in self._used_ids():
            own = f"call_{uuid4().hex[:24]}"
        self._new_ids.add(own)
        return own


def cut_name(name: str) -> str:
    """A tool's name as far as it can be one."""
    return name[:LONGEST_NAME]
