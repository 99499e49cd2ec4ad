"""Pictures that the agent reads: shown to models that can see, named in words to the others."""

from __future__ import annotations

from pathlib import Path

from agent_tui.config import ModelSettings
from agent_tui.core.messages import MediaPart
from agent_tui.core.records import UserMessage
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage, call, sendable
from tests.tools.test_tools_images import png

BOTH = Reply(calls=(call("read_file", path="a.png"), call("read_file", path="b.txt")))


async def read_both(stage: Stage) -> list[MediaPart]:
    """The pictures that the last request held."""
    (stage.workspace / "a.png").write_bytes(png())
    (stage.workspace / "b.txt").write_text("text")
    assert await stage.say("Read both") == "done"
    assert isinstance(stage.provider, Scripted)
    last = stage.provider.requests[-1].messages[-1]
    content = last.content if isinstance(last, UserMessage) else ()
    return [part for part in content if isinstance(part, MediaPart)]


async def test_a_picture_comes_behind_all_results_of_its_step(tmp_path: Path) -> None:
    models = {"scripted": ModelSettings(image_in=True)}
    async with Stage(tmp_path, BOTH, Reply(text="Seen."), models=models) as stage:
        (picture,) = await read_both(stage)
        assert picture.url.startswith("data:image/png;base64,")
        answers = [line["role"] for line in stage.lines() if not line["role"].startswith("_")]
        assert answers == ["user", "assistant", "tool", "tool", "user", "assistant"]
        assert sendable(stage.session._log.state)


async def test_a_model_that_cannot_see_is_told_so(tmp_path: Path) -> None:
    models = {"scripted": ModelSettings(image_in=False)}
    async with Stage(tmp_path, BOTH, Reply(text="I cannot."), models=models) as stage:
        assert await read_both(stage) == []
        (said,) = (each["content"] for each in stage.on_disk("tool") if "a.png" in each["content"])
        assert said.startswith("[a.png: image/png, ")
        assert "cannot see pictures" in said
