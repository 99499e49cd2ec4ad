"""Acts that are asked for at once: each begins where the one before it ended."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_tui.config import ContextSettings
from agent_tui.core.errors import AgentTuiError, SessionError
from agent_tui.core.records import Checkpoint, UserMessage
from agent_tui.core.summary import OperationReport
from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage, read_log


def numbered(count: int, text: str = "") -> tuple[Reply, ...]:
    return tuple(Reply(text=f"answer {number} {text}") for number in range(1, count + 1))


async def talk(stage: Stage, *prompts: str) -> None:
    for prompt in prompts:
        assert await stage.say(prompt) == "done"


def prompts(stage: Stage) -> list[object]:
    return [r.content for r in stage.session.view.records if isinstance(r, UserMessage)]


async def test_two_undos_at_once_take_two_acts_back(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two", "three")
        await stage.operations.revert(4)
        await stage.operations.revert(2)
        await asyncio.gather(stage.operations.undo(), stage.operations.undo())
        assert prompts(stage) == ["one", "two", "three"]
        await asyncio.gather(stage.operations.redo(), stage.operations.redo())
        assert prompts(stage) == ["one"]


async def test_a_turn_asked_for_during_a_restore_goes_on_from_what_was_restored(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *numbered(5)) as stage:
        await talk(stage, "one", "two", "three")
        await stage.operations.revert(2)
        await asyncio.gather(stage.operations.undo(), stage.say("four"))
        assert prompts(stage) == ["one", "two", "three", "four"]
        places = [r for r in stage.session.view.records if isinstance(r, Checkpoint)]
        assert [place.id for place in places] == list(range(8))
        assert [(place.turn, place.step) for place in places[-2:]] == [(4, 0), (4, 1)]
        state = read_log(stage.log)
        assert [entry.record for entry in state.entries] == list(stage.session.view.records)


async def test_a_revert_asked_for_twice_is_made_once(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two", "three")
        twice = await asyncio.gather(
            stage.operations.revert(2),
            stage.operations.revert(2),
            return_exceptions=True,
        )
        made = [each for each in twice if isinstance(each, OperationReport)]
        refused = [each for each in twice if isinstance(each, AgentTuiError)]
        assert len(made) == len(refused) == 1
        assert len(await stage.session.view.archives()) == 1


async def test_nothing_but_a_compaction_is_done_while_a_turn_runs(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one")
        turn = asyncio.create_task(stage.say("two"))
        await asyncio.sleep(0)
        for act in (
            stage.operations.undo,
            stage.operations.clear,
            lambda: stage.operations.revert(0),
            lambda: stage.session.run_shell("echo no"),
            lambda: stage.operations.use_model("another"),
        ):
            with pytest.raises(SessionError, match="turn is running"):
                await act()
        assert await turn == "done"


async def test_an_act_that_is_cancelled_while_it_waits_is_not_done(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two", "three")
        await stage.operations.revert(4)
        first = asyncio.create_task(stage.operations.undo())
        second = asyncio.create_task(stage.operations.clear())
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([first, second])
        assert second.cancelled()
        assert prompts(stage) == ["one", "two", "three"]


async def test_shares_say_what_this_session_s_compaction_and_a_revert_would_free(
    tmp_path: Path,
) -> None:
    chosen = ContextSettings(strategy="recent-tokens")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/AGENTS.md").write_text("Use tabs, always.")
    script = numbered(4, "word " * 400)
    async with Stage(tmp_path, *script, context=chosen, trust=True) as stage:
        await talk(stage, "one", "two", "three")
        at = next(c.id for c in stage.session.view.checkpoints() if c.prompt == "three")
        shares = await stage.session.shares.attribution(at)
        assert [each.detail for each in shares if each.kind == "project files"] == ["AGENTS.md"]
        answers = next(share for share in shares if share.kind == "agent")
        assert answers.tokens > answers.revert_frees > answers.tokens // 4
        # All of it is recent in a window this wide: a compaction would take nothing.
        assert {share.compaction_frees for share in shares} == {0}
