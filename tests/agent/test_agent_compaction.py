"""A turn that fills its context compacts it and goes on; what cannot help is told once."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_tui.config import AgentSettings, ContextSettings
from agent_tui.core.errors import CompactionError
from agent_tui.core.events import CompactionBegan, CompactionFinished, Event, StepRetried
from agent_tui.providers.scenario import Fault, Reply
from tests.agent.stage import Stage, call

WINDOW = 8_000
LONG = "What was said at length. " * 100
FULL = WINDOW - 200


def talk(*, full: bool = True) -> tuple[Reply, ...]:
    """Two answers, after the second of which the context is as good as full."""
    return (
        Reply(text=LONG, input_tokens=3_000),
        Reply(text=LONG, input_tokens=FULL if full else 4_000),
    )


async def test_a_full_context_is_compacted_before_the_step_and_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),), input_tokens=FULL)
    script = (Reply(text=LONG), look, Reply(text="Found."))
    summary = (Reply(text="They talked at length."),)
    async with Stage(tmp_path, *script, compactions=summary, window=WINDOW) as stage:
        await stage.say("Tell me")
        assert await stage.say("Now look") == "done"
        said = stage.transcript()
        assert said[said.index("compaction auto") - 1 :] == snapshot(
            [
                "ok find_files: No file fits *.",
                "compaction auto",
                "compacted",
                "checkpoint 1 (turn 2, step 2)",
                "step 2",
                "text: Found.",
                "turn 2 done after 2",
            ]
        )
        (record,) = stage.on_disk("_compaction")
        assert (record["trigger"], record["archive"]) == ("auto", 1)
        assert record["post_tokens"] < FULL <= record["pre_tokens"]
        assert [m["turn"] for m in stage.on_disk("user") if m["origin"] == "human"] == [1, 2]
        assert await stage.say("And then?") == "done"
        assert stage.on_disk("user")[-1]["turn"] == 3


async def test_no_compaction_where_it_is_switched_off(tmp_path: Path) -> None:
    settings = ContextSettings(auto_compact=False)
    async with Stage(tmp_path, *talk(), Reply(text="ok"), window=WINDOW, context=settings) as stage:
        for prompt in ("a", "b", "c"):
            assert await stage.say(prompt) == "done"
        assert not any(isinstance(event, CompactionBegan) for event in stage.events)


async def test_a_compaction_that_does_not_help_says_why_once_and_does_not_loop(
    tmp_path: Path,
) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),), input_tokens=FULL)
    verbose = tuple(Reply(text=LONG * 10) for _ in range(9))
    script = (*talk(full=False), *(look for _ in range(5)), Reply(text="ok", input_tokens=FULL))
    async with Stage(tmp_path, *script, compactions=verbose, window=WINDOW) as stage:
        for prompt in ("a", "b", "c"):
            assert await stage.say(prompt) == "done"
        (told,) = [e.reason for e in stage.events if isinstance(e, CompactionFinished)]
        assert told.startswith("Compacting would not make the context smaller: 7,8")
        assert not list(stage.log.parent.glob("context.jsonl.[0-9]*"))


async def test_a_summary_is_asked_for_again_and_then_the_fallback_says_so(tmp_path: Path) -> None:
    broken = (Reply(faults=tuple(Fault(status=503) for _ in range(9))),)
    script = (*talk(), Reply(text="ok"))
    async with Stage(
        tmp_path, *script, compactions=broken, window=WINDOW, agent=AgentSettings(max_attempts=3)
    ) as stage:
        for prompt in ("a", "b", "c"):
            assert await stage.say(prompt) == "done"
        assert sum(isinstance(event, StepRetried) for event in stage.events) == 2
        (report,) = [e.report for e in stage.events if isinstance(e, CompactionFinished)]
        assert report is not None
        assert report.fallback
        assert stage.on_disk("_compaction")[0]["fallback"] is True


async def test_a_manual_compaction_with_nothing_to_gain_changes_nothing(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("a")
        before = stage.log.read_bytes()
        with pytest.raises(CompactionError, match="Nothing to compact"):
            await stage.session.compact()
        assert stage.log.read_bytes() == before
        assert stage.transcript()[-1].startswith("not compacted: Nothing to compact")


async def test_a_compaction_that_is_cancelled_as_it_commits_is_told_as_made(
    tmp_path: Path,
) -> None:
    script = (*talk(), Reply(text="ok"))
    async with Stage(
        tmp_path, *script, compactions=(Reply(text="Short."),), window=WINDOW
    ) as stage:
        await stage.say("a")
        await stage.say("b")

        def committed(event: Event) -> bool:
            return isinstance(event, CompactionFinished)

        await stage.say_until("c", committed)
        finished = [event for event in stage.events if isinstance(event, CompactionFinished)]
        assert [event.report is not None for event in finished] == [True]
        assert len(stage.on_disk("_compaction")) == 1


async def test_the_gauge_has_no_mark_where_nothing_compacts_by_itself(tmp_path: Path) -> None:
    async with Stage(tmp_path, context=ContextSettings(auto_compact=False)) as stage:
        assert stage.session.gauge.trigger_at == 0
    async with Stage(tmp_path) as stage:
        assert stage.session.gauge.trigger_at > 0
