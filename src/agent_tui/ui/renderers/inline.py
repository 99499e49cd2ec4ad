"""Markdown inside a line: emphasis, code, links. One pass, no nesting of links, nothing executed.

The delimiter rules are those of CommonMark 0.31, section 6.2, simplified: a run of one to three
``*`` or ``_`` (or ``~~``) opens or closes by the characters beside it.
"""

from __future__ import annotations

import re

from rich.segment import Segment
from rich.style import Style

from agent_tui.core.dataclass import dataclass
from agent_tui.ui.renderers.lines import Line
from agent_tui.ui.themes.palette import Palette

_SPECIAL = re.compile(r"[\\`*_~\[<&]|https?://")
_TOKEN = re.compile(
    r"\\(?P<escape>[!-/:-@\[-`{-~])"
    # A run of backticks is taken whole and from its beginning: trying its parts is cubic.
    r"|(?<![^\\]`)(?<!\A`)(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>(?:\\.|[^\[\]\\])*)\]\((?P<target><[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)"
    r"|<(?P<auto>(?:https?://|mailto:)[^\s<>]+)>"
    r"|(?P<bare>https?://[^\s<>`\"')\]*]+)"
    r"|<(?P<tag>br|/?(?:b|i|u|em|strong|code|kbd|sub|sup|p|div|span|details|summary))\s*/?>"
    r"|(?P<run>\*{1,3}|_{1,3}|~~)"
    r"|&(?P<entity>amp|lt|gt|quot|nbsp|\#39);",
    re.DOTALL | re.IGNORECASE,
)
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "nbsp": " ", "#39": "'"}
_BOLD = Style(bold=True)
_ITALIC = Style(italic=True)
_STRIKE = Style(strike=True)
_STYLES = (_BOLD, _ITALIC, _STRIKE)


@dataclass(slots=True)
class _Run:
    """A run of emphasis marks at a place among the pieces."""

    place: int
    mark: str
    count: int
    opens: bool
    closes: bool


def style_inline(text: str, base: Style, palette: Palette) -> Line:
    """The text as styled pieces; marks that have no partner stay as they were written."""
    if not _SPECIAL.search(text):
        return [Segment(text, base)] if text else []
    pieces, runs = _scan(text, base, palette)
    _pair(pieces, runs)
    return [piece for piece in pieces if piece.text]


def _scan(text: str, base: Style, palette: Palette) -> tuple[list[Segment], list[_Run]]:
    pieces: list[Segment] = []
    runs: list[_Run] = []
    position = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if start > position:
            pieces.append(Segment(text[position:start], base))
        position = end
        if match["run"]:
            runs.append(_read_run(text, match, len(pieces)))
            pieces.append(Segment(match["run"], base))
        else:
            pieces.extend(_read_token(match, base, palette))
    if position < len(text):
        pieces.append(Segment(text[position:], base))
    return pieces, runs


def _read_token(match: re.Match[str], base: Style, palette: Palette) -> Line:
    if match["escape"]:
        return [Segment(match["escape"], base)]
    if match["ticks"]:
        code = match["code"].replace("\n", " ")
        if len(code) > 2 and code[0] == code[-1] == " " and code.strip():
            code = code[1:-1]
        return [Segment(code, base + palette.code)]
    if match["label"] is not None:
        return _read_link(match["label"], match["target"].strip("<>"), base, palette)
    if match["auto"] or match["bare"]:
        url = match["auto"] or match["bare"]
        trail = "" if match["auto"] else url[len(url.rstrip(".,;:!?")) :]
        url = url.removesuffix(trail) if trail else url
        return [Segment(url, base + palette.link + Style(link=url)), Segment(trail, base)]
    if match["tag"]:
        return [Segment("\n" if match["tag"].lower() == "br" else match.group(), base)]
    return [Segment(_ENTITIES[match["entity"].lower()], base)]


def _read_link(label: str, target: str, base: Style, palette: Palette) -> Line:
    """A link shows where it leads: a terminal may not tell, and a text may lie."""
    label = label.replace("\\", "") or target
    style = base + palette.link
    if target.startswith(("http://", "https://")):
        style += Style(link=target)
    if label == target or not target:
        return [Segment(label, style)]
    return [Segment(label, style), Segment(f" ({target})", base + palette.faint)]


def _read_run(text: str, match: re.Match[str], place: int) -> _Run:
    start, end = match.span()
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    left = not after.isspace() and (after.isalnum() or before.isspace() or not before.isalnum())
    right = not before.isspace() and (before.isalnum() or after.isspace() or not after.isalnum())
    mark = match["run"]
    if mark[0] == "_":
        left, right = left and not before.isalnum(), right and not after.isalnum()
    return _Run(place, mark[0], len(mark), left, right)


def _pair(pieces: list[Segment], runs: list[_Run]) -> None:
    """Match closers with the nearest opener of the same mark and style what is between.

    The time follows the length of the text: nothing is gone through once for each pair.
    """
    openers: list[_Run] = []
    waiting = dict.fromkeys("*_~", 0)
    edges = [[0] * (len(pieces) + 1) for _ in _STYLES]
    for run in runs:
        while run.closes and run.count and waiting[run.mark]:
            while openers[-1].mark != run.mark:
                waiting[openers.pop().mark] -= 1
            opener = openers[-1]
            taken = 2 if opener.count >= 2 and run.count >= 2 else 1
            kind = _STYLES.index(_STRIKE if run.mark == "~" else _BOLD if taken == 2 else _ITALIC)
            edges[kind][opener.place + 1] += 1
            edges[kind][run.place] -= 1
            for side in (opener, run):
                side.count -= taken
                pieces[side.place] = Segment(side.mark * side.count, pieces[side.place].style)
            if not opener.count:
                waiting[openers.pop().mark] -= 1
        if run.opens and run.count:
            openers.append(run)
            waiting[run.mark] += 1
    _style_between(pieces, edges)


def _style_between(pieces: list[Segment], edges: list[list[int]]) -> None:
    """Give each piece the styles whose openers before it outnumber their closers."""
    depths = [0] * len(edges)
    for place, piece in enumerate(pieces):
        style = piece.style or Style.null()
        for kind, changes in enumerate(edges):
            depths[kind] += changes[place]
            if depths[kind]:
                style += _STYLES[kind]
        if style is not piece.style:
            pieces[place] = Segment(piece.text, style)
