"""The demo's own agent delegates to a subagent, and recalls what a compaction took out."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui import resources
from agent_tui.core.events import ApprovalAnswer, ApprovalRequested, DMailSent, SubagentEvent
from agent_tui.providers.demo.scenario import load_scenario
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.resources import copy_demo_workspace
from tests.agent.stage import Stage


def demo() -> Scripted:
    return Scripted(load_scenario(), chunks_per_second=0)


async def test_the_demo_shows_a_subagent(tmp_path: Path) -> None:
    async with Stage(tmp_path, provider=demo()) as stage:
        (stage.workspace / "tests").mkdir()
        (stage.workspace / "tests" / "test_report.py").write_text("def test_signs(): ...\n")
        assert await stage.say("Use a subagent") == "done"
        (task,) = stage.on_disk("tool")
        assert "signs included" in task["content"]
        assert {e.name for e in stage.events if isinstance(e, SubagentEvent)} == {"explorer"}
        assert "The explorer read the tests" in stage.on_disk("assistant")[-1]["content"]


async def test_the_demo_recalls_what_was_compacted(tmp_path: Path) -> None:
    async with Stage(tmp_path, provider=demo()) as stage:
        await stage.say("Recall it")
        assert "Nothing has left my context yet" in stage.on_disk("assistant")[-1]["content"]
        await stage.say("Write format_height in capitals: FORMAT_HEIGHT, for the sign")
        for prompt in ("Where is the logbook?", "What is tidewatch?", "Who sails here?"):
            await stage.say(prompt + " Say more about it, please. " * 200)
        await stage.operations.compact()
        await stage.say("Recall it")
        assert "It is all still there" in stage.on_disk("assistant")[-1]["content"]


async def test_the_demo_shows_plan_mode(tmp_path: Path) -> None:
    async with Stage(tmp_path, provider=demo()) as stage:
        copy_demo_workspace(stage.workspace)
        await stage.say("Plan the fix")
        assert "That is not plan mode" in stage.on_disk("assistant")[-1]["content"]
        stage.session.approvals.set_mode("plan")
        stage.answers += [ApprovalAnswer("session"), ApprovalAnswer("once")]
        assert await stage.say("Plan the fix") == "done"
        asked = [e.request.call.name for e in stage.events if isinstance(e, ApprovalRequested)]
        assert asked == ["present_plan", "run_command"]
        assert "The plan is carried out." in stage.on_disk("assistant")[-1]["content"]


async def test_the_demo_sends_a_dmail_with_the_agent_that_can(tmp_path: Path) -> None:
    async with Stage(tmp_path, provider=demo()) as stage:
        copy_demo_workspace(stage.workspace)
        await stage.say("Send a D-Mail")
        assert "--agent time-traveller" in stage.on_disk("assistant")[-1]["content"]
    async with Stage(tmp_path, provider=demo(), spec="time-traveller") as stage:
        await stage.say("Read README.md")
        assert await stage.say("Send a D-Mail") == "done"
        assert len([event for event in stage.events if isinstance(event, DMailSent)]) == 1
        assert "yawl *Patience*" in stage.on_disk("assistant")[-1]["content"]
        assert "boat" not in str(stage.session.view.records[-3:])


def test_the_demo_works_without_what_an_installation_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = tmp_path / "demo" / "workspace" / "tests" / "__pycache__"
    compiled.mkdir(parents=True)
    (compiled / "test_report.pyc").write_bytes(b"compiled")
    (compiled.parent / "test_report.py").write_text("")
    monkeypatch.setattr(resources, "demo_folder", lambda: tmp_path / "demo")
    copy_demo_workspace(tmp_path / "copy")
    files = [str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")]
    assert sorted(files) == ["tests", "tests/test_report.py"]
