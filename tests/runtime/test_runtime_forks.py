"""A fork begins at any point of the tree, and what was done before it is undone in it too."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.errors import LogChanged, SessionError, SessionNotFound, UnknownArchive
from agent_tui.core.messages import text_of
from agent_tui.core.records import CompactionRecord, RevertRecord, TitleRecord, UserMessage
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.providers.demo.scenario import Reply
from agent_tui.runtime.live_session import LiveSession
from tests.agent.stage import Stage
from tests.history.test_history_tree import branch_at, find, say

LONG = "What was said at length. " * 80


def listing(folder: Path) -> dict[str, bytes]:
    """The logs in a session's folder."""
    logs = (
        path for path in folder.glob("context.jsonl*") if path.suffix not in (".owner", ".lock")
    )
    return {path.name: path.read_bytes() for path in logs}


def numbered(count: int) -> tuple[Reply, ...]:
    return tuple(Reply(text=f"answer {number} {LONG}") for number in range(1, count + 1))


def said(session: LiveSession) -> list[str]:
    """What a person said in a session, as its context has it now."""
    records = [r for r in session.view.records if isinstance(r, UserMessage)]
    return [text_of(r.content) for r in records if r.origin == "human"]


def names(tree: SessionTree) -> set[str]:
    return {source.session_id for source in tree.tree.sources}


async def test_a_fork_from_a_prompt_ends_before_it_and_gives_it_back(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a", "b", "c")
        before = stage.log.read_bytes()
        made = await stage.engine.stored.fork_at(await branch_at(stage, "b"))
        assert made.prompt == "b"
        assert stage.log.read_bytes() == before
        fork = await stage.engine.open_session(made.session_id)
        assert said(fork) == ["a"]
        assert fork.view.title == "a (fork)"
        await fork.run_turn("B")
        assert said(fork) == ["a", "B"]
        tree = await fork.view.tree()
        assert names(tree) == {stage.session.session_id, fork.session_id}
        assert tree.branch_count == 1, "what both have in common is one path"
        await fork.close()


async def test_a_fork_from_an_answer_ends_behind_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a", "b")
        tree, _ = await find(stage, "b")
        rows = [tree.outline("steps").row(i) for i in range(len(tree.outline("steps")))]
        step = next(row for row in rows if row.kind == "step")
        made = await stage.engine.stored.fork_at(await tree.branch_place(step))
        fork = await stage.engine.open_session(made.session_id)
        assert (made.prompt, said(fork), fork.view.message_count) == ("", ["a"], 2)
        await fork.close()


async def test_an_archive_is_forked_without_being_restored(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a", "b", "c")
        await stage.operations.revert(stage.session.view.checkpoints()[2].id)
        await say(stage, "d")
        made = await stage.engine.stored.fork_at(await branch_at(stage, "c"))
        fork = await stage.engine.open_session(made.session_id)
        assert (made.prompt, said(fork)) == ("c", ["a", "b"])
        assert said(stage.session) == ["a", "d"]
        assert [each.number for each in await stage.session.view.archives()] == [1]
        await fork.close()


async def test_the_other_branch_of_a_kin_is_forked_from_here(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a")
        kin = await stage.engine.open_session(await stage.operations.fork())
        await kin.run_turn("k")
        await kin.run_turn("l")
        tree, row = await find(stage, "l")
        assert row.session_id == kin.session_id
        made = await stage.engine.stored.fork_at(await tree.branch_place(row))
        fork = await stage.engine.open_session(made.session_id)
        assert (made.prompt, said(fork)) == ("l", ["a", "k"])
        assert names(await fork.view.tree()) >= {
            stage.session.session_id,
            row.session_id,
        }
        for session in (fork, kin):
            await session.close()


async def test_a_branch_inside_the_log_is_forked_to_the_branch_that_was_left(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a", "b", "c")
        await stage.operations.branch(await branch_at(stage, "b"))
        await say(stage, "d")
        made = await stage.engine.stored.fork_at(await branch_at(stage, "c"))
        fork = await stage.engine.open_session(made.session_id)
        assert said(fork) == ["a", "b"]
        await fork.close()


async def test_a_session_that_another_window_writes_is_forked_at_any_point(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a", "b", "c")
        window = await stage.engine.open_session(stage.session.session_id)
        assert window.read_only
        tree = await window.view.tree()
        _, row = await find(stage, "c")
        fork = await stage.engine.open_session(
            (await stage.engine.stored.fork_at(await tree.branch_place(row))).session_id
        )
        assert said(fork) == ["a", "b"]
        assert not fork.read_only
        for session in (fork, window):
            await session.close()


async def test_the_tree_of_a_window_whose_session_was_deleted_is_refused_in_words(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a")
        await stage.operations.fork()  # which is kin that is still there
        window = await stage.engine.read_session(stage.session.session_id)
        await stage.session.close()
        await stage.engine.stored.delete_session(stage.session.session_id)
        with pytest.raises(SessionNotFound, match="no such file or folder"):
            await window.view.tree()
        await window.close()


async def test_a_fork_from_a_tree_that_is_out_of_date_makes_nothing(tmp_path: Path) -> None:
    summaries = (Reply(text="## Current focus\nThe letters."),)
    async with Stage(tmp_path, *numbered(9), compactions=summaries) as stage:
        await say(stage, "a", "b", "c")
        tree, row = await find(stage, "c")
        await stage.operations.compact()
        count = len(await stage.engine.stored.list_sessions())
        with pytest.raises(LogChanged, match="open the tree again"):
            await stage.engine.stored.fork_at(await tree.branch_place(row))
        assert len(await stage.engine.stored.list_sessions()) == count


async def test_an_entry_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        await say(stage, "a", "b")
        tree, row = await find(stage, "b")
        uuid = tree.tree.uuid(row.place)
        assert tree.place_of(uuid) == tree.place_of(uuid[:30]) == row.place
        for wrong in ("", "nothing"):
            with pytest.raises(SessionError, match="is not an entry's id"):
                tree.place_of(wrong)


async def test_what_was_done_before_a_fork_is_undone_in_it_too(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9), compactions=(Reply(text="Summary."),)) as stage:
        for prompt in ("one", "two", "three"):
            await stage.say(prompt)
        before = list(stage.session.view.records)
        await stage.operations.compact()
        there = listing(stage.log.parent)
        fork = await stage.engine.open_session(await stage.operations.fork())
        await fork.operations.revert(fork.view.checkpoints()[-1].id)
        assert [each.number for each in await fork.view.archives()] == [2]
        await fork.operations.undo()
        report = await fork.operations.undo()
        assert (report.archive, report.fork) == (4, "")
        context = [r for r in fork.view.records if not isinstance(r, RevertRecord | TitleRecord)]
        assert context[1:] == [r for r in before if not isinstance(r, TitleRecord)][1:]
        await fork.operations.redo()
        assert any(isinstance(record, CompactionRecord) for record in fork.view.records)
        assert fork.session_id in [
            row.session_id for row in await stage.engine.stored.list_sessions()
        ]
        await fork.close()
        assert listing(stage.log.parent) == there


async def test_a_compaction_made_before_a_fork_opens_with_both_its_sides(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9), compactions=(Reply(text="Summary."),)) as stage:
        for prompt in ("one", "two", "three"):
            await stage.say(prompt)
        await stage.operations.compact()
        here = await stage.session.view.view_compaction(1)
        fork = await stage.engine.open_session(await stage.operations.fork())
        further = await stage.engine.open_session(await fork.operations.fork())
        for session in (fork, further):
            ((number, _),) = await session.view.compactions()
            there = await session.view.view_compaction(number)
            assert (there.before, there.summary) == (here.before, here.summary)
            opened = await session.view.open_archive(number)
            assert opened.message_count == len(here.before)
            await session.close()


async def test_an_undo_says_whose_archive_is_gone_and_makes_no_fork(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9), compactions=(Reply(text="Summary."),)) as stage:
        for prompt in ("one", "two", "three"):
            await stage.say(prompt)
        await stage.operations.compact()
        await stage.say("four")
        fork = await stage.engine.open_session(await stage.operations.fork())
        parent = stage.session.session_id
        await stage.session.close()
        place = await stage.engine.stored.delete_session(parent)
        before, count = listing(fork._log.folder), len(await stage.engine.stored.list_sessions())
        sentence = f"forked from {parent}, whose archive 1 no longer exists"
        for act in (
            fork.operations.undo,
            lambda: fork.operations.undo_compaction(1),
            lambda: fork.view.view_compaction(1),
        ):
            with pytest.raises(UnknownArchive, match=sentence):
                await act()
        assert listing(fork._log.folder) == before
        assert len(await stage.engine.stored.list_sessions()) == count
        await stage.engine.stored.undelete_session(place)
        assert (await fork.operations.undo()).fork  # four goes on there
        await fork.close()


async def test_a_fork_lists_compactions_that_lie_in_archives_of_its_parent(tmp_path: Path) -> None:
    summaries = (Reply(text="Summary."), Reply(text="Another."))
    async with Stage(tmp_path, *numbered(12), compactions=summaries) as stage:
        for prompts in (("one", "two", "three"), ("four", "five", "six")):
            for prompt in prompts:
                await stage.say(prompt * 200)
            await stage.operations.compact()
        fork = await stage.engine.open_session(await stage.operations.fork())
        listed = [number for number, _ in await fork.view.compactions()]
        assert listed == [number for number, _ in await stage.session.view.compactions()] == [2, 1]
        for number in listed:
            here = await stage.session.view.view_compaction(number)
            assert (await fork.view.view_compaction(number)).summary == here.summary
        await fork.close()
