"""What a prompt names with ``@`` is read and sent behind it, once, and named for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import ModelSettings
from agent_tui.core.events import NoticeGiven
from agent_tui.core.messages import MediaPart, text_of
from agent_tui.core.records import UserMessage
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage
from tests.tools.test_tools_images import png

SEES = {"scripted": ModelSettings(image_in=True)}
BLIND = {"scripted": ModelSettings(image_in=False)}
LINES = "".join(f"line {number}\n" for number in range(1, 61))


async def ask(stage: Stage, prompt: str) -> UserMessage:
    """Send a prompt; the last message of the request that it led to."""
    assert await stage.say(prompt) == "done"
    assert isinstance(stage.provider, Scripted)
    last = stage.provider.requests[-1].messages[-1]
    assert isinstance(last, UserMessage)
    return last


def notices(stage: Stage) -> list[str]:
    return [event.text for event in stage.events if isinstance(event, NoticeGiven)]


@pytest.mark.parametrize(
    ("mention", "first", "last", "count"),
    [
        ("@src/a.py", "1\tline 1", "60\tline 60", 60),
        ("@src/a.py:10-40", "10\tline 10", "40\tline 40", 31),
        ("@src/a.py:7", "7\tline 7", "7\tline 7", 1),
        ("(see @src/a.py:10-40).", "10\tline 10", "40\tline 40", 31),
        ('@"src/a.py":', "1\tline 1", "60\tline 60", 60),
    ],
)
async def test_a_file_or_some_of_its_lines_stand_behind_the_prompt(
    tmp_path: Path, mention: str, first: str, last: str, count: int
) -> None:
    async with Stage(tmp_path, Reply(text="I see.")) as stage:
        (stage.workspace / "src").mkdir()
        (stage.workspace / "src" / "a.py").write_text(LINES)
        told = text_of((await ask(stage, f"What is {mention} about?")).content).splitlines()
        shown = [line for line in told if "\t" in line]
        assert (shown[0], shown[-1], len(shown)) == (first, last, count)
        prompt, attached = stage.on_disk("user")
        assert prompt["content"] == f"What is {mention} about?"
        assert (prompt["origin"], attached["origin"]) == ("human", "reminder")
        assert notices(stage)[0].startswith("Attached src/a.py")


async def test_a_folder_is_listed_and_a_word_is_only_a_word(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="I see."), Reply(text="Fine.")) as stage:
        (stage.workspace / "docs").mkdir()
        (stage.workspace / "docs" / "a.md").write_text("a")
        assert "a.md  1" in text_of((await ask(stage, "List @docs/ please")).content)
        last = await ask(stage, "Ask @alice and bob@docs about @types/node")
        assert last.origin == "human"
        assert notices(stage) == ["Attached docs/"]


async def test_a_picture_is_sent_from_wherever_it_lies(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="A square."), models=SEES) as stage:
        elsewhere = tmp_path / "my shots"
        elsewhere.mkdir()
        (elsewhere / "one.png").write_bytes(png())
        (stage.workspace / "two.png").write_bytes(png())
        last = await ask(stage, f'Compare @"{elsewhere}/one.png" with @two.png.')
        pictures = [part for part in last.content if isinstance(part, MediaPart)]
        assert len(pictures) == 2
        assert all(part.url.startswith("data:image/png;base64,") for part in pictures)
        assert notices(stage) == [f"Attached {elsewhere}/one.png, two.png"]


async def test_a_model_that_cannot_see_is_told_that_there_is_a_picture(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="I cannot."), models=BLIND) as stage:
        (stage.workspace / "two.png").write_bytes(png())
        last = await ask(stage, "What is @two.png?")
        assert not [part for part in last.content if isinstance(part, MediaPart)]
        assert "cannot see pictures" in text_of(last.content)


async def test_a_model_that_cannot_see_is_sent_no_picture_of_earlier_turns(tmp_path: Path) -> None:
    models = SEES | {"blind": ModelSettings(image_in=False)}
    replies = Reply(text="A square."), Reply(text="I cannot.")
    async with Stage(tmp_path, *replies, models=models) as stage:
        (stage.workspace / "two.png").write_bytes(png())
        await ask(stage, "What is @two.png?")
        await stage.session.operations.use_model("blind")
        await ask(stage, "And now?")
        assert isinstance(stage.provider, Scripted)
        sent = [m.content for m in stage.provider.requests[-1].messages if "@" not in m.content]
        parts = [part for content in sent if not isinstance(content, str) for part in content]
        assert not [part for part in parts if isinstance(part, MediaPart)]
        assert any("cannot see pictures" in text_of((part,)) for part in parts)


async def test_what_may_not_be_read_is_named_and_the_prompt_is_sent(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="Fine."), models=SEES) as stage:
        (tmp_path / "secret.txt").write_text("canary")
        (tmp_path / "no.png").write_text("canary")
        last = await ask(stage, f"See @../secret.txt and @{tmp_path}/no.png")
        assert last.origin == "human"
        first, second = notices(stage)
        assert first.startswith("@../secret.txt was not attached: ")
        assert (
            second == f"@{tmp_path}/no.png was not attached: it is not a PNG, JPEG, GIF or WebP "
            "picture."
        )
        assert "canary" not in stage.log.read_text()


async def test_a_picture_that_is_too_large_is_not_attached(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="Fine."), models=SEES) as stage:
        (tmp_path / "big.png").write_bytes(png() + bytes(4_000_000))
        await ask(stage, f"See @{tmp_path}/big.png")
        (said,) = notices(stage)
        assert "more than 3.5 MB" in said
