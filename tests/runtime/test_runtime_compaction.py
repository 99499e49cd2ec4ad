"""What an open session tells about a compaction before it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.summary import CompactionRequest, CompactionView
from agent_tui.providers.demo.scenario import Reply, Scenario
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage

LONG = "What was said at length. " * 80


async def draft(stage: Stage) -> CompactionView:
    for prompt in ("Run the tests", "Fix the bug", "Write a changelog entry"):
        assert await stage.say(prompt) == "done"
    return (await stage.session.compacting.draft(CompactionRequest())).view


async def test_a_summary_names_the_request_that_was_really_the_last(tmp_path: Path) -> None:
    answers = tuple(Reply(text=f"answer {number} {LONG}") for number in range(3))
    provider = Scripted(Scenario(script=answers))
    async with Stage(tmp_path, provider=provider) as stage:
        view = await draft(stage)
        kept = [message.text for message in view.before if message.fate == "kept"]
        assert "Write a changelog entry" in kept
        assert "- Asked last: Write a changelog entry" in view.summary
        assert view.summary.count("Asked last") == 1


@pytest.mark.parametrize(("window", "tokens"), [(8_000, "1,600"), (1_000_000, "20,000")])
async def test_strategies_say_what_they_keep_in_this_window(
    tmp_path: Path, window: int, tokens: str
) -> None:
    async with Stage(tmp_path, window=window) as stage:
        notes = {each.name: each.keeps for each in stage.session.compacting.strategies}
        assert list(notes) == [
            "last-messages",
            "last-share",
            "recent-tokens",
            "mask",
            "fallback",
        ]
        assert f"up to {tokens} tokens" in notes["recent-tokens"]


async def test_another_model_is_counted_exactly_from_the_start(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="Hello.")) as stage:
        await stage.say("Hello")
        await stage.operations.use_model("gpt-4o")
        assert stage.session._parts.now.context.counter.exact
