"""The message that stands for what was compacted: how it is written, and how it is read back."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.context.compaction.file_analysis import FileExcerpt
from agent_tui.core.messages import TextPart, text_of
from agent_tui.core.records import Message, UserMessage

PREFACE = (
    "<system>Earlier messages were compacted into this summary. Those that follow it are kept "
    "word for word; what they ask may be done already.</system>\n\n"
)
FALLBACK_PREFACE = (
    "<system>Earlier messages were cut off and could not be summarised. "
    "Those that follow are kept word for word.</system>\n\n"
)
_FILES_OPENING = "\n\n<files>\n"
_FOREIGN_OPENINGS = ("<system>Previous context has been compacted.",)  # kimi's, which has no origin


def write_summary_message(
    summary: str, files: Sequence[FileExcerpt] = (), *, fallback: bool = False
) -> UserMessage:
    """The message that replaces what was summarised, with the files that were read for it."""
    parts = [TextPart(FALLBACK_PREFACE if fallback else PREFACE), TextPart(summary.strip())]
    if files:
        shown = "\n".join(file.written() for file in files)
        parts.append(TextPart(f"{_FILES_OPENING}{shown}\n</files>"))
    return UserMessage(tuple(parts), origin="compaction")


def is_summary(message: Message) -> bool:
    """Whether a message stands for what was compacted before it."""
    if not isinstance(message, UserMessage):
        return False
    if message.origin == "compaction":
        return True
    if message.origin not in (None, "import"):
        return False
    content = message.content
    first = content if isinstance(content, str) else text_of(content[:1])
    return first.startswith(_FOREIGN_OPENINGS)


def summary_text(message: Message) -> str:
    """The summary that a message holds, without what stands around it."""
    content = message.content
    if isinstance(content, str):
        return content.strip()
    texts = [part.text for part in content if isinstance(part, TextPart)]
    if len(texts) > 1 and texts[0].startswith("<system>"):
        texts = texts[1:]
    return "".join(text for text in texts if not text.startswith(_FILES_OPENING)).strip()
