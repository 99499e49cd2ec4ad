"""A server over streamable HTTP, with a browser to sign in where it asks."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import zlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from agent_tui.config.reading import read_regular_file
from agent_tui.mcp.specs import ServerSpec
from agent_tui.mcp.stdio import LONGEST_LINE
from agent_tui.providers.bounds import cut_body

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import (
        AuthorizationCodeResult,
        OAuthClientInformationFull,
        OAuthToken,
    )

_DONE_PAGE = b"<!doctype html><title>agent-tui</title><p>Signed in. You can close this page."
_HEADERS = "Content-Type: text/html\r\nConnection: close"
_LARGEST = 1_000_000
_FIRST_PORT, _PORTS = 49_152, 16_000


async def open_http(
    spec: ServerSpec,
    stack: AsyncExitStack,
    folder: Path,
    show_url: Callable[[str], None],
    note_status: Callable[[int], None],
) -> Any:
    """The transport to a server's address; its client is closed with the stack.

    Args:
        spec: which server.
        stack: what closes it.
        folder: where tokens are kept.
        show_url: told the page on which a person must sign in.
        note_status: told the status of every answer: the library keeps it to itself.
    """
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    auth = await _sign_in(spec, stack, folder, show_url) if spec.settings.oauth else None
    client = create_mcp_http_client(headers=dict(spec.settings.headers), auth=auth)

    async def note(response: httpx2.Response) -> None:
        note_status(response.status_code)
        if not _is_stream(response):
            await cut_body(response, LONGEST_LINE)

    client.event_hooks = {"response": [note]}
    await stack.enter_async_context(client)
    return streamable_http_client(spec.settings.url, http_client=client)


def _is_stream(response: httpx2.Response) -> bool:
    """Whether it is read event by event, of which each has a limit, as it was asked for."""
    asked, kind = response.request.headers.get("accept", ""), "text/event-stream"
    is_one = response.headers.get("content-type", "").lower().startswith(kind)
    return is_one and response.status_code < 300 and kind in asked


async def _sign_in(
    spec: ServerSpec, stack: AsyncExitStack, folder: Path, show_url: Callable[[str], None]
) -> httpx2.Auth:
    """OAuth as the server asks for it; the browser comes back to a port of this machine."""
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata
    from pydantic import AnyUrl

    listener = RedirectListener()
    # The same port each time: a server remembers where the browser may be sent back to.
    port = await listener.start(_FIRST_PORT + zlib.crc32(spec.name.encode()) % _PORTS)
    stack.push_async_callback(listener.aclose)

    async def open_browser(url: str) -> None:
        import webbrowser

        show_url(url)
        await asyncio.to_thread(webbrowser.open, url)

    metadata = OAuthClientMetadata(
        client_name="agent-tui",
        redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")],
        token_endpoint_auth_method="none",  # a public client has no secret
    )
    return OAuthClientProvider(
        server_url=spec.settings.url,
        client_metadata=metadata,
        storage=TokenFile(folder.parent / "tokens" / f"{spec.name}.json"),
        redirect_handler=open_browser,
        callback_handler=listener.wait,
    )


class RedirectListener:
    """Waits on loopback for the browser to come back with a code."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[dict[str, list[str]]] | None = None

    async def start(self, wanted: int) -> int:
        """Listen on the wanted port, or on another where it is taken; returns the port."""
        self._answer = asyncio.get_running_loop().create_future()
        try:
            self._server = await self._listen(wanted)
        except OSError:
            self._server = await self._listen(0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _listen(self, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._converse, "127.0.0.1", port, limit=16_384)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readline()).decode("latin-1")
            path = line.split(" ")[1] if line.startswith("GET ") else ""
            fields = parse_qs(urlsplit(path).query)
            is_answer = urlsplit(path).path == "/callback" and bool(
                fields.get("code") or fields.get("error")
            )
            status = "200 OK" if is_answer else "404 Not Found"
            writer.write(f"HTTP/1.1 {status}\r\n{_HEADERS}\r\n\r\n".encode())
            writer.write(_DONE_PAGE if is_answer else b"")
            await writer.drain()
            if is_answer and self._answer is not None and not self._answer.done():
                self._answer.set_result(fields)
        except (OSError, ValueError, IndexError):
            pass
        finally:
            writer.close()

    async def wait(self) -> AuthorizationCodeResult:
        """The code that the browser brought.

        Raises:
            RuntimeError: the sign-in was refused.
        """
        from mcp.shared.auth import AuthorizationCodeResult

        assert self._answer is not None
        fields = await asyncio.shield(self._answer)
        if "code" not in fields:
            raise RuntimeError(f"The sign-in was refused: {fields['error'][0]:.80}")
        state, issuer = fields.get("state", [None])[0], fields.get("iss", [None])[0]
        return AuthorizationCodeResult(code=fields["code"][0], state=state, iss=issuer)

    async def aclose(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()


class TokenFile:
    """Tokens of one server in a private file, as the library wants its storage."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens of the last sign-in."""
        from mcp.shared.auth import OAuthToken

        found = self._read().get("tokens")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        self._write(tokens=tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """How this program is registered there."""
        from mcp.shared.auth import OAuthClientInformationFull

        found = self._read().get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration."""
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(read_regular_file(self._path, _LARGEST, forbidden_mode=0o077))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, **fields: Any) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = json.dumps(self._read() | fields)
        part = self._path.with_name(f".{self._path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        part.replace(self._path)
