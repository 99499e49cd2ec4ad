"""Each record in one line: what happened, and nothing that the log does not tell."""

from __future__ import annotations

import pytest

from agent_tui.core.records import (
    CompactionRecord,
    EnvironmentRecord,
    ModelRecord,
    Record,
    SessionHeader,
    TitleRecord,
    UserMessage,
)
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
