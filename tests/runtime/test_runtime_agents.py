"""Which agent a session has: the one it began with, unless this run names another."""

from __future__ import annotations

import json
from pathlib import Path

from agent_tui.config import AgentSettings
from agent_tui.core.events import TurnFinished
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage, call


def tools_of(stage: Stage) -> set[str]:
    """The tools of the last request."""
    assert isinstance(stage.provider, Scripted)
    return {tool.name for tool in stage.provider.requests[-1].tools}


def logged(folder: Path) -> set[str]:
    """The sessions on disk."""
    return {log.parent.name for log in folder.glob("home/projects/*/*/context.jsonl")}


def rename_agent(folder: Path, agent: str) -> None:
    """Have the log of the one session name another agent."""
    (log,) = folder.glob("home/projects/*/*/context.jsonl")
    head, _, rest = log.read_text().partition("\n")
    log.write_text(json.dumps(json.loads(head) | {"agent": agent}) + "\n" + rest)


async def begin(folder: Path, spec: str) -> str:
    async with Stage(folder, Reply(text="Hello."), spec=spec) as stage:
        await stage.say("Hi")
        return stage.session.session_id


async def test_a_resumed_session_has_the_agent_it_began_with(tmp_path: Path) -> None:
    session_id = await begin(tmp_path, "explorer")
    async with Stage(tmp_path, Reply(text="Again."), resume=session_id) as stage:
        await stage.say("And now?")
        assert "run_command" not in tools_of(stage)


async def test_this_run_may_name_another_agent(tmp_path: Path) -> None:
    session_id = await begin(tmp_path, "explorer")
    async with Stage(
        tmp_path, Reply(text="Again."), resume=session_id, spec="time-traveller"
    ) as stage:
        await stage.say("And now?")
        assert {"run_command", "send_dmail"} <= tools_of(stage)


async def test_an_agent_that_is_gone_is_told_and_a_log_names_no_file(tmp_path: Path) -> None:
    session_id = await begin(tmp_path, "explorer")
    (tmp_path / "evil.yaml").write_text("name: evil\ntools: []\n")
    rename_agent(tmp_path, str(tmp_path / "evil.yaml"))
    async with Stage(tmp_path, Reply(text="Again."), resume=session_id) as stage:
        await stage.say("And now?")
        assert "run_command" in tools_of(stage)
        assert any("which you do not have" in notice for notice in stage.session.notices)


async def test_the_sessions_of_subagents_are_listed_below_their_parents_only(
    tmp_path: Path,
) -> None:
    task = Reply(calls=(call("task", agent="explorer", prompt="Look"),))
    async with Stage(tmp_path, task, Reply(text="Seen."), Reply(text="So.")) as stage:
        await stage.say("Explore")
        listed = await stage.engine.stored.list_sessions()
        assert [row.session_id for row in listed] == [stage.session.session_id]
        (child,) = logged(tmp_path) - {stage.session.session_id}
        looked_at = await stage.engine.read_session(child)
        assert "Seen." in str(looked_at.view.records[-2:])
        await looked_at.close()


async def test_what_a_subagent_takes_counts_against_the_limit_of_its_parent(tmp_path: Path) -> None:
    limits = AgentSettings(max_tokens=1_000)
    look = call("find_files", pattern="*")
    script = (
        Reply(calls=(call("task", agent="explorer", prompt="Look"),), input_tokens=10),
        Reply(calls=(look,), input_tokens=5_000),
        Reply(calls=(look,), input_tokens=5_000),
        Reply(text="never asked"),
    )
    async with Stage(tmp_path, *script, agent=limits) as stage:
        assert await stage.say("Explore") == "limit"
        assert isinstance(stage.provider, Scripted)
        assert len(stage.provider.requests) == 2, "the child stops, and so does its parent"
        ends = [event for event in stage.events if isinstance(event, TurnFinished)]
        assert "Token limit reached (1,000" in ends[-1].reason
