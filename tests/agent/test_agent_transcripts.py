"""Every kind of turn, told event by event: what front-ends can rely on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_tui.config import AgentSettings, ContextSettings, ModelSettings
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    CompactionBegan,
    Event,
    QuestionAsked,
    Reverted,
    StepBegan,
    StepRetried,
    SubagentEvent,
    TextDelta,
    ThinkDelta,
    ToolCallDelta,
    ToolOutput,
    ToolStarted,
)
from agent_tui.providers.demo.scenario import Fault, Reply
from tests.agent.stage import Stage, call

LOOK = Reply(text="I look.", calls=(call("find_files", pattern="*"),))


async def test_a_plain_turn(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(think="Hm.", text="Hello.")) as stage:
        await stage.say("Hi")
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Hi",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "think Hm.",
                "text: Hello.",
                "turn 1 done after 1",
            ]
        )


async def test_a_turn_with_tools_in_parallel(tmp_path: Path) -> None:
    both = Reply(calls=(call("read_file", path="a"), call("read_file", path="b")))
    async with Stage(tmp_path, both, Reply(text="Read.")) as stage:
        for name in "ab":
            (stage.workspace / name).write_text(name)
        await stage.say("Read both")
        said = stage.transcript()
        started = [line for line in said if line.startswith("start")]
        ended = sorted(line for line in said if line.startswith("ok"))
        assert said.index(started[-1]) < said.index(ended[0])
        assert [started, ended] == snapshot(
            [
                ['start read_file {"path": "a"}', 'start read_file {"path": "b"}'],
                ["ok read_file: 1\ta", "ok read_file: 1\tb"],
            ]
        )


async def test_a_turn_whose_action_is_rejected_with_feedback(tmp_path: Path) -> None:
    act = Reply(calls=(call("run_command", command="rm x"),))
    async with Stage(tmp_path, act, Reply(text="I moved it.")) as stage:
        stage.answers.append(ApprovalAnswer("reject", "move it instead"))
        await stage.say("Clean up")
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Clean up",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "call run_command",
                'start run_command {"command": "rm x"}',
                "ask run_command rm x",
                "answer reject move it instead",
                "error run_command: This action was rejected and the user sa",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "text: I moved it.",
                "turn 1 done after 2",
            ]
        )


async def test_a_turn_that_is_steered(tmp_path: Path) -> None:
    async with Stage(tmp_path, LOOK, Reply(text="Only Python, then.")) as stage:

        def steer(event: Event) -> None:
            if isinstance(event, ToolStarted):
                stage.session.steer("Only Python files")

        stage.listeners.append(steer)
        await stage.say("Look")
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Look",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "text: I look.",
                "call find_files",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "joined Only Python files",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "text: Only Python, then.",
                "turn 1 done after 2",
            ]
        )


async def test_a_turn_that_reaches_its_limit_of_steps(tmp_path: Path) -> None:
    async with Stage(tmp_path, LOOK, LOOK, agent=AgentSettings(max_steps=1)) as stage:
        await stage.say("Look")
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Look",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "text: I look.",
                "call find_files",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "turn 1 max_steps after 1",
            ]
        )


async def test_a_turn_that_reaches_its_limit_of_tokens(tmp_path: Path) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),), input_tokens=900, output_tokens=200)
    async with Stage(tmp_path, look, look, agent=AgentSettings(max_tokens=1_000)) as stage:
        await stage.say("Look")
        assert stage.transcript()[-2:] == snapshot(
            ["ok find_files: No file fits *.", "turn 1 limit after 1"]
        )
        assert stage.on_disk("_turn_end")[0]["reason"] == snapshot(
            "Token limit reached (1,000 for one turn). Send “continue” to go on."
        )


async def test_a_turn_that_reaches_its_limit_of_time(tmp_path: Path) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),), first_token_seconds=0.1)
    async with Stage(tmp_path, look, look, agent=AgentSettings(max_seconds=0.05)) as stage:
        await stage.say("Look")
        assert stage.transcript()[-2:] == snapshot(
            ["ok find_files: No file fits *.", "turn 1 limit after 1"]
        )
        assert stage.on_disk("_turn_end")[0]["reason"] == snapshot(
            "Time limit reached (0.05 s for one turn). Send “continue” to go on."
        )


async def test_a_turn_that_reaches_its_limit_of_price(tmp_path: Path) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),), input_tokens=900, output_tokens=200)
    models = {"scripted": ModelSettings(price_input=1_000, price_output=1_000)}
    limits = AgentSettings(max_cost=1)
    async with Stage(tmp_path, look, look, agent=limits, models=models) as stage:
        await stage.say("Look")
        assert stage.transcript()[-2:] == snapshot(
            ["ok find_files: No file fits *.", "turn 1 limit after 1"]
        )
        assert stage.on_disk("_turn_end")[0]["reason"] == snapshot(
            "Cost limit reached ($1.00 for one turn). Send “continue” to go on."
        )


async def test_a_limit_of_price_that_limits_nothing_is_told(tmp_path: Path) -> None:
    limits = AgentSettings(max_cost=1)
    priced = {"scripted": ModelSettings(price_input=1, price_output=1)}
    async with Stage(tmp_path, agent=limits, models=priced) as stage:
        assert not stage.session.notices
    async with Stage(tmp_path, agent=limits, home="other") as stage:
        (told,) = stage.session.notices
        assert told == (
            "What scripted costs is not known, so max_cost does not limit it. Set price_input and "
            "price_output of the model, or max_tokens."
        )


async def test_a_turn_whose_provider_fails_for_good(tmp_path: Path) -> None:
    faults = (Fault(status=401, message="Wrong key."),)
    async with Stage(tmp_path, Reply(text="never", faults=faults)) as stage:
        await stage.say("Hi")
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Hi",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "interrupted: Wrong key.",
                "failed: Wrong key.",
                "turn 1 failed after 1",
            ]
        )


async def test_a_turn_whose_old_output_is_masked_before_anything_is_summarised(
    tmp_path: Path,
) -> None:
    read = Reply(calls=(call("read_file", path="a.txt"),))
    full = Reply(calls=(call("find_files", pattern="*"),), input_tokens=7_900)
    settings = ContextSettings(unmasked_tokens=300)
    async with Stage(
        tmp_path, read, full, Reply(text="Done."), window=8_000, context=settings
    ) as stage:
        (stage.workspace / "a.txt").write_text("word " * 5_000)
        await stage.say("Read it")
        said = stage.transcript()
        assert said[said.index("compaction auto") - 1 :] == snapshot(
            [
                "ok find_files: a.txt",
                "compaction auto",
                "compacted",
                "checkpoint 3 (turn 1, step 3)",
                "step 3",
                "text: Done.",
                "turn 1 done after 3",
            ]
        )
        (record,) = stage.on_disk("_compaction")
        assert (record["strategy"], record["masked"], record["summarised"]) == ("mask", 1, 0)
        assert not [m for m in stage.on_disk("user") if m["origin"] == "compaction"]


LONG = "What was said at length. " * 100
PHASES: dict[str, Callable[[Event], bool]] = {
    "request": lambda event: isinstance(event, StepBegan),
    "answer": lambda event: isinstance(event, TextDelta),
    "call": lambda event: isinstance(event, ToolCallDelta),
    "approval": lambda event: isinstance(event, ApprovalRequested),
    "start": lambda event: isinstance(event, ToolStarted),
    "tool": lambda event: isinstance(event, ToolOutput),
}


@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_that_is_cancelled_in_any_phase(tmp_path: Path, phase: str) -> None:
    act = Reply(text="I act.", calls=(call("run_command", command="echo up; sleep 5"),))
    async with Stage(tmp_path, act, yolo=phase in ("start", "tool")) as stage:
        await stage.say_until("Go", PHASES[phase])
        expected = {
            "request": snapshot(["interrupted: cancelled", "turn 1 cancelled after 1"]),
            "answer": snapshot(
                [
                    "text: I act.",
                    "call run_command",
                    "interrupted run_command: Not run: the turn was stopped before thi",
                    "turn 1 cancelled after 1",
                ]
            ),
            "call": snapshot(
                [
                    "text: I act.",
                    "call run_command",
                    "interrupted run_command: Not run: the turn was stopped before thi",
                    "turn 1 cancelled after 1",
                ]
            ),
            "approval": snapshot(
                [
                    "text: I act.",
                    "call run_command",
                    'start run_command {"command": "echo up; sleep 5"}',
                    "ask run_command echo up; sleep 5",
                    "interrupted run_command: Not run: the turn was stopped before thi",
                    "turn 1 cancelled after 1",
                ]
            ),
            "start": snapshot(
                [
                    "text: I act.",
                    "call run_command",
                    'start run_command {"command": "echo up; sleep 5"}',
                    "interrupted run_command: Not run: the turn was stopped before thi",
                    "turn 1 cancelled after 1",
                ]
            ),
            "tool": snapshot(
                [
                    "text: I act.",
                    "call run_command",
                    'start run_command {"command": "echo up; sleep 5"}',
                    "interrupted run_command: up",
                    "turn 1 cancelled after 1",
                ]
            ),
        }
        assert stage.transcript()[4:] == expected[phase]
        assert [end["end"] for end in stage.on_disk("_turn_end")] == ["cancelled"]


async def test_a_turn_that_is_cancelled_while_it_compacts(tmp_path: Path) -> None:
    talk = (Reply(text=LONG), Reply(text=LONG, input_tokens=7_900))
    slow = (Reply(text="Short.", first_token_seconds=5),)
    async with Stage(tmp_path, *talk, compactions=slow, window=8_000) as stage:
        await stage.say("a")
        await stage.say("b")
        stage.events.clear()
        await stage.say_until("c", lambda event: isinstance(event, CompactionBegan))
        assert stage.transcript() == snapshot(
            [
                "checkpoint 4 (turn 3, step 0)",
                "turn 3: c",
                "compaction auto",
                "not compacted: The compaction was cancelled.",
                "turn 3 cancelled after 1",
            ]
        )


async def test_a_turn_that_is_cancelled_while_it_thinks(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(think="First. " * 30, text="never")) as stage:
        await stage.say_until("Go", lambda event: isinstance(event, ThinkDelta))
        assert [line[:20] for line in stage.transcript()[4:]] == snapshot(
            ["think First. First. ", "interrupted: cancell", "turn 1 cancelled aft"]
        )


async def test_a_turn_that_is_cancelled_while_it_waits_to_ask_again(tmp_path: Path) -> None:
    faults = (Fault(status=429, message="Slow down.", retry_after_seconds=30),)
    async with Stage(tmp_path, Reply(text="never", faults=faults), Reply(text="ok")) as stage:
        await stage.say_until("Go", lambda event: isinstance(event, StepRetried))
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Go",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "retry 1: Slow down.",
                "interrupted: cancelled",
                "turn 1 cancelled after 1",
            ]
        )
        assert [end["end"] for end in stage.on_disk("_turn_end")] == ["cancelled"]


async def test_a_turn_that_is_cancelled_in_a_subagent(tmp_path: Path) -> None:
    task = Reply(calls=(call("task", agent="explorer", prompt="Look"),))
    async with Stage(tmp_path, task, LOOK, Reply(text="ok")) as stage:
        await stage.say_until(
            "Go",
            lambda event: isinstance(event, SubagentEvent) and isinstance(event.event, ToolStarted),
        )
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Go",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "call task",
                'start task {"agent": "explorer", "prompt": "Look"}',
                "explorer > checkpoint 0 (turn 1, step 0)",
                "explorer > turn 1: Look",
                "explorer > checkpoint 1 (turn 1, step 1)",
                "explorer > step 1",
                "explorer > call find_files",
                'explorer > start find_files {"pattern": "*"}',
                "explorer > interrupted find_files: Interrupted: this call did not run to it",
                "explorer > turn 1 cancelled after 1",
                "interrupted task: Interrupted: this call did not run to it",
                "turn 1 cancelled after 1",
            ]
        )


async def test_a_turn_that_is_cancelled_when_a_dmail_went_back(tmp_path: Path) -> None:
    back = Reply(calls=(call("send_dmail", checkpoint=1, message="Not here."),))
    script = (LOOK, back, Reply(text="never"))
    async with Stage(tmp_path, *script, spec="time-traveller") as stage:
        await stage.say_until("Go", lambda event: isinstance(event, Reverted))
        said = stage.transcript()
        delivered = [m["content"] for m in stage.on_disk("user") if m["origin"] == "dmail"]
        assert delivered
        assert delivered[0].endswith("Not here.")
        assert said[said.index("dmail to 1: Not here.") :] == snapshot(
            [
                "dmail to 1: Not here.",
                "checkpoint 1 (turn 1, step 2)",
                "dmail: archive 1",
                "turn 1 cancelled after 2",
            ]
        )


async def test_a_turn_that_is_cancelled_while_a_question_is_open(tmp_path: Path) -> None:
    ask = Reply(calls=(call("ask_user", question="Which?", choices=["a", "b"]),))
    async with Stage(tmp_path, ask) as stage:
        await stage.say_until("Go", lambda event: isinstance(event, QuestionAsked))
        assert stage.transcript()[4:] == snapshot(
            [
                "call ask_user",
                'start ask_user {"question": "Which?", "choices": ["a", "b"]}',
                "question Which? a / b",
                "interrupted ask_user: Interrupted: this call did not run to it",
                "turn 1 cancelled after 1",
            ]
        )


async def test_a_turn_that_is_cancelled_and_leaves_a_command_in_the_background(
    tmp_path: Path,
) -> None:
    start = Reply(calls=(call("run_command", command="sleep 50", background=True),))
    async with Stage(tmp_path, start, Reply(text="never"), yolo=True) as stage:
        await stage.say_until("Go", lambda event: event == StepBegan(2))
        assert stage.transcript()[4:] == snapshot(
            [
                "call run_command",
                'start run_command {"command": "sleep 50", "background": true}',
                "background: sleep 50",
                "ok run_command: [background command 1 started; use backg",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "interrupted: cancelled",
                "turn 1 cancelled after 2",
            ]
        )


async def test_a_turn_with_a_subagent_in_parallel_with_another_call(tmp_path: Path) -> None:
    both = Reply(calls=(call("task", agent="explorer", prompt="x"), call("read_file", path="a")))
    async with Stage(tmp_path, both, Reply(text="Nothing."), Reply(text="ok")) as stage:
        (stage.workspace / "a").write_text("a")
        await stage.say("Go")
        said = stage.transcript()
        ended = sorted(line for line in said if line.startswith("ok "))
        assert ended == snapshot(["ok read_file: 1\ta", "ok task: Nothing."])
