"""Each record in one line: what happened, and nothing that the log does not tell."""

from __future__ import annotations

import pytest

from agent_tui.core.messages import Content, TextPart
from agent_tui.core.origins import Origin
from agent_tui.core.records import (
    CompactionRecord,
    EnvironmentRecord,
    ModelRecord,
    Record,
    SessionHeader,
    TitleRecord,
    UserMessage,
)
from agent_tui.core.summary_format import write_branch_summary, write_summary
from agent_tui.history.tree.record_words import describe_record


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (CompactionRecord("manual", "mask", 9_000, 3_000, 1, (), kept=1), "compacted 9.0k → 3.0k"),
        (CompactionRecord("auto", "", 0, 0, 1, (), kept=2), "compacted, 2 messages kept"),
        (EnvironmentRecord("/w", "main", "1"), "working in /w"),
        (ModelRecord("p", "m"), "model m"),
        (TitleRecord("Tides"), "named “Tides”"),
        (SessionHeader("s1", "/w", "", ""), "session s1 begins"),
        (UserMessage("", "human"), "(empty)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_record_says_what_happened(record: Record, words: str) -> None:
    assert describe_record(record).startswith(words)


@pytest.mark.parametrize(
    ("content", "origin"),
    [
        (write_summary("**All** is well.", ["a.py"], {"Files": ["a.py"]}), "compaction"),
        (write_summary("All is well.", fallback=True), "compaction"),
        ("<system>Previous context has been compacted.</system>\n\nAll is well.", "compaction"),
        ((TextPart("All is well."),), "compaction"),
        (write_branch_summary("All is well."), "branch"),
    ],
)
def test_a_summary_is_told_without_the_words_around_it(content: Content, origin: Origin) -> None:
    assert describe_record(UserMessage(content, origin)) == "All is well."
