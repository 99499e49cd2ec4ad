"""Going back in time and forth again: nothing is ever lost on the way."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from agent_tui.core.errors import (
    SessionError,
    UnknownArchive,
    UnknownCheckpoint,
)
from agent_tui.core.events import CheckpointMade, Event, Reverted, StatusChanged
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Checkpoint, LabelRecord, UserMessage
from agent_tui.providers.demo.scenario import Reply
from agent_tui.sessions.store import Durability
from tests.agent.stage import Stage, read_log

LONG = "What was said at length. " * 80


def said(stage: Stage) -> list[str]:
    """What the context holds, in short."""
    return [
        text_of(record.content)[:12].strip()
        for record in stage.session.view.records
        if isinstance(record, (UserMessage, AssistantMessage))
    ]


async def talk(stage: Stage, *prompts: str) -> None:
    for prompt in prompts:
        assert await stage.say(prompt) == "done"


def numbered(count: int, text: str = "") -> tuple[Reply, ...]:
    return tuple(Reply(text=f"answer {number} {text}") for number in range(1, count + 1))


def check_disk(stage: Stage) -> None:
    state = read_log(stage.log)
    assert [entry.record for entry in state.entries] == list(stage.session.view.records)


async def test_a_report_counts_the_messages_that_really_moved(tmp_path: Path) -> None:
    async with Stage(tmp_path, *(Reply(text=text) for text in "1234")) as stage:
        await stage.say("one")
        await stage.operations.clear()
        cleared = await stage.operations.restore(1)
        assert (cleared.messages_left, cleared.messages_back) == (0, 2)
        await stage.say("two")
        back = stage.session.view.checkpoints()[-1].id
        reverted = await stage.operations.revert(back)
        assert (reverted.messages_left, reverted.messages_back) == (1, 0), "the answer"
        restored = await stage.operations.restore(reverted.archive)
        assert (restored.messages_left, restored.messages_back) == (0, 1)


async def test_a_revert_takes_back_what_its_preview_said(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two", "three")
        second = next(c.id for c in stage.session.view.checkpoints() if (c.turn, c.step) == (2, 0))
        preview = await stage.session.view.preview_revert(second)
        assert (preview.messages_staying, preview.messages_leaving) == (2, 4)
        assert preview.prompt == "two"
        assert preview.lines[0] == "you: two"
        assert preview.tokens_leaving > 0 < preview.tokens_staying
        report = await stage.operations.revert(second)
        assert (report.messages_left, report.prompt, report.archive) == (4, "two", 1)
        assert said(stage) == ["one", "answer 1"]
        assert stage.events[-1] == Reverted(report)
        check_disk(stage)


async def test_an_unknown_checkpoint_is_told_with_those_there_are(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(1)) as stage:
        await talk(stage, "one")
        with pytest.raises(UnknownCheckpoint, match=r"no checkpoint 9.*0, 1"):
            await stage.operations.revert(9)
        with pytest.raises(UnknownArchive, match="no archive 4"):
            await stage.operations.restore(4)
        with pytest.raises(SessionError, match="nothing to undo"):
            await stage.operations.undo()
        with pytest.raises(SessionError, match="nothing to redo"):
            await stage.operations.redo()


async def test_reverts_are_undone_one_by_one_and_redone_one_by_one(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two", "three")
        states = [said(stage)]
        for checkpoint in (4, 2, 0):
            await stage.operations.revert(checkpoint)
            states.append(said(stage))
        assert [len(state) for state in states] == [6, 4, 2, 0]
        for expected in reversed(states[:-1]):
            await stage.operations.undo()
            assert said(stage) == expected
        with pytest.raises(SessionError, match="nothing to undo"):
            await stage.operations.undo()
        for expected in states[1:]:
            await stage.operations.redo()
            assert said(stage) == expected
        with pytest.raises(SessionError, match="nothing to redo"):
            await stage.operations.redo()
        await stage.operations.undo()
        assert said(stage) == states[2]
        check_disk(stage)


async def test_only_a_redone_revert_gives_its_prompt_back(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two", "three")
        await stage.operations.revert(2)
        assert (await stage.operations.undo()).prompt == ""
        assert (await stage.operations.redo()).prompt == "two"
        await stage.operations.undo()
        await stage.operations.clear()
        await stage.operations.undo()
        assert (await stage.operations.redo()).prompt == ""


async def test_clears_compactions_and_restores_are_undone_too(tmp_path: Path) -> None:
    summary = (Reply(text="Summed up."),)
    async with Stage(tmp_path, *numbered(4, LONG), compactions=summary) as stage:
        await talk(stage, "one", "two", "three", "four")
        whole = said(stage)
        report = await stage.operations.compact()
        compacted = said(stage)
        assert report.archive == 1
        assert len(compacted) < len(whole)
        await stage.operations.clear()
        assert said(stage) == []
        await stage.operations.restore(1)
        assert said(stage) == whole
        for expected in ([], compacted, whole):
            assert (await stage.operations.undo()).fork == ""
            assert said(stage) == expected
        for expected in (compacted, [], whole):
            await stage.operations.redo()
            assert said(stage) == expected
        check_disk(stage)


async def test_a_new_act_ends_what_could_be_redone(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two")
        await stage.operations.revert(2)
        await stage.operations.undo()
        await talk(stage, "three")
        with pytest.raises(SessionError, match="nothing to redo"):
            await stage.operations.redo()


async def test_an_undo_keeps_the_turns_that_came_after_as_a_fork(tmp_path: Path) -> None:
    summary = (Reply(text="Summed up."),)
    async with Stage(tmp_path, *numbered(3, LONG), compactions=summary) as stage:
        await talk(stage, "one", "two")
        whole = said(stage)
        await stage.operations.compact()
        await talk(stage, "three")
        went_on = said(stage)
        report = await stage.operations.undo()
        assert said(stage) == whole
        fork = await stage.engine.open_session(report.fork)
        try:
            assert fork.view.title.endswith("(before undo)")
            assert [
                text_of(record.content)[:12].strip()
                for record in fork.view.records
                if isinstance(record, (UserMessage, AssistantMessage))
            ] == went_on
            assert fork.read_only == ""
        finally:
            await fork.close()
        await stage.operations.redo()
        assert said(stage) == went_on


async def test_an_undo_forks_once_for_what_was_said_however_often_it_is_toggled(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *numbered(4)) as stage:
        await talk(stage, "one", "two")
        await stage.operations.revert(2)
        await talk(stage, "other")
        went_on = said(stage)
        forks = []
        for _ in range(3):
            forks.append((await stage.operations.undo()).fork)
            assert said(stage)[-2] == "two"
            await stage.operations.redo()
            assert said(stage) == went_on
        assert [bool(fork) for fork in forks] == [True, False, False]
        assert len(await stage.engine.stored.list_sessions()) == 2
        await talk(stage, "more")
        assert (await stage.operations.undo()).fork
        assert len(await stage.engine.stored.list_sessions()) == 3


async def test_an_undo_of_a_revert_keeps_the_new_turn_too(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two")
        await stage.operations.revert(2)
        await talk(stage, "other")
        assert said(stage)[-2:] == ["other", "answer 3"]
        report = await stage.operations.undo()
        assert report.fork
        assert said(stage)[-2:] == ["two", "answer 2"]
        rows = await stage.engine.stored.list_sessions()
        assert {row.session_id for row in rows} == {stage.session.session_id, report.fork}


async def test_archives_tell_why_and_open_read_only(tmp_path: Path) -> None:
    summary = (Reply(text="Summed up."),)
    async with Stage(tmp_path, *numbered(3, LONG), compactions=summary) as stage:
        await talk(stage, "one", "two", "three")
        await stage.operations.compact("numbers")
        await stage.operations.clear()
        summaries = await stage.session.view.archives()
        assert [(summary.number, summary.reason) for summary in summaries] == [
            (2, "clear"),
            (1, "compaction"),
        ]
        assert summaries[1].messages == 6
        archive = await stage.session.view.open_archive(1)
        assert archive.message_count == 6
        assert len(archive.checkpoints()) == 6
        assert await stage.operations.prune_archives(1) == [1]
        assert [summary.number for summary in await stage.session.view.archives()] == [2]


async def test_every_past_compaction_can_be_seen_with_both_sides(tmp_path: Path) -> None:
    summaries = (Reply(text="First summary."), Reply(text="Second summary."))
    async with Stage(tmp_path, *numbered(6, LONG), compactions=summaries) as stage:
        await talk(stage, "one", "two", "three")
        await stage.operations.compact()
        await talk(stage, "four", "five", "six")
        await stage.operations.compact("the ends")
        found = await stage.session.view.compactions()
        assert [(number, record.focus) for number, record in found] == [(2, "the ends"), (1, "")]
        for number, record in found:
            view = await stage.session.view.view_compaction(number)
            fates = [row.fate for row in view.before]
            assert fates.count("kept") == record.kept
            assert fates.count("summarised") == record.summarised
            assert "summary." in view.summary
        with pytest.raises(UnknownArchive):
            await stage.session.view.view_compaction(7)


async def test_a_compaction_that_was_undone_can_still_be_seen(tmp_path: Path) -> None:
    summary = Reply(text="A summary.")
    async with Stage(tmp_path, *numbered(3, LONG), compactions=(summary,)) as stage:
        await talk(stage, "one", "two", "three")
        await stage.operations.compact("the ends")
        await stage.operations.undo()
        found = await stage.session.view.compactions()
        assert [(number, record.focus) for number, record in found] == [(1, "the ends")]
        assert "A summary." in (await stage.session.view.view_compaction(1)).summary


async def test_checkpoint_numbers_go_on_after_a_revert(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one")
        await stage.operations.revert(1)
        await talk(stage, "again")
        ids = [record.id for record in stage.session.view.records if isinstance(record, Checkpoint)]
        assert ids == sorted(set(ids))
        assert len(stage.session.view.checkpoints()) == len(ids)


@pytest.mark.parametrize("act", ["revert", "clear", "restore", "undo"])
async def test_an_act_that_is_cancelled_is_told_if_and_only_if_it_was_made(
    tmp_path: Path, act: str
) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one", "two")
        await stage.operations.revert(2)
        acts = {
            "revert": lambda: stage.operations.revert(0),
            "clear": stage.operations.clear,
            "restore": lambda: stage.operations.restore(1),
            "undo": stage.operations.undo,
        }
        made = 0
        for ticks in range(0, 24, 2):
            archives = len(await stage.session.view.archives())
            told = sum(isinstance(event, Reverted) for event in stage.events)
            task = asyncio.create_task(acts[act]())
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError, SessionError):
                await task
            new = len(await stage.session.view.archives()) - archives
            assert sum(isinstance(event, Reverted) for event in stage.events) - told == new
            check_disk(stage)
            made += new
            if act == "revert" and new:
                await stage.operations.undo()
        assert made


async def test_a_label_given_after_a_checkpoint_survives_the_revert_to_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one", "two")
        first = next(r for r in stage.session.view.records if isinstance(r, UserMessage))
        uuid = str(first.stamp.uuid)
        await stage.session._log.append(LabelRecord(uuid, "here"), durability=Durability.D1)
        second_turn = next(
            r.id for r in stage.session.view.records if isinstance(r, Checkpoint) and r.turn == 2
        )
        await stage.operations.revert(second_turn)
        assert stage.session._log.state.labels == {uuid: "here"}
        await stage.operations.undo()
        assert stage.session._log.state.labels == {uuid: "here"}


def _told_tokens(stage: Stage) -> int:
    """What the gauge on a screen says: the last count that was told."""
    events = reversed(stage.events)
    return next((e.gauge.tokens for e in events if isinstance(e, StatusChanged)), -1)


async def test_the_gauge_is_told_anew_after_every_operation(tmp_path: Path) -> None:
    answers = (Reply(text=f"Answer {number}. " * 200) for number in range(6))
    async with Stage(tmp_path, *answers) as stage:
        at_markers: list[tuple[int, int]] = []

        def note_marker(event: Event) -> None:
            if isinstance(event, CheckpointMade) and event.step == 0:
                at_markers.append((_told_tokens(stage), stage.session.gauge.tokens))

        stage.listeners.append(note_marker)
        await stage.say("a")
        before = stage.session.gauge.tokens
        await stage.session.run_shell("seq 500")
        assert _told_tokens(stage) == stage.session.gauge.tokens > before
        await stage.say("b")
        full = stage.session.gauge.tokens
        await stage.operations.revert(stage.session.view.checkpoints()[-1].id)
        assert full != _told_tokens(stage) == stage.session.gauge.tokens
        await stage.say("c")
        tree = await stage.session.view.tree()
        outline = tree.outline("turns")
        row = next(outline.row(n) for n in range(len(outline)) if outline.row(n).kind == "prompt")
        await stage.operations.branch(await tree.branch_place(row))
        assert before != _told_tokens(stage) == stage.session.gauge.tokens
        await stage.say("d")
        await stage.operations.undo()
        assert _told_tokens(stage) == stage.session.gauge.tokens
        # A marker shows what was told last: never the tokens of a future that was left.
        later = [told for told, _ in at_markers[1:]]
        assert later == [count for _, count in at_markers[1:]]
