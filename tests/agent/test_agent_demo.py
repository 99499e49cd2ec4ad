"""The demo's own agent delegates to a subagent, and recalls what a compaction took out."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.events import SubagentEvent
from agent_tui.providers.demo.scenario import load_scenario
from agent_tui.providers.demo.scripted import Scripted
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
