"""One view of any session: the same counts and the same way on, wherever one looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.errors import SessionError
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Message,
    Record,
    UsageRecord,
    UserMessage,
)
from agent_tui.history.records.contents import count_tokens
from agent_tui.history.view import SessionView
from tests.agent.stage import Reply, Stage
from tests.history.views import source_of

LONG = "Nothing was decided about it. " * 200
SUMMARY = Reply(text="## Current focus\nThe letters.")


async def live_a_life(stage: Stage) -> SessionView:
    """Two compactions, so that the second archive holds the marker of the first, and a revert."""
    for prompt in "abc":
        await stage.say(f"{prompt} {LONG}")
    await stage.operations.compact()
    for prompt in "def":
        await stage.say(f"{prompt} {LONG}")
    await stage.operations.compact()
    await stage.say("g")
    view = stage.session.view
    await stage.operations.revert(view.checkpoints()[-1].id)
    return view


async def test_archives_say_the_same_of_themselves_everywhere(tmp_path: Path) -> None:
    answers = (Reply(text=f"answer {LONG}") for _ in range(7))
    async with Stage(tmp_path, *answers, compactions=(SUMMARY, SUMMARY)) as stage:
        view = await live_a_life(stage)
        archives = await view.archives()
        assert [archive.number for archive in archives] == [3, 2, 1]
        compactions = dict(await view.compactions())
        for archive in archives:
            opened = await view.open_archive(archive.number)
            compared = (await view.compare_archive(archive.number)).left
            assert opened.message_count == archive.messages == len(compared.messages)
            assert opened.token_count == compared.tokens
            if archive.number in compactions:
                assert opened.token_count == compactions[archive.number].pre_tokens
        now = (await view.compare_archive(1)).right
        assert (len(now.messages), now.tokens) == (view.message_count, view.token_count)


async def test_a_scrubber_counts_the_messages_of_the_log(tmp_path: Path) -> None:
    call = AssistantMessage("", (ToolCall("c", "run_command", "{}"),))
    view = SessionView(source_of([UserMessage("a", "human"), call, UserMessage("b", "human")]))
    scrub = await view.scrub()
    look = scrub.look(len(scrub) - 1)
    assert len(look.messages) == 4, "a call without a result is sent with one"
    assert look.message_count == view.message_count == 3


async def test_a_compaction_is_found_from_every_log_of_its_session(tmp_path: Path) -> None:
    answers = (Reply(text=f"answer {LONG}") for _ in range(7))
    async with Stage(tmp_path, *answers, compactions=(SUMMARY, SUMMARY)) as stage:
        live = await live_a_life(stage)
        archive = await live.open_archive(2)
        (marker,) = (r for r in archive.records if isinstance(r, CompactionRecord))
        tree = await live.tree()
        moment = await live.at_row(tree, tree.outline("turns").row(0), "then")
        for view in (live, archive, moment):
            assert (await view.view_compaction(marker.archive)).report.archive == marker.archive
            assert [number for number, _ in await view.compactions()] == [2, 1]
            with pytest.raises(SessionError, match="archive 3"):
                await view.view_compaction(3)


def test_the_last_usage_counts_for_all_before_it_and_later_messages_by_themselves() -> None:
    count = TokenCounter().count_message
    call = AssistantMessage("", (ToolCall("c", "run_command", "{}"),))
    said: list[Message] = [UserMessage("a", "human"), AssistantMessage("1")]
    old: list[Record] = [Checkpoint(0), *said]
    later = UserMessage("what now?", "human")
    assert count_tokens([*old, UsageRecord(5_000)], count) == 5_000
    assert count_tokens([*old, UsageRecord(5_000), later], count) == 5_000 + count(later)
    assert count_tokens(old, count) == sum(map(count, said))
    open_call = count_tokens([*old, call, UsageRecord(5_000)], count)
    assert open_call > 5_000, "the result that is sent for an unanswered call"
