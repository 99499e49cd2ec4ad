"""Prompts and answers as a preview shows them: short, with the marks of the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rich.segment import Segment
from textual.content import Content

from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message, UserMessage
from agent_tui.core.text import clean, format_count
from agent_tui.history.exchanges import Exchange
from agent_tui.ui.renderers.call_subject import describe_call
from agent_tui.ui.renderers.canvas import Canvas
from agent_tui.ui.renderers.languages import Languages
from agent_tui.ui.renderers.lines import Line, indent
from agent_tui.ui.renderers.markdown import draw_markdown
from agent_tui.ui.themes.palette import Palette

_LONGEST = 1_200
_LOOKED_AT = 2 * _LONGEST
"""Characters of a text that are read for that: carriage returns may be among them."""
_SHORTEST = 40
"""Characters of a paragraph that are shown where the text is cut off in it, at least."""
_SAID = re.compile(r"\S")
_PROMPT_LINES = 4
_ANSWER_ROWS = 10
_MOST_CALLS = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answered, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What was asked, as it was typed."""

    text: str


Part: TypeAlias = Content | Prompt | Answer
"""A piece of a preview: text that wraps, or what was said, drawn in the width there is."""


def exchange_parts(exchanges: Sequence[Exchange]) -> Iterator[Part]:
    """The first lines of each prompt and each answer, a blank one between exchanges."""
    for exchange in exchanges:
        if exchange.compacted:
            yield Content.styled("\u2261 compacted", "$compaction")
        if exchange.prompt:
            yield Prompt(_first_lines(exchange.prompt))
        if exchange.answer:
            yield Answer(_beginning(exchange.answer))
        yield Content("")


def message_parts(message: Message) -> Iterator[Part]:
    """The first lines of one message, with what it calls."""
    text = _beginning(text_of(message.content))
    match message:
        case UserMessage() if text:
            yield Prompt(text)
        case AssistantMessage() if text:
            yield Answer(text)
        case _ if text:
            yield from (Content.styled(f"  {line}", "$muted") for line in text.split("\n"))
        case _:
            pass
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    for call in calls[:_MOST_CALLS]:
        subject = _beginning(describe_call(call.name, call.arguments))
        yield Content.assemble("  ", (_beginning(call.name), "$tool"), " ", (subject, "$faint"))
    if len(calls) > _MOST_CALLS:
        more = format_count(len(calls) - _MOST_CALLS, "more call")
        yield Content.styled(f"  {more}", "$faint")


def draw_prompt(prompt: Prompt, width: int) -> list[Content]:
    """A prompt with its mark in the gutter, where nothing else stands."""
    rows = Content.styled(prompt.text, "bold").wrap(max(8, width - 2))
    mark, space = Content.styled("\u276f ", "$user"), Content("  ")
    return [(space if number else mark) + row for number, row in enumerate(rows)]


def draw_answer(answer: Answer, width: int, palette: Palette, more_rows: int = 0) -> list[Line]:
    """The first rows of an answer, quieter than the prompt above it."""
    quiet = replace(palette, text=palette.muted, base=palette.muted)
    rows = draw_markdown(answer.text, Canvas(max(8, width - 2), quiet, Languages()))
    shown = rows[: _ANSWER_ROWS + more_rows]
    if len(rows) > len(shown):
        shown.append([Segment("\u2026", palette.faint)])
    return indent(shown, [Segment("  ")])


def _first_lines(prompt: str) -> str:
    lines = _beginning(prompt).split("\n")
    more = "\u2026" * (len(lines) > _PROMPT_LINES)
    return "\n".join(lines[:_PROMPT_LINES]) + more


def _beginning(text: str) -> str:
    """As much of a text as a preview may show, cleaned, cut at the end of a word.

    A message may be megabytes long: only what may be shown is looked at.
    """
    said = _SAID.search(text)
    start = said.start() if said else len(text)
    head = clean(text[start : start + _LOOKED_AT]).rstrip()
    if len(head) <= _LONGEST and start + _LOOKED_AT >= len(text):
        return head
    cut = head[:_LONGEST].rpartition(" ")[0] or head[:_LONGEST]
    whole, blank, begun = cut.rpartition("\n\n")
    return f"{whole}{blank}\u2026" if whole and len(begun) < _SHORTEST else f"{cut}\u2026"
