"""The scripted provider plays its part as a real one would."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StreamPart
from agent_tui.core.records import AssistantMessage, ToolMessage, UserMessage
from agent_tui.providers.demo.scenario import Fault, Reply, Scenario, Scene, ScriptedCall
from agent_tui.providers.demo.scripted import Scripted, split_text
from tests.providers.replies import answer, ask, calls, ended, play, text, thinking


async def test_a_script_is_played_in_order_whatever_the_prompt() -> None:
    provider = Scripted(Scenario(script=(Reply(text="one"), Reply(think="hm", text="two"))))
    assert text(await play(provider, ask("x"))) == "one"
    second = await play(provider, ask("x"))
    assert text(second) == "two"
    assert thinking(second) == "hm"
    assert ended(second).finish_reason == "stop"


async def test_parallel_calls_have_their_own_indexes_and_ids() -> None:
    wanted = (ScriptedCall("read_file", {"path": "a"}), ScriptedCall("read_file", {"path": "b"}))
    parts = await play(Scripted(Scenario(script=(Reply(calls=wanted),))), ask("x"))
    made = calls(parts)
    assert [json.loads(call.arguments)["path"] for call in made] == ["a", "b"]
    assert len({call.id for call in made}) == 2
    assert ended(parts).finish_reason == "tool_calls"


async def test_malformed_arguments_are_sent_as_they_stand() -> None:
    broken = ScriptedCall("read_file", raw_arguments='{"path": "a')
    parts = await play(Scripted(Scenario(script=(Reply(calls=(broken,)),))), ask("x"))
    assert calls(parts)[0].arguments == '{"path": "a'


async def test_faults_come_one_per_attempt_and_then_the_reply() -> None:
    faults = (
        Fault(status=429, retry_after_seconds=2.5),
        Fault(kind="connection"),
        Fault("timeout"),
    )
    provider = Scripted(Scenario(script=(Reply(text="at last", faults=faults),)))
    with pytest.raises(ProviderError) as busy:
        await play(provider, ask("x"))
    assert (busy.value.status, busy.value.retryable) == (429, True)
    assert busy.value.retry_after_seconds == 2.5
    for _ in range(2):
        with pytest.raises(ProviderError) as gone:
            await play(provider, ask("x"))
        assert gone.value.retryable
    assert text(await play(provider, ask("x"))) == "at last"


async def test_a_refused_key_is_not_worth_a_retry() -> None:
    provider = Scripted(Scenario(script=(Reply(faults=(Fault(status=401),)),)))
    with pytest.raises(ProviderError) as refused:
        await play(provider, ask("x"))
    assert not refused.value.retryable


@pytest.mark.parametrize(("cut_after", "retryable"), [(0, True), (2, False)])
async def test_a_cut_stream_is_retryable_only_before_its_first_token(
    cut_after: int, retryable: bool
) -> None:
    provider = Scripted(Scenario(script=(Reply(text="a b c d e f", cut_after=cut_after),)))
    seen: list[StreamPart] = []

    async def listen() -> None:
        async for part in provider.stream(ask("x")):
            seen.append(part)

    with pytest.raises(ProviderError) as cut:
        await listen()
    assert len(seen) == cut_after
    assert cut.value.retryable is retryable


async def test_usage_grows_with_what_is_really_sent_and_knows_what_was_cached() -> None:
    provider = Scripted(Scenario(script=(Reply(text="a"), Reply(text="b"), Reply(text="c"))))
    first = ended(await play(provider, ask("x"))).usage
    longer = ask("x", AssistantMessage("a"), "y" * 4000)
    second = ended(await play(provider, longer)).usage
    assert first is not None
    assert second is not None
    assert 1000 < second.input_tokens - first.input_tokens < 1100
    assert (first.cached_tokens, second.cached_tokens) == (0, first.input_tokens)
    elsewhere = ended(await play(provider, ask("z"))).usage
    assert elsewhere is not None
    assert elsewhere.cached_tokens == 0


async def test_a_server_that_never_says_what_it_used() -> None:
    provider = Scripted(Scenario(script=(Reply(text="a", reports_usage=False),)))
    assert ended(await play(provider, ask("x"))).usage is None


TWO_STEPS = Scene(
    "tests",
    ("run test", "test"),
    (
        Reply(text="I run them.", calls=(ScriptedCall("run_command", {"command": "true"}),)),
        Reply(text="It failed as it should: {last_line}", expects="FAILED"),
    ),
)


async def test_a_scene_goes_on_from_its_results_alone() -> None:
    """Even where everything before them was compacted away."""
    first = await play(Scripted(Scenario(scenes=(TWO_STEPS,))), ask("please run the tests"))
    result = ToolMessage(calls(first)[0].id, "...\nFAILED (failures=1)", is_error=True)
    summary = UserMessage("A summary.", origin="compaction")
    parts = await play(Scripted(Scenario(scenes=(TWO_STEPS,))), ask(summary, answer(first), result))
    assert text(parts) == "It failed as it should: FAILED (failures=1)"


async def test_an_unexpected_result_is_told_as_it_is() -> None:
    provider = Scripted(Scenario(scenes=(TWO_STEPS,)))
    first = await play(provider, ask("run the tests"))
    result = ToolMessage(calls(first)[0].id, "python3: not found", is_error=True)
    parts = await play(provider, ask("run the tests", answer(first), result))
    assert "did not work" in text(parts)
    assert "python3: not found" in text(parts)


async def test_the_longest_phrase_wins() -> None:
    scenes = tuple(
        Scene(name, on, (Reply(text=name),))
        for name, on in (("one", ("fix",)), ("two", ("fix bug", "repair")), ("three", ("bug",)))
    )
    provider = Scripted(Scenario(scenes=scenes))
    assert text(await play(provider, ask("Fix the bugs, please"))) == "two"
    assert text(await play(provider, ask("a fix"))) == "one"


async def test_call_ids_differ_from_turn_to_turn() -> None:
    provider = Scripted(Scenario(scenes=(TWO_STEPS,)))
    first = await play(provider, ask("run the tests"))
    again = ask(
        "run the tests", answer(first), ToolMessage(calls(first)[0].id, "x"), "run the tests"
    )
    assert calls(first)[0].id != calls(await play(provider, again))[0].id


@given(st.text(), st.integers(1, 9))
def test_chunks_join_to_the_text_they_came_from(said: str, size: int) -> None:
    chunks = split_text(said, size)
    assert "".join(chunks) == said
    assert all(0 < len(chunk) <= size + 1 for chunk in chunks)


async def test_chunks_come_at_the_rate_of_the_scenario_and_in_no_time_at_rate_zero() -> None:
    said = Reply(text="word " * 40)
    slow = Scripted(Scenario(script=(said, said), chunks_per_second=200))
    loop = asyncio.get_running_loop()
    began = loop.time()
    parts = await play(slow, ask("x"))
    assert loop.time() - began > (len(parts) - 2) / 200
    fast = Scripted(slow.scenario, chunks_per_second=0)
    began = loop.time()
    assert text(await play(fast, ask("x"))) == said.text
    assert loop.time() - began < 0.2


async def test_a_slow_first_token_can_be_cancelled() -> None:
    provider = Scripted(Scenario(script=(Reply(text="late", first_token_seconds=60),)))
    task = asyncio.create_task(play(provider, ask("x")))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(provider.requests) == 1
