"""The smaller tools: lists of edits, appending, the last lines, folders, notes, web pages."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import ValidationError

from agent_tui.config.settings import WebSettings
from agent_tui.core.errors import ToolError
from agent_tui.tools.arguments import parse_arguments
from agent_tui.tools.base import AnyTool, ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.edit_file import EditFile
from agent_tui.tools.list_folder import ListFolder
from agent_tui.tools.read_file import ReadFile
from agent_tui.tools.todo import Todo
from agent_tui.tools.web import web_page
from agent_tui.tools.web.fetch_url import FetchUrl
from agent_tui.tools.web.page_text import page_text
from agent_tui.tools.web.search_web import SearchWeb
from agent_tui.tools.web.web_page import fetch_page, public_addresses
from agent_tui.tools.write_file import WriteFile


async def run(tool: AnyTool, context: ToolContext, arguments: str) -> str:
    return (await tool.run(parse_arguments(tool, arguments), context)).output


async def test_edits_are_made_in_order_all_or_none(context: ToolContext, workspace: Path) -> None:
    path = workspace / "a.py"
    path.write_text("one\ntwo\nthree\n")
    edits = '{"old_text": "one", "new_text": "1"}, {"old_text": "1\\ntwo", "new_text": "1\\n2"}'
    done = await run(EditFile(), context, f'{{"path": "a.py", "edits": [{edits}]}}')
    assert "2 places" in done
    assert path.read_text() == "1\n2\nthree\n"
    wrong = '{"old_text": "1", "new_text": "x"}, {"old_text": "four", "new_text": "4"}'
    with pytest.raises(ToolError, match="does not occur"):
        await run(EditFile(), context, f'{{"path": "a.py", "edits": [{wrong}]}}')
    assert path.read_text() == "1\n2\nthree\n"
    with pytest.raises(ToolError, match="Nothing to change"):
        await run(EditFile(), context, '{"path": "a.py"}')


async def test_a_file_can_be_added_to(context: ToolContext, workspace: Path) -> None:
    write = '{"path": "log.txt", "content": "more\\n", "append": true}'
    assert "Created" in await run(WriteFile(), context, write)
    assert "Added to" in await run(WriteFile(), context, write)
    assert (workspace / "log.txt").read_text() == "more\nmore\n"


async def test_the_last_lines_can_be_read(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 31)))
    shown = await run(ReadFile(), context, '{"path": "a.txt", "start_line": -2}')
    assert shown == "29\tline 29\n30\tline 30"
    assert (await run(ReadFile(), context, '{"path": "a.txt", "start_line": -99}')).startswith(
        "1\t"
    )


async def test_a_folder_is_listed_without_following_anything(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    (workspace / "a.txt").write_text("abc")
    (workspace / "link").symlink_to("/etc")
    (workspace / "b\n\x1b[2J").write_text("")
    assert await run(ListFolder(), context, "{}") == "sub/\na.txt  3\nb␊␛[2J  0\nlink@"
    with pytest.raises(ToolError, match="outside the workspace"):
        await run(ListFolder(), context, '{"path": "link"}')


async def test_a_todo_list_says_how_far_it_is(context: ToolContext) -> None:
    text = '{"items": [{"text": "read", "state": "done"}, {"text": "fix", "state": "doing"}]}'
    assert Todo().title(parse_arguments(Todo(), text)) == "1 of 2 done · fix"
    assert await run(Todo(), context, text) == "[x] read\n[~] fix"


PRIVATE = [
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "localhost",
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.1",
    "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "[::1]", "[::]", "[fe80::1]",
    "[fc00::1]", "[ff02::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]", "[2001:db8::1]", "[::ffff:169.254.169.254]", "[::127.0.0.1]",
]  # fmt: skip
REFUSED = [
    "file:///etc/passwd",
    "ftp://example.org/",
    "gopher://127.0.0.1/",
    "data:text/html,x",
    "http://user:pass@example.org/",
    "http:///x",
    "//example.org",
    "http://example.org:99999/",
]


@pytest.mark.parametrize("host", PRIVATE)
def test_no_form_of_a_private_address_is_asked(host: str) -> None:
    with pytest.raises(ToolError, match=r"not a public address|was not found"):
        fetch_page(f"http://{host}/", threading.Event())


@pytest.mark.parametrize("url", REFUSED)
def test_only_plain_web_addresses_are_fetched(url: str) -> None:
    with pytest.raises(ToolError):
        fetch_page(url, threading.Event())


def test_one_private_address_among_others_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [(0, 0, 0, "", ("93.184.216.34", 80)), (0, 0, 0, "", ("10.0.0.1", 80))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)
    with pytest.raises(ToolError, match=r"10\.0\.0\.1"):
        public_addresses("example.org", 80)


@cache
def bomb() -> bytes:
    """A hundred megabytes, packed small."""
    return gzip.compress(b"x" * 100_000_000, compresslevel=1)


class Site(BaseHTTPRequestHandler):
    """Pages that a test needs; the path says which."""

    def do_GET(self) -> None:
        match self.path.split("?")[0]:
            case "/page":
                self.answer(b"<h1>Title</h1><script>no</script><p>Some <b>text</b>.</p>")
            case "/search":
                found = [{"url": "http://a.b/", "title": "Tides [x]", "content": "How\x1b they go"}]
                answer = {"query": self.path, "results": found, "infoboxes": []}
                self.answer(json.dumps(answer).encode(), Content_Type="application/json")
            case "/nothing":
                self.answer(b'{"results": []}', Content_Type="application/json")
            case "/down":
                self.answer(b"", status=503)
            case "/loop":
                self.answer(b"", status=302, Location="/loop")
            case "/inward":
                self.answer(b"", status=302, Location="http://169.254.169.254/latest")
            case "/bomb":
                self.answer(bomb(), Content_Encoding="gzip")
            case "/broken":
                self.answer(zlib.compress(b"x"), Content_Encoding="gzip")
            case _:
                self.answer(b"\x00\x01", Content_Type="application/octet-stream")

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        headers.setdefault("Content_Type", "text/html; charset=utf-8")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


async def test_a_page_is_given_as_text(context: ToolContext, site: str) -> None:
    shown = await run(FetchUrl(private=True), context, f'{{"url": "{site}/page?x=1"}}')
    assert shown == f"[{site}/page?x=1: status 200]\n# Title\n\nSome text."


async def search(context: ToolContext, endpoint: str) -> str:
    return await run(SearchWeb(endpoint), context, '{"query": "high & low"}')


async def test_a_search_asks_the_endpoint_and_lists_what_it_found(
    context: ToolContext, site: str
) -> None:
    shown = await search(context, f"{site}/search?q={{query}}&format=json")
    assert shown == "1. Tides [x]\nhttp://a.b/\nHow\u241b they go"
    assert await search(context, f"{site}/nothing?{{query}}") == (
        "Nothing was found. Try fewer or other words."
    )
    assert await search(context, f"{site}/page?{{query}}") == "# Title\n\nSome text."


async def test_a_search_has_the_caps_of_a_page(context: ToolContext, site: str) -> None:
    with pytest.raises(ToolError, match="status 503"):
        await search(context, f"{site}/down?{{query}}")
    with pytest.raises(ToolError, match="more than 5 times"):
        await search(context, f"{site}/loop?{{query}}")
    assert "more characters" in await search(context, f"{site}/bomb?{{query}}")


def test_there_is_a_search_only_where_one_is_configured() -> None:
    names = {tool.name for tool in builtin_tools(search="http://localhost/?q={query}")}
    assert names - {tool.name for tool in builtin_tools()} == {"search_web"}


@pytest.mark.parametrize("url", ["http://a.b/", "ftp://a.b/{query}", "http://{query}/"])
def test_a_search_endpoint_is_an_address_with_a_place_for_the_query(url: str) -> None:
    with pytest.raises(ValidationError):
        WebSettings(search_url=url)


async def test_what_is_no_text_is_refused(context: ToolContext, site: str) -> None:
    with pytest.raises(ToolError, match="cannot be read as text"):
        await run(FetchUrl(private=True), context, f'{{"url": "{site}/binary"}}')
    with pytest.raises(ToolError, match="could not be fetched"):
        await run(FetchUrl(private=True), context, f'{{"url": "{site}/broken"}}')


def test_redirects_are_counted_and_each_is_judged(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ToolError, match="more than 5 times"):
        fetch_page(f"{site}/loop", threading.Event(), private=True)
    real = web_page._is_public
    monkeypatch.setattr(web_page, "_is_public", lambda each: each == "127.0.0.1" or real(each))
    with pytest.raises(ToolError, match=r"169\.254\.169\.254"):
        fetch_page(f"{site}/inward", threading.Event())


def test_a_packed_page_is_cut_where_it_gets_too_long(site: str) -> None:
    page = fetch_page(f"{site}/bomb", threading.Event(), private=True)
    assert page.is_cut
    assert len(page.body) == web_page.MOST_BYTES


@pytest.fixture(params=["silent", "a byte now and then"])
def slow_site(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that takes a connection and never comes to the end of its first header."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            while not over.wait(0.05):
                connection.sendall(b"" if request.param == "silent" else b"HTTP/1.1 ")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    over.set()
    thread.join()
    listener.close()


def test_no_server_holds_a_fetch_that_was_stopped_or_is_late(slow_site: str) -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    began = time.monotonic()
    with pytest.raises(ToolError, match="took too long"):
        fetch_page(slow_site, stop, private=True)
    assert time.monotonic() - began < web_page._CONNECT_SECONDS / 4


def test_no_server_holds_a_fetch_beyond_its_time(slow_site: str) -> None:
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"took too long|timed out"):
        fetch_page(slow_site, threading.Event(), private=True, seconds=0.1)
    assert time.monotonic() - began < web_page._CONNECT_SECONDS / 4


def test_a_name_that_nobody_resolves_holds_no_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    over, asked = threading.Event(), threading.Event()

    def resolve(*_: object, **__: object) -> list[object]:
        asked.set()
        over.wait()
        raise OSError

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    with pytest.raises(ToolError, match="took too long"):
        fetch_page("http://a.example/", asked)
    over.set()


def test_a_page_without_end_tags_is_still_text() -> None:
    assert page_text("<ul><li>one<li>two</ul><pre>a  b\n c</pre>") == "- one\n- two\n\na  b\n c"
    assert page_text("<div>" * 30_000 + "x") == "x"
