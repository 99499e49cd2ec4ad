"""What changed on disk, as it is told after the log moved on."""

from __future__ import annotations

from pathlib import Path

from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage, call


async def test_a_call_keeps_the_name_of_its_tool_when_it_is_only_in_an_archive(
    tmp_path: Path,
) -> None:
    write = Reply(calls=(call("write_file", path="a.txt", content="one\n"),))
    async with Stage(tmp_path, write, Reply(text="Written."), yolo=True, capture=True) as stage:
        assert await stage.say("Write a file") == "done"
        await stage.operations.clear()
        (group,) = await stage.session.files.changes()
        assert group.tool == "write_file"
