"""The brief that a model summarises: the transcript of what will go, in words, within a budget.

Thinking is never in it. Calls stand with their arguments, results are shortened, pictures are named
with their size, and a previous summary is given to be updated instead of being quoted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_tui.context.compaction.file_analysis import FileExcerpt
from agent_tui.context.compaction.selection import is_request
from agent_tui.context.compaction.summary_message import is_summary, summary_text
from agent_tui.context.tokens.media import describe_media
from agent_tui.core.messages import Content, MediaPart, TextPart, ThinkPart, ToolCall, UnknownPart
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.text import format_count
from agent_tui.core.words import OUTCOMES
from agent_tui.resources import prompt


@dataclass(frozen=True, slots=True)
class Shortening:
    """How much of each kind of text a brief shows, in characters."""

    said: int
    arguments: int
    result: int


_STAYING_REQUESTS, _STAYING_CHARS = 5, 400
LEVELS = (
    Shortening(said=20_000, arguments=2_000, result=2_000),
    Shortening(said=8_000, arguments=600, result=600),
    Shortening(said=2_000, arguments=200, result=160),
)


@dataclass(frozen=True, slots=True)
class Brief:
    """What the model is given, piece by piece.

    Attributes:
        system: how it should go about it.
        previous: the summary so far; empty without one.
        said: the messages in words, in order.
        files: the most important files as they are now.
        closing: what it should do now.
        left_out: indices of messages for which there was no room.
    """

    system: str
    previous: str
    said: tuple[str, ...]
    files: str
    closing: str
    left_out: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        """The brief as it is sent."""
        missing = (
            f"(Left out for lack of room: {format_count(len(self.left_out), 'older message')}.)"
        )
        parts = [
            f"# Summary so far\n\n{self.previous}" if self.previous else "",
            "# Transcript",
            missing if self.left_out else "",
            *self.said,
            f"# Files as they are now\n\n{self.files}" if self.files else "",
            self.closing,
        ]
        return "\n\n".join(filter(None, parts))

    def halves(self) -> tuple[Brief, Brief]:
        """Two briefs with half of the messages each; only the second one shows the files."""
        middle = len(self.said) // 2
        first = replace(self, said=self.said[:middle], files="", closing=_closing(""))
        return first, replace(self, previous="", said=self.said[middle:], left_out=frozenset())


def write_brief(
    messages: Sequence[Message],
    chosen: Sequence[int],
    *,
    staying: Sequence[int] = (),
    focus: str = "",
    budget: int = 0,
    files: Sequence[FileExcerpt] = (),
) -> Brief:
    """Brief a model on the chosen messages, in at most about ``budget`` tokens (0: no limit).

    Shortens more and more; if that does not do, the oldest messages are left out, requests of the
    user last of all. Of the messages that stay the newest requests are named in their places:
    without them the model would take an older one for the last, and not know what work was for.
    """
    summaries = [index for index in chosen if is_summary(messages[index])]
    shown = [index for index in chosen if index not in summaries]
    previous = "\n\n".join(summary_text(messages[index]) for index in summaries)
    closing = _closing(focus)
    shown_files = "\n".join(file.written() for file in files)
    asked = _staying_requests(messages, staying)
    system = prompt("compact_update" if previous else "compact")
    taken = [system, previous, closing, shown_files, *asked.values()]
    left = budget - sum(map(_room_for, taken)) if budget else 0
    entries = dict.fromkeys(shown, "")
    for level in LEVELS:
        entries = {index: _entry(index, messages[index], level) for index in shown}
        if not budget or sum(map(_room_for, entries.values())) <= left:
            break
    left_out = _out_of_room(messages, entries, left) if budget else frozenset()
    said = {index: text for index, text in entries.items() if index not in left_out} | asked
    in_order = tuple(said[index] for index in sorted(said))
    return Brief(system, previous, in_order, shown_files, closing, left_out)


def _staying_requests(messages: Sequence[Message], staying: Sequence[int]) -> dict[int, str]:
    requests = [index for index in staying if is_request(messages[index])]
    return {
        index: f"## message {index + 1} · user (stays in the context, word for word)\n"
        + shorten(words_of(messages[index].content), _STAYING_CHARS)
        for index in requests[-_STAYING_REQUESTS:]
    }


def _room_for(text: str) -> int:
    """The tokens that a text takes at most, but for oddities; cheap: it is asked of every one."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size // 3 + 1


def _closing(focus: str) -> str:
    asked = f"\nAbove all, keep what matters for this: {focus.strip()}" if focus.strip() else ""
    return f"# End of the transcript\n\nWrite the summary now.{asked}"


def _out_of_room(
    messages: Sequence[Message], entries: dict[int, str], budget: int
) -> frozenset[int]:
    tokens = {index: _room_for(text) for index, text in entries.items()}
    over = sum(tokens.values()) - budget
    out: set[int] = set()
    for requests in (False, True):
        for index in entries:
            if over <= 0:
                return frozenset(out)
            if is_request(messages[index]) is requests:
                out.add(index)
                over -= tokens[index]
    return frozenset(out)


def _entry(index: int, message: Message, level: Shortening) -> str:
    title = f"## message {index + 1} · "
    match message:
        case UserMessage(content=content, origin=origin):
            aside = f" ({origin})" if origin not in ("human", "import", None) else ""
            return f"{title}user{aside}\n{shorten(words_of(content), level.said)}"
        case AssistantMessage(content=content, tool_calls=calls):
            said = shorten(words_of(content), level.said)
            lines = [said] if said else []
            lines += [_call_line(call, level.arguments) for call in calls]
            return "\n".join((f"{title}assistant", *lines))
        case ToolMessage(content=content):
            kind = ", ".join(filter(None, ("tool", OUTCOMES[message.outcome])))
            return f"{title}{kind}\n{shorten(words_of(content), level.result)}"


def _call_line(call: ToolCall, limit: int) -> str:
    return f"call {call.name} {shorten(call.arguments or '{}', limit)}"


def words_of(content: Content) -> str:
    """A content as a model may read it in a brief: no thinking, media named with their size."""
    if isinstance(content, str):
        return content.strip()
    said = []
    for part in content:
        match part:
            case TextPart(text):
                said.append(text)
            case MediaPart():
                said.append(describe_media(part))
            case ThinkPart():
                continue
            case UnknownPart(fields):
                said.append(f"[a part of type {fields.get('type', 'unknown')!s:.40}]")
    return "".join(said).strip()


def shorten(text: str, limit: int) -> str:
    """The head and the tail of a text that is too long, with a word about what is missing."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    missing = f"{format_count(len(text) - head - tail, 'character')} left out"
    return f"{text[:head].rstrip()}\n… [{missing}] …\n{text[-tail:].lstrip()}"
