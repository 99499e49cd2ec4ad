"""Laws of forks: a number in a log means one archive, wherever that is, and for ever."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from agent_tui.core.errors import UnknownArchive
from agent_tui.core.records import (
    Checkpoint,
    CompactionRecord,
    RevertRecord,
    SessionHeader,
    UserMessage,
)
from agent_tui.sessions.archive import archive_numbers, archive_path
from agent_tui.sessions.lineage import bequeathed_archives, holder_of, inherited_archives
from agent_tui.sessions.replay import read_log
from agent_tui.sessions.store import Durability, SessionLog, SessionStore
from tests.sessions.conftest import fork_at, header

D1 = Durability.D1


def prompts(log: SessionLog) -> list[object]:
    return [e.record.content for e in log.state.messages if isinstance(e.record, UserMessage)]


def named(log: SessionLog) -> list[int]:
    """The archives that a log names, in its order."""
    acts = (entry.record for entry in log.state.all_entries)
    return [act.archive for act in acts if isinstance(act, RevertRecord | CompactionRecord)]


def heirs(**archives: object) -> SessionHeader:
    return replace(header("s9"), parent={"session_id": "s1", "archives": archives})


async def say(log: SessionLog, *texts: str) -> None:
    for text in texts:
        checkpoint = Checkpoint(log.state.next_checkpoint_id)
        await log.append(checkpoint, UserMessage(text, "human"), durability=D1)


async def take_back(log: SessionLog) -> int:
    """Go back to before what was said last."""
    return await log.revert(max(log.state.checkpoints))


async def reverted(log: SessionLog) -> None:
    """``one`` was said; ``two`` was taken back, into archive 1, and then ``three``, into 2."""
    await say(log, "one", "two")
    await take_back(log)
    await say(log, "three")
    await take_back(log)
    assert (named(log), archive_numbers(log.folder)) == ([1, 2], [1, 2])


async def test_the_archives_of_a_fork_begin_above_every_number_that_its_log_names(
    log: SessionLog,
) -> None:
    await reverted(log)
    fork = await log.fork(header("s2"))
    assert fork.state.header
    assert inherited_archives(fork.state.header) == {"s1": 2}
    await say(fork, "four")
    assert await take_back(fork) == 3
    await fork.revert(0)
    assert named(fork) == [4]
    assert archive_numbers(fork.folder) == [3, 4]
    assert await fork.prune(1) == [3]
    assert await fork.clear() == 5
    await fork.close()


async def test_an_inherited_number_means_the_archive_of_the_parent(log: SessionLog) -> None:
    await reverted(log)
    fork = await log.fork(header("s2"))
    assert [fork.archive_file(n) for n in (1, 2)] == [archive_path(log.folder, n) for n in (1, 2)]
    assert fork.read_archive(2).entries == log.read_archive(2).entries
    await say(fork, "four")
    await take_back(fork)
    assert fork.archive_file(3) == archive_path(fork.folder, 3)
    with pytest.raises(UnknownArchive, match="no archive 4; this session has: 3"):
        fork.archive_file(4)
    await fork.close()


async def test_the_log_before_an_inherited_act_comes_back_as_the_forks_own(
    store: SessionStore, log: SessionLog
) -> None:
    await reverted(log)
    fork = await log.fork(header("s2"))
    await say(fork, "four")
    theirs = {path: path.read_bytes() for path in log.folder.iterdir()}
    before = fork.path.read_bytes()
    own_header = before.partition(b"\n")[0]
    assert await fork.restore(2, "undo") == 3
    assert prompts(fork) == ["one", "three"]
    behind_header = archive_path(log.folder, 2).read_bytes().partition(b"\n")[2]
    assert fork.path.read_bytes().startswith(own_header + b"\n" + behind_header)
    assert named(fork) == [1, 3]
    assert archive_path(fork.folder, 3).read_bytes() == before
    assert {path: path.read_bytes() for path in log.folder.iterdir()} == theirs
    disk = read_log(fork.path)
    assert (disk.all_entries, disk.size) == (fork.state.all_entries, fork.state.size)
    assert [folder.name for folder in store.related_sessions("s1")] == ["s1", "s2"]
    assert await fork.restore(1, "undo") == 4  # and one further back
    assert prompts(fork) == ["one", "two"]
    assert await fork.restore(3) == 5
    assert prompts(fork) == ["one", "four"]
    await fork.close()


async def test_damage_and_a_torn_end_of_an_inherited_archive_stay_in_their_places(
    log: SessionLog,
) -> None:
    await reverted(log)
    fork = await log.fork(header("s2"))
    archive = archive_path(log.folder, 1)
    first, rest = archive.read_bytes().split(b"\n", 1)
    archive.write_bytes(first + b"\n\n\xff damage\n" + rest + b'{"role":"user","content":"to')
    await fork.restore(1)
    disk = read_log(fork.path)
    assert (disk.all_entries, disk.size) == (fork.state.all_entries, fork.state.size)
    places = [damage.offset for damage in disk.damaged]
    assert places == [damage.offset for damage in fork.state.damaged]
    assert len(places) == 2
    assert prompts(fork) == ["one", "two"]
    await fork.close()


async def test_a_fork_of_a_fork_finds_each_archive_whoever_is_gone_between(
    store: SessionStore, log: SessionLog
) -> None:
    await reverted(log)
    child = await log.fork(header("s2"))
    await say(child, "four")
    await take_back(child)
    grandchild = await child.fork(header("s3"))
    assert inherited_archives(grandchild.state.header) == {"s1": 2, "s2": 3}
    assert grandchild.archive_file(3) == archive_path(child.folder, 3)
    await child.close()
    place = await store.delete("s2")
    assert grandchild.archive_file(1) == archive_path(log.folder, 1)
    with pytest.raises(UnknownArchive, match="forked from s2, whose archive 3 no longer exists"):
        await grandchild.restore(3)
    await store.undelete(place)
    await grandchild.restore(3)
    assert prompts(grandchild) == ["one", "four"]
    assert archive_numbers(grandchild.folder) == [4]
    await grandchild.close()


async def test_a_number_never_comes_to_mean_another_archive(log: SessionLog) -> None:
    await reverted(log)
    fork = await log.fork(header("s2"))
    for session, text in ((fork, "in the fork"), (log, "in the parent")):
        await say(session, text, text)
        assert await take_back(session) == 3
        assert await take_back(session) == 4
    await fork.prune(1)
    assert await log.prune(2) == [1, 2]
    with pytest.raises(UnknownArchive, match="no archive 3; this session has: 4"):
        fork.archive_file(3)
    with pytest.raises(UnknownArchive, match="forked from s1, whose archive 2 no longer exists"):
        fork.archive_file(2)
    assert fork.read_archive(4).entries != log.read_archive(4).entries
    await fork.close()


async def test_a_branch_that_names_fewer_archives_inherits_what_its_source_inherited(
    store: SessionStore, log: SessionLog
) -> None:
    await reverted(log)
    fork = await log.fork(header("s2"))
    early = fork.state.messages[0]
    other = await fork_at(store, fork, early, "s3")
    assert named(other) == []
    assert await take_back(other) == 3
    for session in (fork, other):
        await session.close()


async def test_a_clean_copy_finds_the_archives_of_the_original(
    store: SessionStore, log: SessionLog
) -> None:
    await reverted(log)
    await store.repair(log.folder, "s1-clean")
    copy = await store.open("s1-clean")
    assert copy.archive_file(2) == archive_path(log.folder, 2)
    assert await take_back(copy) == 3
    await copy.restore(1)
    assert prompts(copy) == ["one", "two"]
    await copy.close()


async def test_archives_removed_by_hand_leave_their_numbers_taken(log: SessionLog) -> None:
    await reverted(log)
    archive_path(log.folder, 2).unlink()
    assert await take_back(log) == 3


async def test_a_number_out_of_reason_uses_none_up(log: SessionLog) -> None:
    await say(log, "one")
    await log.append(RevertRecord(2**62, "user"), durability=D1)
    await log.reload()
    assert await take_back(log) == 1


async def test_a_fork_whose_parent_is_out_of_sight_is_an_heir_all_the_same(
    store: SessionStore, log: SessionLog
) -> None:
    await reverted(log)
    fork = await log.fork(header("s2"))
    await log.close()
    shutil.rmtree(log.folder)
    with pytest.raises(UnknownArchive, match="forked from s1, whose archive 1 no longer exists"):
        fork.read_archive(1)
    assert await take_back(fork) == 3
    await fork.close()


def test_what_is_inherited_goes_to_the_nearest_session_that_has_it() -> None:
    known = heirs(s2=5, s1=2)
    assert [holder_of(known, number) for number in (1, 2, 3, 5, 6)] == ["s1", "s1", "s2", "s2", ""]
    assert bequeathed_archives(known, "s9", [RevertRecord(7, "user")]) == {
        "s1": 2,
        "s2": 5,
        "s9": 7,
    }
    assert bequeathed_archives(known, "s9", [RevertRecord(4, "user")]) == {"s1": 2, "s2": 5}


@pytest.mark.parametrize("archives", [None, 7, ["s1", 2], {"s1": "2"}, {"s1": True}, {"s1": -1}])
def test_a_damaged_lineage_inherits_nothing(archives: object) -> None:
    odd = replace(header(), parent={"archives": archives})
    assert inherited_archives(odd) == {}
    assert holder_of(odd, 1) == ""
