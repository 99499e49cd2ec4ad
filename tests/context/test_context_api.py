from __future__ import annotations

from itertools import takewhile

import pytest
from hypothesis import given

from agent_tui.context.context import Context
from agent_tui.context.sent_history import SentHistory
from agent_tui.context.tokens.since_usage import TokensSinceUsage
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.errors import UnknownCheckpoint
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Message,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.usage import Usage
from agent_tui.providers.base import ToolSchema
from agent_tui.sessions.replay import Entry, SessionState
from agent_tui.sessions.sent_messages import repaired_messages
from agent_tui.sessions.store import SessionStore
from tests.context.conftest import add_turn
from tests.context.test_context_selection import MESSAGES


def counted(context: Context) -> int:
    counts = context.counter.count_messages(context.history)
    return context.overhead_tokens + sum(counts)


async def test_a_context_is_what_its_log_holds(talk: Context) -> None:
    fresh = Context(talk.log, talk.counter)
    assert fresh.history == talk.history
    assert len(fresh.history) == 24


async def test_reverting_to_an_unknown_checkpoint_names_those_there_are(talk: Context) -> None:
    with pytest.raises(UnknownCheckpoint, match=r"no checkpoint 99; .* 4, 5"):
        await talk.revert_to(99)
    assert len(talk.history) == 24


async def test_checkpoints_are_numbered_on_and_revert_takes_their_turns_back(talk: Context) -> None:
    assert talk.n_checkpoints == 6
    assert await talk.revert_to(4) == 1
    assert len(talk.history) == 16
    assert await talk.checkpoint(5, 0) == 4


async def test_clear_keeps_the_system_prompt_only(talk: Context) -> None:
    await talk.log.clear()
    assert talk.history == ()
    assert talk.system_prompt == "You are a careful agent."
    assert talk.token_count == talk.overhead_tokens


async def test_without_a_providers_word_everything_is_counted(talk: Context) -> None:
    assert talk.estimated
    assert talk.token_count == counted(talk)


async def test_the_providers_count_is_taken_and_what_came_since_is_added(talk: Context) -> None:
    await talk.note(UsageRecord(5_000, Usage(4_000, 1_000)))
    assert (talk.token_count, talk.estimated) == (5_000, False)
    message = UserMessage("and one more thing", "human", 7)
    await talk.append(message)
    assert talk.token_count == 5_000 + talk.counter.count_message(message)
    assert talk.estimated


async def test_the_count_is_right_at_once_after_revert_undo_and_resume(
    talk: Context, store: SessionStore
) -> None:
    await talk.note(UsageRecord(5_000, Usage(4_000, 1_000)))
    await add_turn(talk, 7)
    await talk.note(UsageRecord(6_000, Usage(5_000, 1_000)))
    archive = await talk.revert_to(6)
    assert (talk.token_count, talk.estimated) == (5_000, False)
    await talk.log.restore(archive, "undo")
    assert (talk.token_count, talk.estimated) == (6_000, False)
    await talk.log.close()
    again = Context(await store.open("session"), talk.counter)
    assert (again.token_count, again.estimated) == (6_000, False)
    await again.log.close()


async def test_results_behind_a_usage_cost_themselves_only(context: Context) -> None:
    call = ToolCall("c", "read_file", "{}")
    result = ToolMessage("c", "what the file holds")
    await context.append(UserMessage("go", "human"), AssistantMessage("", (call,)))
    await context.note(UsageRecord(1_000))
    await context.append(result)
    assert context.token_count == 1_000 + context.counter.count_message(result)


async def test_a_call_without_a_result_is_sent_with_one_and_counted_with_it(
    context: Context,
) -> None:
    call = ToolCall("c", "read_file", "{}")
    await context.append(UserMessage("go", "human"), AssistantMessage("", (call,)))
    assert isinstance(context.history[-1], ToolMessage)
    assert context.history[-1].interrupted
    await context.note(UsageRecord(1_000))
    assert context.token_count == 1_000 + context.counter.count_message(context.history[-1])


@given(MESSAGES, MESSAGES)
def test_what_came_since_a_usage_is_the_same_whether_counted_as_it_grows_or_at_once(
    before: list[Message], since: list[Message]
) -> None:
    state, counter = SessionState(), TokenCounter()
    grown = TokensSinceUsage(counter)
    for number, message in enumerate(before):
        state.apply(Entry(message, number, 1))
    state.apply(Entry(UsageRecord(100), len(before), 1))
    for number, message in enumerate(since, len(before) + 1):
        state.apply(Entry(message, number, 1))
        assert grown.of(state) == TokensSinceUsage(counter).of(state)
    results = list(takewhile(lambda one: isinstance(one, ToolMessage), reversed(before)))
    tail = before[-len(results) - 1 :]
    tail = tail if isinstance(tail[0], AssistantMessage) else []
    sent = counter.count_messages(repaired_messages([*tail, *since]))
    assert grown.of(state) == max(0, sum(sent) - sum(counter.count_messages(tail)))


async def test_a_new_message_costs_one_count_however_long_no_usage_came(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Message] = []
    count = context.counter.count_message

    def count_and_tell(message: Message) -> int:
        counted.append(message)
        return count(message)

    monkeypatch.setattr(context.counter, "count_message", count_and_tell)
    await context.append(UserMessage("go", "human"))
    await context.note(UsageRecord(1_000))
    costs = []
    for number in range(60):
        call = ToolCall(f"c{number}", "read_file", "{}")
        for message in (
            AssistantMessage(f"step {number}", (call,)),
            ToolMessage(call.id, f"result {number}"),
            UserMessage(f"word {number}", "steer"),
        ):
            counted.clear()
            await context.append(message)
            for _event in range(3):
                assert context.token_count > 1_000
            costs.append(len(counted))
    assert costs[:3] == [2, 1, 1], "an answer is counted with what stands in for its result"
    assert costs == costs[:3] * 60


@given(MESSAGES)
def test_history_is_the_same_whether_repaired_as_it_grows_or_at_once(
    messages: list[Message],
) -> None:
    state, sent = SessionState(), SentHistory()
    for number, message in enumerate(messages):
        state.apply(Entry(message, number, 1))
        assert sent.of(state) == tuple(repaired_messages(messages[: number + 1]))


async def test_tools_take_room_too(context: Context) -> None:
    before = context.token_count
    context.tools = (ToolSchema("read_file", "Reads a file.", {"type": "object"}),)
    assert context.token_count == before + context.counter.count_tools(context.tools)


async def test_the_gauge_knows_where_compaction_will_fire(talk: Context) -> None:
    gauge = talk.gauge(8_000)
    assert (gauge.tokens, gauge.window, gauge.trigger_at) == (talk.token_count, 8_000, 6_000)
    assert gauge.estimated


async def test_a_long_history_is_counted_roughly_until_it_was_counted_in_a_thread(
    context: Context,
) -> None:
    context.counter = context.tokens.counter = TokenCounter("gpt-4o")
    await context.append(*(UserMessage(f"{n} word " * 50, "human") for n in range(300)))
    rough = context.token_count
    assert not context.counter.exact
    await context.warm()
    assert context.counter.exact
    assert rough != counted(context)
    assert context.token_count == counted(context)
