"""A mechanical index of what was compacted: files, identifiers, numbers and errors, by name.

A summary says what happened; the index is what one searches by when an exact name is wanted again.
Made by patterns, without a model, and the same every time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from agent_tui.context.compaction.facts import errors_in_output, facts_in
from agent_tui.context.compaction.summary_message import is_summary
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.summary_format import read_summary, write_index

_KINDS = {"file": "Files", "error": "Errors", "number": "Numbers", "url": "Addresses"}
_ORDER = ("Files", "Names", "Numbers", "Addresses", "Errors")
_NAME = re.compile(
    r"\b(?:[a-z]\w*_\w+|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[A-Z][A-Z0-9]*_[A-Z0-9_]+"
    r"|[a-z_]\w+(?:\.[a-z_]\w+)+(?=\()|[0-9a-f]{7,40}(?<=[0-9a-f][a-f0-9]))\b"
)
_HASH = re.compile(r"[0-9a-f]{7,40}")
_SCANNED_CHARS = 4_000
_LONGEST = 120
_CHARS_PER_TOKEN = 3


def index_names(
    messages: Sequence[Message], *, tokens: int, said: str = ""
) -> dict[str, list[str]]:
    """The names in messages that go, within about so many tokens.

    What ``said`` mentions is left out. Names that came often or lately win; those of an earlier
    index are taken over.
    """
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for place, message in enumerate(messages):
        for kind, name in _names_in(message):
            times, _ = found.get((kind, name), (0, 0))
            found[kind, name] = times + 1, place
    ranked = sorted(found, key=lambda each: (-min(found[each][0], 5), -found[each][1], each))
    room = tokens * _CHARS_PER_TOKEN
    chosen: dict[str, list[str]] = {kind: [] for kind in _ORDER}
    share = {kind: room // (3 if kind == "Names" else 4) for kind in _ORDER}
    for kind, name in ranked:
        size = len(name) + 3
        if name in said or share.get(kind, 0) < size or room < size:
            continue
        chosen[kind].append(name)
        share[kind] -= size
        room -= size
    return {kind: names for kind, names in chosen.items() if names}


def count_index(message: Message | None, count: Callable[[Message], int]) -> int:
    """The tokens of the index in a summary message; 0 where it has none."""
    index = read_summary(message.content).index if message is not None else {}
    return count(UserMessage(write_index(index))) if index else 0


def _names_in(message: Message) -> Iterable[tuple[str, str]]:
    if is_summary(message):
        earlier = read_summary(message.content).index
        yield from ((kind, name) for kind, names in earlier.items() for name in names)
    facts = list(facts_in(message))
    text = text_of(message.content)[:_SCANNED_CHARS]
    if isinstance(message, ToolMessage):
        facts += list(errors_in_output(text))
    if isinstance(message, AssistantMessage):
        text += " ".join(call.arguments[:_SCANNED_CHARS] for call in message.tool_calls)
    for fact in facts:
        if kind := _KINDS.get(fact.kind):
            yield kind, " ".join(fact.text.split())[:_LONGEST]
    for name in dict.fromkeys(_NAME.findall(text)):
        if _HASH.fullmatch(name) and (name.isdigit() or not any(map(str.isdigit, name))):
            continue  # a number, or a word that happens to be spelled with these letters
        if not name.endswith(("Error", "Exception")):
            yield "Names", name[:_LONGEST]
