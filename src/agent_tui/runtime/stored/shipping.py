"""Shipping sessions: what is new, into a folder or to a collector on the network."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.errors import StorageError, UsageError
from agent_tui.library.redaction import Redactor, secret_values
from agent_tui.library.search.search_index import SearchIndex
from agent_tui.library.search.sources import refs_to_index
from agent_tui.library.shipping.shipment import Shipment, Shipper, write_private
from agent_tui.library.shipping.spans import split_request

if TYPE_CHECKING:
    import httpx2

_SECONDS = 30.0
_UNSUPPORTED_MEDIA = 415
_MOST_BYTES = 4 << 20
"""Of one request: what the smallest default of a collector takes."""


async def ship_sessions(
    folder: Path, form: str, index: SearchIndex, *, with_content: bool, endpoint: str
) -> Shipment:
    """Write what is new in every session; send a named collector what it has not taken yet.

    Raises:
        UsageError: the form is unknown, or an endpoint was given for another form than OTLP.
        StorageError: the folder cannot be written, or the collector did not take a file.
    """
    if endpoint and form != "otlp":
        raise UsageError("--endpoint takes OTLP: add --format otlp.")
    if endpoint and not endpoint.startswith(("http://", "https://")):
        raise UsageError(f"Expected an http or https address, got {endpoint!r}.")
    redactor = Redactor(secret_values(os.environ))
    shipper = Shipper(folder, redactor, with_content=with_content)
    refs = await asyncio.to_thread(lambda: list(refs_to_index(index.data, index.places)))
    shipment = await asyncio.to_thread(shipper.ship, refs, form)
    if endpoint:
        await _send_files(folder, endpoint)
    return shipment


async def _send_files(folder: Path, endpoint: str) -> None:
    """Send every file of spans that this collector has not taken yet."""
    import httpx2

    name = hashlib.sha256(endpoint.encode()).hexdigest()[:16]
    sent = folder / f"sent-{name}.json"
    taken = await asyncio.to_thread(_read_names, sent)
    async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
        for path in sorted(await asyncio.to_thread(lambda: [*folder.glob("*.otlp.json")])):
            if path.name in taken:
                continue
            for body in await asyncio.to_thread(_bodies, path):
                await _post(client, endpoint, body, path)
            taken.append(path.name)
            await asyncio.to_thread(write_private, sent, json.dumps(taken).encode())


async def _post(client: httpx2.AsyncClient, endpoint: str, body: bytes, path: Path) -> None:
    import httpx2

    headers = {"Content-Type": "application/json"}
    stays = f"{path.name} stays and is sent with the next shipment."
    try:
        answer = await client.post(endpoint, content=body, headers=headers)
    except httpx2.HTTPError as error:
        why = type(error).__name__
        raise StorageError(
            f"The collector at {endpoint} did not answer ({why}); {stays}"
        ) from error
    if answer.status_code == _UNSUPPORTED_MEDIA:
        raise StorageError(
            f"The collector at {endpoint} does not accept OTLP as JSON (415). "
            f"Send it through one that does; {stays}"
        )
    if answer.status_code >= 300:
        raise StorageError(f"The collector at {endpoint} answered {answer.status_code}; {stays}")


def _bodies(path: Path) -> list[bytes]:
    requests = split_request(json.loads(path.read_bytes()), _MOST_BYTES)
    return [json.dumps(request, separators=(",", ":")).encode() for request in requests]


def _read_names(path: Path) -> list[str]:
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
