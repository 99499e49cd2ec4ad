"""Prompts and answers as a preview shows them: short, with the marks of the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from textual.content import Content

from agent_tui.core.text import clean
from agent_tui.history.exchanges import Exchange

_LONGEST = 360
_MARKDOWN = re.compile(r"\*\*|__|`|^#+ ", re.MULTILINE)
_BLANKS = re.compile(r"\s+")


def exchange_lines(exchanges: Sequence[Exchange]) -> Iterator[Content]:
    """A line for each prompt and each answer, a blank one between exchanges."""
    for exchange in exchanges:
        if exchange.compacted:
            yield Content.styled("\u2261 compacted", "$compaction")
        if exchange.prompt:
            yield Content.assemble(("\u276f ", "$user"), (_short(exchange.prompt), "bold"))
        if exchange.answer:
            yield Content.assemble("  ", (_short(exchange.answer), "$muted"))
        yield Content("")


def _short(text: str) -> str:
    plain = _BLANKS.sub(" ", _MARKDOWN.sub("", clean(text[: 2 * _LONGEST]))).strip()
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST].rstrip()}\u2026"
