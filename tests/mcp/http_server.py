"""An MCP server over streamable HTTP on loopback, made with the official library."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer

from tests.waiting import PATIENCE_SECONDS


@contextmanager
def served() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The address of a server that can add, and the headers of every request it gets."""
    seen: list[dict[str, str]] = []
    server = MCPServer("adder")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    app = server.streamable_http_app()

    async def listen(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append({k.decode().lower(): v.decode() for k, v in scope["headers"]})
        await app(scope, receive, send)

    with run_app(listen) as url:
        yield f"{url}/mcp", seen


@contextmanager
def run_app(app: Any) -> Iterator[str]:
    """The address at which a web app is served."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="none")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        threading.Event().wait(0.01)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join(PATIENCE_SECONDS)
