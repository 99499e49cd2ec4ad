"""Shipping sessions: what is new, into a folder or to a collector on the network."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from agent_tui.core.errors import StorageError, UsageError
from agent_tui.library.redaction import Redactor, secret_values
from agent_tui.library.search.search_index import SearchIndex
from agent_tui.library.search.sources import refs_to_index
from agent_tui.library.shipping.shipment import Shipment, Shipper

_SECONDS = 30.0


async def ship_sessions(
    folder: Path, form: str, index: SearchIndex, *, with_content: bool, endpoint: str
) -> Shipment:
    """Write what is new in every session; send OTLP files to a collector where one is named.

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
        await _send(shipment, endpoint)
    return shipment


async def _send(shipment: Shipment, endpoint: str) -> None:
    import aiofiles
    import httpx2

    headers = {"Content-Type": "application/json"}
    async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
        for name in shipment.files:
            async with aiofiles.open(name, "rb") as file:
                body = await file.read()
            try:
                answer = await client.post(endpoint, content=body, headers=headers)
            except httpx2.HTTPError as error:
                raise StorageError(
                    f"The collector at {endpoint} did not answer ({type(error).__name__}); "
                    f"the file {name} stays and can be sent again."
                ) from error
            if answer.status_code >= 300:
                raise StorageError(
                    f"The collector at {endpoint} answered {answer.status_code}; "
                    f"the file {name} stays and can be sent again."
                )
