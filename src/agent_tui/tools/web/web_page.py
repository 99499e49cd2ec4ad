"""Fetching from the web without being led astray: public addresses only, and never too much.

Every address that a name resolves to must be public; the connection goes to one of exactly these,
so that no second lookup can lead elsewhere. Each redirect is judged again.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
import zlib
from dataclasses import dataclass
from threading import Event
from urllib.parse import urljoin, urlsplit

from agent_tui.core.errors import ToolError
from agent_tui.core.text import reveal

MOST_REDIRECTS = 5
MOST_BYTES = 5_000_000
_SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_PIECE = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AGENT = "agent-tui (fetch_url)"


@dataclass(frozen=True, slots=True)
class WebPage:
    """What an address gave: ``is_cut`` where there was more than we take."""

    url: str
    status: int
    kind: str
    charset: str
    body: bytes
    is_cut: bool = False


def fetch_page(
    url: str, stop: Event, *, private: bool = False, seconds: float = _SECONDS
) -> WebPage:
    """Fetch an address; blocks.

    Args:
        url: http or https.
        stop: ends the fetching when it is set.
        private: whether addresses that are not public may be asked too.
        seconds: how long it may take altogether, redirects included.

    Raises:
        ToolError: it was refused or failed; for the model.
    """
    deadline = time.monotonic() + seconds
    for _ in range(MOST_REDIRECTS + 1):
        found = _fetch_once(url, stop, deadline, private=private)
        if isinstance(found, WebPage):
            return found
        url = urljoin(url, found)
    raise ToolError(f"{reveal(url)} redirects more than {MOST_REDIRECTS} times.")


def public_addresses(host: str, port: int, *, private: bool = False) -> list[str]:
    """The addresses of a host, if all of them are public; raises ToolError otherwise."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"{reveal(host)} was not found: {error}.") from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    for address in addresses:
        if not private and not _is_public(address):
            raise ToolError(
                f"{reveal(host)} is at {address}, which is not a public address: not fetched."
            )
    return addresses


def _is_public(address: str) -> bool:
    try:
        place = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(place, ipaddress.IPv6Address):
        inner = place.ipv4_mapped or place.sixtofour or (place.teredo or (None, None))[1]
        if inner is not None or any(place in network for network in _WITH_IPV4_INSIDE):
            return False
    return place.is_global and not place.is_multicast


_WITH_IPV4_INSIDE = (
    ipaddress.IPv6Network("64:ff9b::/96"),
    ipaddress.IPv6Network("64:ff9b:1::/48"),
    ipaddress.IPv6Network("::/96"),
)


def _fetch_once(url: str, stop: Event, deadline: float, *, private: bool) -> WebPage | str:
    """The page, or where it redirects to."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError(f"Only http and https addresses are fetched, not {reveal(url)[:200]}.")
    if parts.username or parts.password:
        raise ToolError("An address with a name or password in it is not fetched.")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise ToolError(f"{reveal(url)[:200]} has no valid port.") from error
    addresses = public_addresses(parts.hostname, port, private=private)
    connection = http.client.HTTPConnection(parts.hostname, port, timeout=_CONNECT_SECONDS)
    try:
        connection.sock = _connect(addresses, port, parts.hostname, parts.scheme, deadline)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        path = path.encode("ascii", "ignore").decode().replace(" ", "%20")
        headers = {"User-Agent": _AGENT, "Accept": "text/*, */*", "Accept-Encoding": "gzip"}
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as response:
            place = response.headers.get("Location")
            if response.status in _REDIRECTS and place:
                return place
            body, is_cut = _read(response, stop, deadline)
            kind = response.headers.get_content_type()
            charset = response.headers.get_content_charset() or "utf-8"
            return WebPage(url, response.status, kind, charset, body, is_cut)
    except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
        raise ToolError(f"{reveal(url)[:200]} could not be fetched: {error}.") from error
    finally:
        connection.close()


def _connect(
    addresses: list[str], port: int, host: str, scheme: str, deadline: float
) -> socket.socket:
    failure: OSError | None = None
    for address in addresses:
        seconds = min(_CONNECT_SECONDS, max(0.1, deadline - time.monotonic()))
        try:
            plain = socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            failure = error
            continue
        if scheme == "http":
            return plain
        try:
            return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        except OSError:
            plain.close()
            raise
    raise failure or OSError("no address answered")


def _read(response: http.client.HTTPResponse, stop: Event, deadline: float) -> tuple[bytes, bool]:
    """The decoded body up to the cap, whatever its length was said to be."""
    packed = (response.headers.get("Content-Encoding") or "").strip().lower() in ("gzip", "x-gzip")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed else None
    body = bytearray()
    while len(body) <= MOST_BYTES:
        if stop.is_set() or time.monotonic() > deadline:
            raise ToolError("The address took too long to answer.")
        data = response.read1(_PIECE)
        if not data:
            return bytes(body), False
        while data:
            room = MOST_BYTES + 1 - len(body)
            body += unpack.decompress(data, room) if unpack else data[:room]
            data = unpack.unconsumed_tail if unpack and len(body) <= MOST_BYTES else b""
    return bytes(body[:MOST_BYTES]), True
