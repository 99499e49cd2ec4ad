"""Pages and folders made to hold the program up, or to fill its memory."""

from __future__ import annotations

import threading
from pathlib import Path
from shutil import which
from threading import Event

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.tools.base import ToolContext
from agent_tui.tools.search_files import SearchFiles, SearchFilesArguments
from agent_tui.tools.web import fetch_url, page_text, web_page
from agent_tui.tools.web.fetch_url import FetchUrl, FetchUrlArguments, read_page
from agent_tui.tools.web.web_page import WebPage


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["<!--", "<"])
def test_a_page_made_to_be_slow_is_read_no_longer_than_it_may(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_text, "_SECONDS", 0.1)
    text = page_text.page_text(f"<p>Here.</p>{piece * 4_000_000}")
    assert text.startswith("Here.")
    assert text.endswith("[The rest of the page takes too long to read.]")


@pytest.mark.parametrize("piece", ["<![>", "<![<>", "<![x>", "<![if x]>", "<![x[y]]>"])
def test_a_section_that_no_page_has_is_passed_over(piece: str) -> None:
    assert page_text.page_text(f"<p>Here.</p>{piece}<p>There.</p>").split() == ["Here.", "There."]


def test_nothing_more_of_a_page_is_read_for_nobody() -> None:
    stop = Event()
    stop.set()
    assert "Here" not in page_text.page_text("<p>Here.</p>", stop)


async def test_a_page_is_read_beside_the_event_loop(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = WebPage("http://a/", 200, "text/html", "utf-8", b"<p>Hi", is_cut=False)
    monkeypatch.setattr(web_page, "fetch_page", lambda *_, **__: page)
    readers: list[threading.Thread] = []

    def read(page: WebPage, stop: Event | None = None) -> str:
        readers.append(threading.current_thread())
        return read_page(page, stop)

    monkeypatch.setattr(fetch_url, "read_page", read)
    result = await FetchUrl().run(FetchUrlArguments(url="http://a/"), ToolContext(workspace))
    assert result.output.endswith("Hi")
    assert readers
    assert threading.current_thread() not in readers


@pytest.mark.parametrize("charset", ["idna", "zlib_codec", "\x1b[2J", "punycode"])
def test_an_encoding_that_cannot_be_used_is_read_as_utf8(charset: str) -> None:
    page = WebPage("http://a/", 200, "text/plain", charset, "ü".encode(), is_cut=False)
    assert read_page(page)


@pytest.mark.parametrize("url", ["http://[", "http://\x1b[2J/", "http://[::1"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(ToolError, match="is not a valid address"):
        web_page.fetch_page(url, Event())


@pytest.mark.skipif(which("rg") is None, reason="ripgrep is missing: nothing reads such files")
async def test_a_link_in_place_of_a_file_of_rules_fills_no_memory(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub" / ".gitignore").symlink_to("/dev/zero")
    (workspace / "sub" / "a").write_text("needle")
    arguments = SearchFilesArguments(pattern="needle")
    with pytest.raises(ToolError, match="The search ran out of memory"):
        await SearchFiles().run(arguments, ToolContext(workspace))
