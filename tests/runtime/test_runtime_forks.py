"""Acts of the session that a fork began as are not undone in the fork: their archives are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.errors import SessionError
from agent_tui.core.records import CompactionRecord, RevertRecord
from agent_tui.providers.scenario import Reply
from tests.agent.stage import Stage

LONG = "What was said at length. " * 80


def numbered(count: int) -> tuple[Reply, ...]:
    return tuple(Reply(text=f"answer {number} {LONG}") for number in range(1, count + 1))


async def test_what_was_done_before_a_fork_is_not_undone_in_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(9), compactions=(Reply(text="Summary."),)) as stage:
        for prompt in ("one", "two", "three"):
            await stage.say(prompt)
        await stage.session.compact()
        await stage.say("four")
        fork = await stage.engine.open_session(await stage.session.fork())
        with pytest.raises(SessionError, match=f"undo it there.*{stage.session.session_id}"):
            await fork.undo()
        before = list(fork.records)
        await fork.revert(fork.checkpoints()[-1].id)
        await fork.undo()
        with pytest.raises(SessionError, match="undo it there"):
            await fork.undo()  # its own archive 1 is not that of the compaction
        assert [r for r in fork.records if not isinstance(r, RevertRecord)] == before
        (made,) = (r for r in fork.records if isinstance(r, CompactionRecord))
        with pytest.raises(SessionError, match="undo it there"):
            await fork.undo_compaction(made.archive)
        await fork.close()
        await stage.session.undo_compaction(made.archive)  # where it was made it can be


async def test_what_is_done_in_a_fork_is_undone_in_it_whatever_number_its_archive_has(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *numbered(9)) as stage:
        for prompt in ("one", "two"):
            await stage.say(prompt)
        await stage.session.revert(2)
        fork = await stage.engine.open_session(await stage.session.fork())
        await fork.run_turn("other")
        here = list(fork.records)
        await fork.revert(fork.checkpoints()[-1].id)
        assert [each.number for each in await fork.archives()] == [1]
        await fork.undo()
        assert list(fork.records)[: len(here)] == here
        await fork.close()
