"""Undoing and redoing one operation again and again leaves one row, and everything on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.records import HeadRecord, RevertRecord
from agent_tui.core.tree import Detail
from agent_tui.history.records.repeats import count_repeats, repeats_earlier
from tests.agent.stage import Stage
from tests.history.test_history_tree import ANSWERS, branch_at, say, told


def moves(stage: Stage) -> list[tuple[str, int]]:
    """The operations that people see, and how often each was repeated."""
    records = stage.session.view.records
    return [
        (record.reason, count_repeats(records, index))
        for index, record in enumerate(records)
        if isinstance(record, RevertRecord | HeadRecord) and not repeats_earlier(records, index)
    ]


async def flip(stage: Stage, times: int) -> None:
    for _ in range(times):
        await stage.operations.undo()
        await stage.operations.redo()


async def test_a_revert_that_was_undone_and_redone_is_one_row(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.revert(2)
        assert moves(stage) == [("user", 0)]
        await flip(stage, 3)
        assert moves(stage) == [("user", 3)]
        assert len(await stage.session.view.archives()) == 7, "the disk keeps each step"
        await stage.operations.undo()
        assert moves(stage) == [("undo", 0)]


async def test_undoing_what_was_done_again_is_one_row(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        for _ in range(3):
            await stage.operations.clear()
            await stage.operations.undo()
        assert moves(stage) == [("undo", 2)]
        await say(stage, "c")
        await stage.operations.clear()
        await stage.operations.undo()
        assert moves(stage) == [("undo", 2), ("undo", 0)], "something was said in between"


async def test_undos_of_two_operations_are_two_rows(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.clear()
        await stage.operations.undo()
        await stage.operations.branch(await branch_at(stage, "b"))
        await stage.operations.undo()
        assert moves(stage) == [("undo", 0), ("undo", 0)]


async def test_a_branch_that_was_undone_and_redone_is_one_row(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.branch(await branch_at(stage, "b"))
        await flip(stage, 2)
        assert moves(stage) == [("", 2)]


@pytest.mark.parametrize("detail", ["turns", "steps"])
async def test_the_tree_has_one_row_for_it_too(tmp_path: Path, detail: Detail) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a")
        await stage.operations.clear()
        await flip(stage, 3)
        rows = await told(stage, detail)
        assert rows[-1] == "clear [archive 2, archive 4, archive 6, live]"
        assert [row for row in rows if "undo" in row or "redo" in row] == []
        assert sum("archive" in row for row in rows) == 2, "all others end where the first does"
        rows = await told(stage, "records")
        assert sum("redo" in row for row in rows) == 3, "every record is there"
        assert sum("undo" in row for row in rows) == 3


async def test_branches_have_one_row_for_it_in_the_tree(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.branch(await branch_at(stage, "b"))
        once = await told(stage)
        await flip(stage, 3)
        assert await told(stage) == once


async def test_what_an_undo_was_continued_from_keeps_its_row(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a")
        await stage.operations.clear()
        await stage.operations.undo()
        await say(stage, "c")
        assert await told(stage) == ["a [archive 1, archive 2]", "undo", "c [live]"]
