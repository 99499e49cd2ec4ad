"""What a search found is found again in the conversation, whoever joined or split its lines."""

from __future__ import annotations

import pytest

from agent_tui.core.records import AssistantMessage, Record, Stamp, ToolMessage, UserMessage
from agent_tui.history.found_record import FoundLine, find_record

EARLY, LATE = "2026-11-01T10:00:00Z", "2026-11-01T11:00:00Z"
RECORDS: list[Record] = [
    UserMessage("Fix the tide", stamp=Stamp(at=EARLY)),
    AssistantMessage("The tide\n is fixed.", stamp=Stamp(at=EARLY)),
    ToolMessage("c", "low 1.2 m", stamp=Stamp(at=LATE)),
    UserMessage("Fix the tide", stamp=Stamp(at=LATE)),
]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (FoundLine(EARLY, "Fix the tide", "tide"), 0),
        (FoundLine(LATE, "Fix the tide", "tide"), 3),
        (FoundLine(EARLY, "… tide is fixed. …", "fixed"), 1),
        (FoundLine("", "low 1.2", "low"), 2),
        (FoundLine(LATE, "low 1.2 m and what another line said", "low"), 2),
        (FoundLine("2020-01-01T00:00:00Z", "gone", "gone"), None),
    ],
)
def test_time_and_text_lead_to_the_record(line: FoundLine, place: int | None) -> None:
    assert find_record(RECORDS, line) == place
