"""What the fallback can say without a model: what was asked, and which files it was about.

Notes on notes would bury the summary that a model wrote once, so the notes of an earlier fallback
are read back and brought up to date instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_tui.context.compaction.briefing import shorten
from agent_tui.context.compaction.file_analysis import rank_files
from agent_tui.context.compaction.selection import is_request
from agent_tui.context.compaction.summary_message import is_summary, summary_text
from agent_tui.core.messages import text_of
from agent_tui.core.records import Message
from agent_tui.core.text import first_line, format_count

_REQUESTS = 8
_FILES = 8
_LEAST_SUMMARY_CHARS = 6_000
_NO_SUMMARY = "No summary could be made: "
_ASKED = "What the user asked in them, oldest first:"
_ABOUT = "Files they were about: "
_BEFORE = "The summary of what came before them:"
_CUT_OFF = re.compile(r"([\d,]+) older messages? (?:was|were) cut off\.")


@dataclass(slots=True)
class _Notes:
    """Notes, read back: how many messages were cut off, what they asked, and about what."""

    cut: int
    asked: list[str]
    files: list[str]
    summary: str


def write_fallback_notes(
    messages: Sequence[Message], gone: Sequence[int], reason: str, *, window: int = 0
) -> str:
    """Notes on the messages that go, made of their own words.

    A previous summary stays as it is, up to about a tenth of the ``window`` (in tokens).
    """
    left = [messages[index] for index in gone if not is_summary(messages[index])]
    earlier = [_read_notes(summary_text(messages[i])) for i in gone if is_summary(messages[i])]
    cut = len(left) + sum(notes.cut for notes in earlier)
    asked = [line for notes in earlier for line in notes.asked]
    asked += [first_line(text_of(m.content), 200) for m in left if is_request(m)]
    files = [file.path + " (changed)" * file.changed for file in rank_files(left)]
    files += [name for notes in earlier for name in notes.files]
    names = list(dict.fromkeys(files))[:_FILES]
    summaries = [notes.summary for notes in earlier if notes.summary]
    lines = [
        f"{_NO_SUMMARY}{first_line(reason, 400)}",
        f"{format_count(cut, 'older message')} {'was' if cut == 1 else 'were'} cut off.",
    ]
    if asked:
        lines += [_ASKED, *(f"- {line}" for line in asked[-_REQUESTS:])]
    if names:
        lines.append(_ABOUT + ", ".join(names))
    if summaries:
        limit = max(_LEAST_SUMMARY_CHARS, window // 10 * 3)
        lines += [_BEFORE, shorten("\n\n".join(summaries), limit)]
    return "\n".join(lines)


def _read_notes(text: str) -> _Notes:
    """What earlier notes say; lines that are none of theirs came by hand and stay."""
    if not text.startswith(_NO_SUMMARY):
        return _Notes(0, [], [], text)
    told, _, summary = text.partition(f"\n{_BEFORE}\n")
    notes = _Notes(0, [], [], "")
    by_hand = []
    for line in told.split("\n")[1:]:
        if found := _CUT_OFF.fullmatch(line):
            notes.cut = int(found[1].replace(",", ""))
        elif line.startswith("- "):
            notes.asked.append(line[2:])
        elif line.startswith(_ABOUT):
            notes.files += line.removeprefix(_ABOUT).split(", ")
        elif line != _ASKED:
            by_hand.append(line)
    notes.summary = "\n".join((*by_hand, summary)).strip()
    return notes
