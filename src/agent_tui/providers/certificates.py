"""Which certificates a client of a server trusts: reading the system's takes 20 to 50 ms."""

from __future__ import annotations

import os
import ssl
from functools import cache

_PROXIES = {"http_proxy", "all_proxy"}


def trusted_by(url: str) -> ssl.SSLContext:
    """The system's certificates, read once; none at all where the server is asked without TLS."""
    is_plain = url.lower().startswith("http://")
    if is_plain and not any(name.lower() in _PROXIES and os.environ[name] for name in os.environ):
        return _nobody()
    return _system()


@cache
def _nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@cache
def _system() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
