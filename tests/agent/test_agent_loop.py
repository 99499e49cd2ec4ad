"""A prompt becomes steps: what is said on the wire, and what is on disk at each moment."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_tui.config import AgentSettings
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    Decision,
    Event,
    StepBegan,
    StreamPart,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.scenario import Fault, Reply, Scenario, ScriptedCall
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage, call, unanswered


class Watching(Scripted):
    """A scripted model that looks at the log on disk whenever it is asked."""

    def __init__(self, *script: Reply) -> None:
        super().__init__(Scenario(script=script))
        self.stage: Stage
        self.seen: list[list[str]] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        self.seen.append(self.stage.roles_on_disk())
        async for part in super().stream(request):
            yield part


async def test_a_turn_is_a_prompt_steps_and_results_in_order(tmp_path: Path) -> None:
    replies = (
        Reply(think="Look.", text="I look.", calls=(call("read_file", path="a.txt"),)),
        Reply(text="It says one."),
    )
    async with Stage(tmp_path, *replies) as stage:
        (stage.workspace / "a.txt").write_text("one\n")
        assert await stage.say("What is in a.txt?") == "done"
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: What is in a.txt?",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "think Look.",
                "text: I look.",
                "call read_file",
                'start read_file {"path": "a.txt"}',
                "ok read_file: 1\tone",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "text: It says one.",
                "turn 1 done after 2",
            ]
        )
        assert stage.roles_on_disk() == snapshot(
            [
                "_checkpoint",
                "user",
                "_checkpoint",
                "assistant",
                "_usage",
                "tool",
                "_checkpoint",
                "assistant",
                "_usage",
            ]
        )


async def test_the_prompt_is_on_disk_before_the_model_is_asked(tmp_path: Path) -> None:
    provider = Watching(Reply(calls=(call("find_files", pattern="*"),)), Reply(text="ok"))
    async with Stage(tmp_path, provider=provider) as stage:
        provider.stage = stage
        await stage.say("Hi")
    first, second = provider.seen
    assert first == ["_checkpoint", "user", "_checkpoint"]
    assert second[-4:] == ["assistant", "_usage", "tool", "_checkpoint"]


async def test_a_call_is_on_disk_before_its_tool_runs(tmp_path: Path) -> None:
    replies = (Reply(calls=(call("write_file", path="a", content="x"),)), Reply(text="ok"))
    async with Stage(tmp_path, *replies, yolo=True) as stage:
        seen: list[list[str]] = []

        def look(event: Event) -> None:
            if isinstance(event, ToolStarted):
                seen.append(unanswered(stage.log))
                assert not (stage.workspace / "a").exists()

        stage.listeners.append(look)
        assert await stage.say("Write") == "done"
        assert len(seen[0]) == 1
        assert not unanswered(stage.log)


async def test_a_decision_is_on_disk_before_the_action(tmp_path: Path) -> None:
    command = 'grep -c \'^."role": *"_approval\' $(find ../home -name context.jsonl)'
    replies = (Reply(calls=(call("run_command", command=command),)), Reply(text="ok"))
    async with Stage(tmp_path, *replies) as stage:
        stage.answers.append(ApprovalAnswer("once"))
        await stage.say("Count")
        (result,) = stage.on_disk("tool")
        assert result["content"].splitlines()[0] == "1"
        assert stage.on_disk("_approval")[0]["decision"] == "once"


async def test_each_result_is_written_as_it_ends(tmp_path: Path) -> None:
    calls = (
        call("run_command", command="echo first"),
        call("run_command", command="echo second"),
    )
    async with Stage(tmp_path, Reply(calls=calls), Reply(text="ok"), yolo=True) as stage:
        counts: list[int] = []

        def look(event: Event) -> None:
            if isinstance(event, ToolFinished):
                counts.append(len(stage.on_disk("tool")))

        stage.listeners.append(look)
        await stage.say("Go")
        assert counts == [1, 2]


async def test_calls_that_only_read_run_together_and_those_that_act_in_order(
    tmp_path: Path,
) -> None:
    calls = (
        call("read_file", path="a"),
        call("read_file", path="b"),
        call("write_file", path="c", content="3"),
        call("read_file", path="c"),
    )
    async with Stage(tmp_path, Reply(calls=calls), Reply(text="ok"), yolo=True) as stage:
        for name in "ab":
            (stage.workspace / name).write_text(name)
        await stage.say("Go")
        acts = [
            (type(event).__name__, json.loads(event.call.arguments)["path"])
            for event in stage.events
            if isinstance(event, (ToolStarted, ToolFinished))
        ]
        assert acts[:2] == [("ToolStarted", "a"), ("ToolStarted", "b")]
        assert sorted(acts[2:4]) == [("ToolFinished", "a"), ("ToolFinished", "b")]
        assert acts[4:] == [
            ("ToolStarted", "c"),
            ("ToolFinished", "c"),
            ("ToolStarted", "c"),
            ("ToolFinished", "c"),
        ]
        assert stage.on_disk("tool")[-1]["content"].startswith("1\t3")


async def test_a_rejection_stops_the_turn_and_answers_every_call(tmp_path: Path) -> None:
    calls = (call("run_command", command="rm x"), call("run_command", command="rm y"))
    async with Stage(tmp_path, Reply(calls=calls), Reply(text="never")) as stage:
        stage.answers.append(ApprovalAnswer("reject"))
        assert await stage.say("Clean up") == "rejected"
        assert stage.transcript()[-6:] == snapshot(
            [
                'start run_command {"command": "rm x"}',
                "ask run_command rm x",
                "answer reject",
                "error run_command: This action was rejected. Stop and wait ",
                "interrupted run_command: Not run: the turn was stopped before thi",
                "turn 1 rejected after 1",
            ]
        )
        assert not unanswered(stage.log)
        rejected, never_asked = stage.on_disk("tool")
        assert rejected["rejected"]
        assert never_asked["interrupted"]


async def test_a_turn_that_ends_with_its_plan_says_that_it_still_plans(tmp_path: Path) -> None:
    script = [Reply(calls=(call("present_plan", plan="# Write a.txt"),))] * 2
    async with Stage(tmp_path, *script, Reply(text="Nothing, then.")) as stage:
        stage.session.approvals.set_mode("plan")
        stage.answers += [ApprovalAnswer("reject", "shorter"), ApprovalAnswer("reject")]
        assert await stage.say("Plan it") == "rejected"
        ended = stage.events[-1]
        assert isinstance(ended, TurnFinished)
        assert ended.reason.startswith("Still planning: the plan was not approved.")
        assert stage.session.approvals.mode == "plan"


@pytest.mark.parametrize(("decision", "alone"), [("once", 1), ("reject", 0)])
async def test_a_decision_is_synced_before_it_is_acted_upon_and_a_rejection_with_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decision: Decision, alone: int
) -> None:
    replies = (Reply(calls=(call("run_command", command="true"),)), Reply(text="Done."))
    async with Stage(tmp_path, *replies) as stage:
        synced: list[str] = []

        def sync(descriptor: int) -> None:
            os.fsync(descriptor)
            synced.append(stage.roles_on_disk()[-1])

        monkeypatch.setattr("agent_tui.sessions.log.durable_sync", sync)
        stage.answers.append(ApprovalAnswer(decision))
        await stage.say("Go")
        assert synced.count("_approval") == alone
        assert synced.count("tool") == 1
        roles = stage.roles_on_disk()
        assert roles.index("_approval") < roles.index("tool")


async def test_a_rejection_with_a_word_goes_on(tmp_path: Path) -> None:
    replies = (Reply(calls=(call("run_command", command="rm x"),)), Reply(text="I moved it."))
    async with Stage(tmp_path, *replies) as stage:
        stage.answers.append(ApprovalAnswer("reject", "move it instead"))
        assert await stage.say("Clean up") == "done"
        (result,) = stage.on_disk("tool")
        assert result["content"] == "This action was rejected and the user says: move it instead"


async def test_allowed_for_the_session_is_not_asked_again_for_the_same_action(
    tmp_path: Path,
) -> None:
    same, other = call("run_command", command="true"), call("run_command", command="true ")
    async with Stage(tmp_path, Reply(calls=(same, same, other)), Reply(text="ok")) as stage:
        stage.answers += [ApprovalAnswer("session"), ApprovalAnswer("once")]
        assert await stage.say("Go") == "done"
        assert sum(isinstance(event, ApprovalRequested) for event in stage.events) == 2
        assert len(stage.on_disk("_approval")) == 2


async def test_a_turn_ends_at_its_most_steps_and_the_next_one_goes_on(tmp_path: Path) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),))
    async with Stage(
        tmp_path, look, look, Reply(text="ok"), agent=AgentSettings(max_steps=2)
    ) as stage:
        assert await stage.say("Look") == "max_steps"
        assert not unanswered(stage.log)
        assert await stage.say("Go on") == "done"


async def test_a_steer_joins_at_the_next_step(tmp_path: Path) -> None:
    replies = (Reply(calls=(call("find_files", pattern="*"),)), Reply(text="ok"))
    async with Stage(tmp_path, *replies) as stage:

        def steer(event: Event) -> None:
            if isinstance(event, ToolStarted):
                stage.session.steer("Only Python files")

        stage.listeners.append(steer)
        assert await stage.say("Look") == "done"
        said = stage.transcript()
        assert said.index("joined Only Python files") == said.index("step 2") - 2
        assert [(m["content"], m["origin"], m["turn"]) for m in stage.on_disk("user")] == [
            ("Look", "human", 1),
            ("Only Python files", "steer", 1),
        ]


async def test_a_steer_after_the_last_step_gets_a_step_of_its_own(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="Done."), Reply(text="Thanks to you.")) as stage:

        def steer(event: Event) -> None:
            if isinstance(event, TextDelta) and not stage.on_disk("assistant"):
                stage.listeners.clear()
                stage.session.steer("Thanks")

        stage.listeners.append(steer)
        assert await stage.say("Go") == "done"
        assert [m["content"] for m in stage.on_disk("assistant")] == ["Done.", "Thanks to you."]


async def test_a_steer_that_found_no_step_joins_the_next_turn(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="a b c d"), Reply(text="ok")) as stage:

        def steer(event: Event) -> None:
            if isinstance(event, StepBegan) and event.step == 1:
                stage.listeners.remove(steer)
                stage.session.steer("By the way")

        stage.listeners.append(steer)
        await stage.say_until("Go", lambda event: isinstance(event, TextDelta))
        assert await stage.say("Again") == "done"
        assert [m["content"] for m in stage.on_disk("user")] == ["Go", "Again", "By the way"]


async def test_an_empty_reply_is_asked_for_again(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(), Reply(text="Here.")) as stage:
        assert await stage.say("Hi") == "done"
        assert any(
            line.startswith("retry 1: The model sent an empty") for line in stage.transcript()
        )
        assert [m["content"] for m in stage.on_disk("assistant")] == ["Here."]


async def test_thinking_without_an_answer_is_told_and_kept(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(think="Hmm."), Reply(text="ok")) as stage:
        assert await stage.say("Hi") == "failed"
        assert stage.transcript()[-3:] == snapshot(
            [
                "interrupted: The model sent an empty reply. Retry, or choose another model.",
                "failed: The model sent an empty reply. Retry, or choose another model.",
                "turn 1 failed after 1",
            ]
        )
        assert await stage.say("Well?") == "done"


async def test_retries_are_told_and_leave_one_answer(tmp_path: Path) -> None:
    faults = (Fault(status=429, message="Slow down."), Fault("connection"), Fault("timeout"))
    async with Stage(tmp_path, Reply(text="At last.", faults=faults)) as stage:
        assert await stage.say("Hi") == "done"
        assert [line for line in stage.transcript() if line.startswith("retry")] == snapshot(
            [
                "retry 1: Slow down.",
                "retry 2: The scripted server refused the connection.",
                "retry 3: The scripted server did not answer in time.",
            ]
        )
        assert stage.roles_on_disk().count("assistant") == 1


async def test_attempts_are_counted_and_the_session_lives_on(tmp_path: Path) -> None:
    faults = tuple(Fault(status=503) for _ in range(3))
    async with Stage(
        tmp_path, Reply(text="ok", faults=faults), agent=AgentSettings(max_attempts=2)
    ) as stage:
        assert await stage.say("Hi") == "failed"
        assert await stage.say("Hi") == "done"


async def test_nothing_is_asked_again_after_the_first_token(tmp_path: Path) -> None:
    replies = (Reply(text="Half an answer", cut_after=2), Reply(text="Whole."))
    async with Stage(tmp_path, *replies) as stage:
        assert await stage.say("Hi") == "failed"
        assert stage.transcript()[-4:] == snapshot(
            [
                "text: Half an",
                "interrupted: The connection broke in the middle of the answer.",
                "failed: The connection broke in the middle of the answer.",
                "turn 1 failed after 1",
            ]
        )
        assert [m["content"] for m in stage.on_disk("assistant")] == ["Half an"]
        assert await stage.say("Go on") == "done"


async def test_a_half_written_call_of_a_broken_answer_never_runs(tmp_path: Path) -> None:
    reply = Reply(
        text="I write.", calls=(call("write_file", path="a", content="x " * 50),), cut_after=6
    )
    async with Stage(tmp_path, reply, Reply(text="ok"), yolo=True) as stage:
        assert await stage.say("Write") == "failed"
        (answer,) = stage.on_disk("assistant")
        assert not answer.get("tool_calls")
        assert not (stage.workspace / "a").exists()


async def test_what_a_tool_is_told_wrongly_is_for_the_model_to_read(tmp_path: Path) -> None:
    calls = (
        ScriptedCall("read_file", raw_arguments='{"path": "a'),
        call("read_file", file="a"),
        call("fly"),
        call("read_file", path="../../etc/passwd"),
    )
    async with Stage(tmp_path, Reply(calls=calls), Reply(text="ok")) as stage:
        assert await stage.say("Go") == "done"
        results = stage.on_disk("tool")
        assert all(result["is_error"] for result in results)
        told = "\n".join(result["content"] for result in results)
        for words in (
            "not valid JSON",
            "'file' is not a field",
            "There is no tool 'fly'",
            "outside",
        ):
            assert words in told


async def test_turns_are_numbered_and_messages_know_who_spoke(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="one"), Reply(text="two")) as stage:
        await stage.say("a")
        await stage.say("b")
        assert [(m["turn"], m["origin"]) for m in stage.on_disk("user")] == [
            (1, "human"),
            (2, "human"),
        ]
        assert [m["turn"] for m in stage.on_disk("assistant")] == [1, 2]
        assert [(c["id"], c["turn"], c["step"]) for c in stage.on_disk("_checkpoint")] == [
            (0, 1, 0),
            (1, 1, 1),
            (2, 2, 0),
            (3, 2, 1),
        ]


async def test_the_gauge_is_exact_with_usage_and_marked_without(tmp_path: Path) -> None:
    replies = (
        Reply(text="one", input_tokens=120, output_tokens=30),
        Reply(text="two", reports_usage=False),
    )
    async with Stage(tmp_path, *replies) as stage:
        assert stage.session.gauge.estimated
        await stage.say("a")
        gauge = stage.session.gauge
        assert (gauge.tokens, gauge.estimated) == (150, False)
        await stage.say("b")
        gauge = stage.session.gauge
        assert gauge.tokens > 150
        assert gauge.estimated


class Broken(Scripted):
    """A provider with a fault of its own, in the middle of its first answer."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        async for part in super().stream(request):
            yield part
            if len(self.requests) == 1:
                raise ValueError("cannot happen")


async def test_a_fault_of_ours_is_told_and_the_session_lives_on(tmp_path: Path) -> None:
    provider = Broken(Scenario(script=(Reply(text="one two three"), Reply(text="ok"))))
    async with Stage(tmp_path, provider=provider) as stage:
        with pytest.raises(ValueError, match="cannot happen"):
            await stage.say("Hi")
        assert stage.transcript()[-3:] == [
            "interrupted: cannot happen",
            "failed: Internal error: ValueError: cannot happen.",
            "turn 1 failed after 1",
        ]
        assert await stage.say("Again") == "done"
        assert [m["content"] for m in stage.on_disk("assistant")] == ["one", "ok"]


async def test_a_listener_that_fails_is_dropped_and_told_while_the_turn_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Stage(tmp_path, Reply(text="one two three")) as stage:
        heard: list[Event] = []
        told: list[Exception] = []

        def fail(event: Event) -> None:
            heard.append(event)
            if isinstance(event, TextDelta):
                raise BrokenPipeError("nobody reads")

        stage.session.subscribe(fail, told.append)
        assert await stage.say("Hi") == "done"
        assert [str(error) for error in told] == ["nobody reads"]
        assert [type(event) for event in heard].count(TextDelta) == 1
        assert isinstance(stage.events[-1], TurnFinished), "the others hear everything"
        assert stage.on_disk("assistant")[0]["content"] == "one two three"
        assert "A listener failed at TextDelta" in caplog.text


async def test_an_answer_that_came_after_failures_tells_how_many_there_were(
    tmp_path: Path,
) -> None:
    busy = (Fault(status=503), Fault(status=503))
    async with Stage(
        tmp_path, Reply(text="At last.", faults=busy), Reply(text="At once.")
    ) as stage:
        assert await stage.say("Hello") == "done"
        assert await stage.say("And now?") == "done"
        (told,) = stage.on_disk("_notice")
    assert told["text"].startswith("Retried 2 times: ")
    assert told["turn"] == 1
