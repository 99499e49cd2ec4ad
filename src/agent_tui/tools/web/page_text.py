"""A web page as text that can be read: headings, lists, code and links, without the rest."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from threading import Event
from time import monotonic

_LEFT_OUT = frozenset({"script", "style", "noscript", "template", "svg", "nav", "iframe", "form"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "ul", "ol", "table", "tr", "br", "blockquote", "pre"}
)
_BLANK_LINES = re.compile(r"\n{3,}")
_MOST_TAGS = 200_000
_SECONDS = 5.0


def page_text(html: str, stop: Event | None = None) -> str:
    """The text of an HTML page, about as Markdown; blocks.

    Of a page made to be slow, or when ``stop`` is set, only what was read by then: the parser looks
    for the end of each tag and comment that has none.
    """
    reader = _Reader(stop or Event())
    try:
        reader.feed(html)
        reader.close()
    except _Enough:
        reader.pieces.append("\n\n[The rest of the page takes too long to read.]")
    lines = (line.rstrip() for line in "".join(reader.pieces).split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


class _Enough(Exception):
    """Nobody waits any longer for the rest of the page."""


class _Reader(HTMLParser):
    def __init__(self, stop: Event) -> None:
        super().__init__(convert_charrefs=True)
        self._stop = stop
        self._until = monotonic() + _SECONDS
        self.pieces: list[str] = []
        self._left_out = 0
        self._is_code = 0
        self._tags = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._look_up()
        self._tags += 1
        if self._tags > _MOST_TAGS:
            return
        if tag in _LEFT_OUT:
            self._left_out += 1
        elif re.fullmatch("h[1-6]", tag):
            self.pieces.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "li":
            self.pieces.append("\n- ")
        elif tag in _BLOCKS:
            self._is_code += tag == "pre"
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _LEFT_OUT:
            self._left_out = max(0, self._left_out - 1)
        elif tag in _BLOCKS or re.fullmatch("h[1-6]", tag):
            self._is_code = max(0, self._is_code - (tag == "pre"))
            self.pieces.append("\n")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Pass over ``<![…>`` as browsers do: some parsers fail where its name is unknown."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def _look_up(self) -> None:
        if self._stop.is_set() or monotonic() > self._until:
            raise _Enough

    def handle_data(self, data: str) -> None:
        self._look_up()
        if self._left_out:
            return
        self.pieces.append(data if self._is_code else re.sub(r"\s+", " ", data))
