"""A subagent works in a session of its own and reports; its parent's person decides for it."""

from __future__ import annotations

import json
from pathlib import Path

from inline_snapshot import snapshot

from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    Event,
    StatusChanged,
    StepBegan,
    SubagentEvent,
)
from agent_tui.core.messages import text_of
from agent_tui.core.records import ToolMessage
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage, call


def task(agent: str = "explorer", prompt: str = "Find the parser", id: str = "") -> Reply:  # noqa: A002
    return Reply(calls=(call("task", agent=agent, prompt=prompt, id=id),))


def sessions(stage: Stage) -> dict[str, list[dict[str, object]]]:
    logs = stage.folder.glob("home/projects/*/*/context.jsonl")
    return {
        log.parent.name: [json.loads(line) for line in log.read_text().splitlines()] for log in logs
    }


async def test_a_subagent_has_its_own_session_and_its_events_are_nested(tmp_path: Path) -> None:
    script = (
        task(id="t1"),
        Reply(text="I look.", calls=(call("find_files", pattern="*.py"),)),
        Reply(text="It is in parser.py."),
        Reply(text="Found: parser.py."),
    )
    async with Stage(tmp_path, *script) as stage:
        assert await stage.say("Where is the parser?") == "done"
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Where is the parser?",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "call task",
                'start task {"agent": "explorer", "prompt": "Find the parser"}',
                "explorer > checkpoint 0 (turn 1, step 0)",
                "explorer > turn 1: Find the parser",
                "explorer > checkpoint 1 (turn 1, step 1)",
                "explorer > step 1",
                "explorer > call find_files",
                'explorer > start find_files {"pattern": "*.py"}',
                "explorer > ok find_files: No file fits *.py.",
                "explorer > checkpoint 2 (turn 1, step 2)",
                "explorer > step 2",
                "explorer > turn 1 done after 2",
                "ok task: It is in parser.py.",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "text: Found: parser.py.",
                "turn 1 done after 2",
            ]
        )
        child = next(e for e in stage.events if isinstance(e, SubagentEvent)).session_id
        header = sessions(stage)[child][0]
        assert header["parent"] == {
            "agent_of": stage.session.session_id,
            "call": "t1",
            "agent": "explorer",
        }
        assert not [m for m in stage.on_disk("user") if m["content"] == "Find the parser"]


async def test_a_subagent_has_only_its_own_tools_and_no_subagents(tmp_path: Path) -> None:
    script = (task(), Reply(text="Nothing."), Reply(text="ok"))
    async with Stage(tmp_path, *script) as stage:
        await stage.say("Look")
        assert isinstance(stage.provider, Scripted)
        parent, child = ({t.name for t in r.tools} for r in list(stage.provider.requests)[:2])
        assert {"task", "run_command", "edit_file"} <= parent
        assert child == {"read_file", "list_folder", "find_files", "search_files", "think"}


async def test_what_a_subagent_takes_is_counted_with_its_parent(tmp_path: Path) -> None:
    script = (
        Reply(calls=(call("task", agent="explorer", prompt="x"),), input_tokens=10),
        Reply(text="Nothing.", input_tokens=5_000, output_tokens=7),
        Reply(text="ok", input_tokens=20),
    )
    async with Stage(tmp_path, *script) as stage:
        await stage.say("Look")
        usages = [e.usage for e in stage.events if isinstance(e, StatusChanged) and e.usage]
        assert 5_000 in [usage.input_tokens for usage in usages]
        (result,) = stage.on_disk("tool")
        assert result["content"].endswith("5,007 tokens]")


async def test_several_subagents_run_at_once(tmp_path: Path) -> None:
    both = Reply(
        calls=(
            call("task", agent="explorer", prompt="one", id="a"),
            call("task", agent="security-reviewer", prompt="two", id="b"),
        )
    )
    async with Stage(tmp_path, both, Reply(text="A."), Reply(text="B."), Reply(text="ok")) as stage:
        assert await stage.say("Look") == "done"
        nested = [(e.source, e.name) for e in stage.events if isinstance(e, SubagentEvent)]
        assert {("a", "explorer"), ("b", "security-reviewer")} == set(nested)
        first_end = nested.index(("b", "security-reviewer"))
        assert ("a", "explorer") in nested[first_end:]


async def test_one_of_two_subagents_is_stopped_and_the_turn_goes_on(tmp_path: Path) -> None:
    both = Reply(
        calls=(
            call("task", agent="explorer", prompt="one", id="a"),
            call("task", agent="explorer", prompt="two", id="b"),
        )
    )
    script = (both, Reply(text="A."), Reply(text="B."), Reply(text="ok"))
    async with Stage(tmp_path, *script) as stage:
        stopped: list[bool] = []

        def stop(event: Event) -> None:
            if isinstance(event, SubagentEvent) and isinstance(event.event, StepBegan):
                assert stage.session.subagents is not None
                if event.source == "a":
                    stopped.append(stage.session.subagents.stop("a"))

        stage.listeners.append(stop)
        assert await stage.say("Look") == "done"
        assert stopped == [True]
        results = {line["tool_call_id"]: line for line in stage.on_disk("tool")}
        assert results["a"]["content"].startswith("explorer did not finish: the user stopped it")
        assert not results["b"].get("is_error")
        assert stage.session.subagents is not None
        assert not stage.session.subagents.stop("b"), "nothing works for it any more"
        children = set(sessions(stage)) - {stage.session.session_id}
        ends = [line for child in children for line in sessions(stage)[child] if "end" in line]
        assert [end["end"] for end in ends] == ["cancelled"]


async def test_an_unknown_subagent_is_told_to_the_model(tmp_path: Path) -> None:
    async with Stage(tmp_path, task("plumber"), Reply(text="ok")) as stage:
        await stage.say("Look")
        (result,) = stage.on_disk("tool")
        assert result["content"] == (
            "There is no subagent 'plumber'. There are: explorer, security-reviewer."
        )


async def test_a_subagent_that_fails_says_so_to_its_parent(tmp_path: Path) -> None:
    script = (task(), Reply(text="Half an", cut_after=1), Reply(text="ok"))
    async with Stage(tmp_path, *script) as stage:
        assert await stage.say("Look") == "done"
        (result,) = stage.on_disk("tool")
        assert result["is_error"]
        assert result["content"].startswith("explorer did not finish: The connection broke")


async def test_cancelling_the_parent_cancels_its_subagent_and_both_logs_go_on(
    tmp_path: Path,
) -> None:
    script = (task(), Reply(text="a b c d e f g"), Reply(text="ok"))
    async with Stage(tmp_path, *script) as stage:
        await stage.say_until(
            "Look",
            lambda event: (
                isinstance(event, SubagentEvent) and type(event.event).__name__ == "TextDelta"
            ),
        )
        (child,) = set(sessions(stage)) - {stage.session.session_id}
        (end,) = [line for line in sessions(stage)[child] if line["role"] == "_turn_end"]
        assert end["end"] == "cancelled"
        assert stage.on_disk("tool")[0]["interrupted"]
        assert await stage.say("Go on") == "done"


def write_specs(folder: Path) -> None:
    """A worker with every tool, and a boss who may start it."""
    home = folder / "home"
    (home / "agents").mkdir(parents=True)
    (home / "agents" / "worker.yaml").write_text(
        "extend: default\nname: worker\ndescription: Works.\nsubagents: []\n"
    )
    (home / "agents" / "boss.yaml").write_text("extend: default\nsubagents: [worker]\n")


async def test_a_subagent_asks_the_parents_person_under_its_own_name(tmp_path: Path) -> None:
    write_specs(tmp_path)
    script = (
        task("worker", id="t1"),
        Reply(calls=(call("run_command", command="echo hello"),)),
        Reply(text="Done."),
        Reply(text="ok"),
    )
    async with Stage(tmp_path, *script, spec="boss") as stage:
        stage.answers.append(ApprovalAnswer("once"))
        assert await stage.say("Work") == "done"
        (request,) = [e.request for e in stage.events if isinstance(e, ApprovalRequested)]
        assert (request.title, request.source) == ("worker: echo hello", "t1")


async def test_a_subagent_in_plan_mode_reports_and_presents_no_plan_of_its_own(
    tmp_path: Path,
) -> None:
    write_specs(tmp_path)
    script = (
        task("worker"),
        Reply(
            calls=(
                call("write_file", path="a.txt", content="x"),
                call("run_command", command="touch b.txt", background=True),
                call("present_plan", plan="# Let me write"),
            )
        ),
        Reply(text="a.txt should be written."),
        Reply(text="ok"),
    )
    async with Stage(tmp_path, *script, spec="boss") as stage:
        stage.session.approvals.set_mode("plan")
        assert await stage.say("Plan it") == "done"
        assert isinstance(stage.provider, Scripted)
        parent, child = ({t.name for t in r.tools} for r in list(stage.provider.requests)[:2])
        assert {"ask_user", "present_plan"} <= parent
        assert not {"ask_user", "present_plan"} & child
        messages = list(stage.provider.requests)[2].messages
        write, run, plan = (text_of(m.content) for m in messages if isinstance(m, ToolMessage))
        assert write == run
        assert write.endswith("say in your answer what should be done.")
        assert plan.startswith("There is no tool 'present_plan'.")
        assert not any(isinstance(each, ApprovalRequested) for each in stage.events)
        assert stage.session.approvals.mode == "plan"
        assert not list(stage.workspace.iterdir())
