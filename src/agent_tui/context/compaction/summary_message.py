"""The message that stands for what was compacted, as a record of a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_tui.context.compaction.file_analysis import FileExcerpt
from agent_tui.core.messages import text_of
from agent_tui.core.records import Message, UserMessage
from agent_tui.core.summary_format import opens_summary, read_summary, write_summary


def write_summary_message(
    summary: str,
    files: Sequence[FileExcerpt] = (),
    index: Mapping[str, Sequence[str]] | None = None,
    *,
    fallback: bool = False,
) -> UserMessage:
    """The message that replaces what was summarised, with the files that were read for it."""
    written = [file.written() for file in files]
    return UserMessage(write_summary(summary, written, index, fallback=fallback), "compaction")


def is_summary(message: Message) -> bool:
    """Whether a message stands for what was compacted before it."""
    if not isinstance(message, UserMessage):
        return False
    if message.origin == "compaction":
        return True
    if message.origin not in (None, "import"):
        return False
    content = message.content
    return opens_summary(content if isinstance(content, str) else text_of(content[:1]))


def summary_text(message: Message) -> str:
    """The summary that a message holds, without what stands around it."""
    return read_summary(message.content).summary
