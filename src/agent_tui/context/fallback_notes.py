"""What the fallback can say without a model: what was asked, and which files it was about."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.context.file_analysis import rank_files
from agent_tui.context.selection import is_request
from agent_tui.context.summary_message import is_summary, summary_text
from agent_tui.core.messages import text_of
from agent_tui.core.records import Message
from agent_tui.core.text import first_line

_REQUESTS = 8
_FILES = 8
_SUMMARY_CHARS = 6_000


def write_fallback_notes(messages: Sequence[Message], gone: Sequence[int], reason: str) -> str:
    """Notes on the messages that go, made of their own words; a previous summary is kept."""
    left = [messages[index] for index in gone]
    summaries = [summary_text(message) for message in left if is_summary(message)]
    asked = [first_line(text_of(m.content), 200) for m in left if is_request(m)]
    files = rank_files(left)[:_FILES]
    lines = [f"No summary could be made: {reason}", f"{len(left)} older messages were cut off."]
    if asked:
        lines.append("What the user asked in them, oldest first:")
        lines += [f"- {line}" for line in asked[-_REQUESTS:]]
    if files:
        names = ", ".join(file.path + (" (changed)" if file.changed else "") for file in files)
        lines.append(f"Files they were about: {names}")
    if summaries:
        lines += ["The summary of what came before them:", summaries[-1][:_SUMMARY_CHARS]]
    return "\n".join(lines)
