"""A list shows of a session what was said last in it."""

from __future__ import annotations

from agent_tui.core.messages import TextPart, ThinkPart, ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Record,
    ToolMessage,
    UserMessage,
)
from agent_tui.history.exchanges import Exchange, last_exchanges

CALL = ToolCall("a", "read_file", "{}")
TURN = (
    UserMessage("first", "human"),
    AssistantMessage("I look.", (CALL,)),
    ToolMessage("a", "its text"),
    AssistantMessage((ThinkPart("hm"), TextPart("Done."))),
)


def test_an_exchange_is_a_prompt_and_the_last_words_of_its_answer() -> None:
    assert last_exchanges(TURN) == (Exchange("first", "Done."),)
    assert last_exchanges([*TURN, UserMessage("and", "human")])[-1] == Exchange("and", "")
    assert last_exchanges(()) == ()


def test_only_the_last_ones_count_and_nothing_that_a_program_said() -> None:
    records: list[Record] = [
        *TURN * 5,
        UserMessage("a reminder", "reminder"),
        UserMessage("$ ls", "shell"),
    ]
    assert last_exchanges(records) == (Exchange("first", "Done."),) * 4


def test_an_answer_after_a_compaction_is_not_the_answer_to_the_prompt_before_it() -> None:
    compaction = CompactionRecord("auto", "last-messages", 900, 90, 1)
    summary = UserMessage("a summary", "compaction")
    records: list[Record] = [*TURN, compaction, summary, AssistantMessage("More.")]
    assert last_exchanges(records) == (
        Exchange("first", "Done."),
        Exchange("", "", compacted=True),
        Exchange("", "More."),
    )
