"""An MCP server over HTTP that wants a sign-in, and the server that gives it, on one port."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode

from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tests.mcp.http_server import run_app


class SignIn:
    """Signs everybody in who comes with a browser; counts who came."""

    def __init__(self) -> None:
        self.url = ""
        self.registrations = 0
        self.sign_ins = 0
        self.tokens: set[str] = set()

    async def answer(self, request: Request) -> Response | None:
        """An answer to what belongs to the sign-in; None for everything else."""
        match request.url.path:
            case "/.well-known/oauth-protected-resource/mcp":
                fields = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]}
                return JSONResponse(fields)
            case "/.well-known/oauth-authorization-server":
                return JSONResponse(
                    {
                        "issuer": self.url,
                        "authorization_endpoint": f"{self.url}/authorize",
                        "token_endpoint": f"{self.url}/token",
                        "registration_endpoint": f"{self.url}/register",
                        "response_types_supported": ["code"],
                        "code_challenge_methods_supported": ["S256"],
                        "token_endpoint_auth_methods_supported": ["none"],
                    }
                )
            case "/register":
                self.registrations += 1
                return JSONResponse(await request.json() | {"client_id": "c1"}, status_code=201)
            case "/authorize":
                self.sign_ins += 1
                asked = request.query_params
                answer = urlencode({"code": "the-code", "state": asked["state"]})
                return RedirectResponse(f"{asked['redirect_uri']}?{answer}")
            case "/token":
                body = parse_qs((await request.body()).decode())
                assert body["code"] == ["the-code"]
                token = secrets.token_hex(8)
                self.tokens.add(token)
                return JSONResponse({"access_token": token, "token_type": "Bearer"})
            case "/mcp" if request.headers.get("authorization", "")[7:] not in self.tokens:
                place = f"{self.url}/.well-known/oauth-protected-resource/mcp"
                headers = {"WWW-Authenticate": f'Bearer resource_metadata="{place}"'}
                return Response(status_code=401, headers=headers)
        return None


@contextmanager
def guarded() -> Iterator[tuple[str, SignIn]]:
    """The address of a server that wants a sign-in."""
    sign_in, server = SignIn(), MCPServer("guarded")

    @server.tool()
    def secret() -> str:
        """Tell the secret."""
        return "swordfish"

    app = server.streamable_http_app()

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            answer = await sign_in.answer(Request(scope, receive))
            if answer is not None:
                await answer(scope, receive, send)
                return
        await app(scope, receive, send)

    with run_app(serve) as url:
        sign_in.url = url
        yield f"{url}/mcp", sign_in
