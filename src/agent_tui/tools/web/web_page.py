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
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from urllib.parse import urljoin, urlsplit

from agent_tui.core.errors import ToolError
from agent_tui.core.text import reveal

MOST_REDIRECTS = 5
MOST_BYTES = 5_000_000
_SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_PIECE = 65_536
_LOOK_SECONDS = 0.02
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AGENT = "agent-tui (fetch_url)"
_TOO_LONG = "The address took too long to answer."


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
    line = _Line(time.monotonic() + seconds)
    future: Future[WebPage] = Future()

    def work() -> None:
        try:
            future.set_result(_follow(url, line, private=private))
        except BaseException as error:  # raised again where it is waited for
            future.set_exception(error)

    # A server may be silent, or send a byte now and then, wherever we wait for it: only from
    # outside can that be ended at once.
    Thread(target=work, name="fetch", daemon=True).start()
    while not (stop.is_set() or line.is_late):
        if wait([future], _LOOK_SECONDS).done:
            return future.result()
    line.hang_up()
    raise ToolError(_TOO_LONG)


class _Line:
    """What one fetch has open, which can be hung up from another thread."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self._lock = Lock()
        self._plug: socket.socket | None = None
        self._is_over = False

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def hang_up(self) -> None:
        """End what is open, and open nothing more."""
        with self._lock:
            self._is_over = True
            if self._plug is not None:
                with suppress(OSError):
                    self._plug.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def holding(self, connected: socket.socket) -> Iterator[None]:
        """While a connection is used; raises ToolError where nobody waits for it any longer."""
        with connected.dup() as plug:  # TLS takes the first handle away
            with self._lock:
                if self._is_over:
                    raise ToolError(_TOO_LONG)
                self._plug = plug
            try:
                yield
            finally:
                with self._lock:
                    self._plug = None


def _follow(url: str, line: _Line, *, private: bool) -> WebPage:
    """The page that an address leads to, behind its redirects."""
    for _ in range(MOST_REDIRECTS + 1):
        found = _fetch_once(url, line, private=private)
        if isinstance(found, WebPage):
            return found
        try:
            url = urljoin(url, found)
        except ValueError:
            raise ToolError(f"{reveal(url)[:200]} redirects to an address that is none.") from None
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


def _fetch_once(url: str, line: _Line, *, private: bool) -> WebPage | str:
    """The page, or where it redirects to."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ToolError(f"{reveal(url)[:200]} is not a valid address.") from None
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
        plain = _connect(addresses, port, line)
        with plain, line.holding(plain):
            connection.sock = _secure(plain, parts.hostname) if parts.scheme == "https" else plain
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            path = path.encode("ascii", "ignore").decode().replace(" ", "%20")
            headers = {"User-Agent": _AGENT, "Accept": "text/*, */*", "Accept-Encoding": "gzip"}
            connection.request("GET", path, headers=headers)
            with connection.getresponse() as response:
                place = response.headers.get("Location")
                if response.status in _REDIRECTS and place:
                    return place
                body, is_cut = _read(response)
                kind = response.headers.get_content_type()
                charset = response.headers.get_content_charset() or "utf-8"
                return WebPage(url, response.status, kind, charset, body, is_cut)
    except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
        raise ToolError(f"{reveal(url)[:200]} could not be fetched: {error}.") from error
    finally:
        connection.close()


def _connect(addresses: list[str], port: int, line: _Line) -> socket.socket:
    failure: OSError | None = None
    for address in addresses:
        seconds = min(_CONNECT_SECONDS, max(0.1, line.deadline - time.monotonic()))
        try:
            return socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            failure = error
    raise failure or OSError("no address answered")


def _secure(plain: socket.socket, host: str) -> socket.socket:
    return ssl.create_default_context().wrap_socket(plain, server_hostname=host)


def _read(response: http.client.HTTPResponse) -> tuple[bytes, bool]:
    """The decoded body up to the cap, whatever its length was said to be."""
    packed = (response.headers.get("Content-Encoding") or "").strip().lower() in ("gzip", "x-gzip")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed else None
    body = bytearray()
    while len(body) <= MOST_BYTES:
        data = response.read1(_PIECE)
        if not data:
            return bytes(body), False
        while data:
            room = MOST_BYTES + 1 - len(body)
            body += unpack.decompress(data, room) if unpack else data[:room]
            data = unpack.unconsumed_tail if unpack and len(body) <= MOST_BYTES else b""
    return bytes(body[:MOST_BYTES]), True
