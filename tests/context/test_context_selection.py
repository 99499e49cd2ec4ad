from __future__ import annotations

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from agent_tui.context.compaction.selection import Room, Selection, select, steps_of
from agent_tui.context.compaction.strategies.registry import MASK, find_strategy, strategies
from agent_tui.context.compaction.summary_message import write_summary_message
from agent_tui.core.errors import CompactionError, UsageError
from agent_tui.core.messages import ToolCall
from agent_tui.core.origins import Origin
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage

NAMES = sorted(strategies().keys() - {MASK})
IDS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.lists(
    st.one_of(
        st.builds(UserMessage, st.text(min_size=1, max_size=9), st.just("human")),
        st.builds(
            AssistantMessage,
            st.text(max_size=9),
            st.lists(IDS, max_size=3, unique=True).map(
                lambda ids: tuple(ToolCall(i, "tool", "{}") for i in ids)
            ),
        ),
        st.builds(ToolMessage, IDS, st.text(max_size=9)),
        st.just(write_summary_message("what came before")),
    ),
    min_size=1,
    max_size=30,
)  # fmt: skip


def user(text: str, origin: Origin = "human") -> UserMessage:
    return UserMessage(text, origin)


def called(call_id: str) -> list[Message]:
    return [
        AssistantMessage("reading", (ToolCall(call_id, "read_file", "{}"),)),
        ToolMessage(call_id, "text"),
    ]


def settle(messages: list[Message], name: str, pins: set[int] | None = None) -> Selection:
    room = Room(messages, [100] * len(messages), window=400 * len(messages))
    return select(room, find_strategy(name).keep(room), pins or ())


@given(MESSAGES, st.sampled_from(NAMES), st.sets(st.integers(0, 29)))
def test_no_selection_separates_a_call_from_its_result(
    messages: list[Message], name: str, pins: set[int]
) -> None:
    try:
        selection = settle(messages, name, pins)
    except CompactionError:
        reject()
    fates = selection.fates()
    assert len(fates) == len(messages)
    for step in steps_of(messages):
        assert len({fates[index] == "kept" for index in step}) == 1
    in_steps = {index for step in steps_of(messages) for index in step}
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage) and index not in in_steps:
            assert fates[index] == "dropped"


@given(MESSAGES, st.sampled_from(NAMES), st.sets(st.integers(0, 29)))
def test_pins_always_stay(messages: list[Message], name: str, pins: set[int]) -> None:
    in_steps = {index for step in steps_of(messages) for index in step}
    real = {i for i in pins & in_steps if not _is_empty(messages[i])}
    try:
        selection = settle(messages, name, real)
    except CompactionError:
        reject()
    assert real <= set(selection.kept)


def _is_empty(message: Message) -> bool:
    if not isinstance(message, AssistantMessage):
        return False
    return not message.tool_calls and not str(message.content).strip()


def test_the_last_messages_stay_with_their_results() -> None:
    messages = [user("one"), *called("1"), *called("2"), user("two"), *called("3"), *called("4")]
    selection = settle(messages, "last-messages")
    assert {6, 7, 8, 9} <= set(selection.kept)
    assert {1, 2, 3, 4} <= set(selection.summarised)


def test_the_users_last_request_stays_however_long_ago_it_was() -> None:
    messages = [user("old"), user("do the thing"), *(m for n in range(20) for m in called(str(n)))]
    assert 1 in settle(messages, "last-messages").kept


def test_a_request_that_bursts_the_budget_is_summarised() -> None:
    messages: list[Message] = [user("huge"), *called("1"), *called("2"), *called("3")]
    room = Room(messages, [90_000, *[100] * 6], window=100_000)
    assert 0 in select(room, find_strategy().keep(room)).summarised


def test_a_previous_summary_is_taken_up_and_not_kept() -> None:
    messages = [
        write_summary_message("before"),
        user("one"),
        *called("1"),
        *called("2"),
        *called("3"),
    ]
    assert 0 in settle(messages, "last-messages").summarised


def test_reminders_and_empty_answers_are_dropped() -> None:
    messages = [
        user("<system>checkpoint 3</system>", "checkpoint"), user("a"), AssistantMessage(""),
        *called("1"), *called("2"), *called("3"),
    ]  # fmt: skip
    assert settle(messages, "last-messages").dropped == (0, 2)


def test_nothing_to_compact_is_said_in_words() -> None:
    messages: list[Message] = [user("hello"), AssistantMessage("hi")]
    told = "Nothing to compact: 2 messages, all would be kept. Continue"
    with pytest.raises(CompactionError, match=f"{told} the conversation first."):
        settle(messages, "last-messages")
    with pytest.raises(CompactionError, match=f"{told}, or unpin some."):
        select(Room(messages, [1, 1], 100), (), {0, 1})


def test_shares_keep_the_newest_tokens_and_recent_tokens_a_fixed_amount() -> None:
    messages: list[Message] = [AssistantMessage(f"step {n}") for n in range(100)]
    assert settle(messages, "last-share").kept == tuple(range(80, 100))
    assert settle(messages, "fallback").kept == tuple(range(70, 100))
    room = Room(messages, [1_000] * 100, window=200_000)
    assert len(select(room, find_strategy("recent-tokens").keep(room)).kept) == 20


def test_what_is_kept_leaves_room() -> None:
    messages: list[Message] = [AssistantMessage("a"), AssistantMessage("b"), AssistantMessage("c")]
    room = Room(messages, [10, 10, 90_000], window=100_000)
    assert select(room, find_strategy().keep(room)).kept == ()


def test_an_unknown_strategy_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UsageError, match="last-share, recent-tokens, mask, fallback"):
        find_strategy("clever")
