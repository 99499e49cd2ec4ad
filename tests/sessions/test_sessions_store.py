"""Laws of a session: what is acknowledged is on disk, and every way back in time is lossless."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import stat
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from agent_tui.core.errors import (
    LogChanged,
    SessionNotFound,
    SessionReadOnly,
    StorageError,
    UnknownArchive,
    UnknownCheckpoint,
    UsageError,
)
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    Record,
    RevertRecord,
    SystemPrompt,
    TitleRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.summary import ArchiveSummary
from agent_tui.sessions import session_summary
from agent_tui.sessions.archive import archive_numbers, archive_path
from agent_tui.sessions.replay import Entry, read_log
from agent_tui.sessions.session_summary import find_repeated
from agent_tui.sessions.store import Durability, SessionLog, SessionStore
from tests.sessions.conftest import header

D0, D1 = Durability.D0, Durability.D1


async def talk(log: SessionLog, turns: int = 3) -> None:
    await log.append(SystemPrompt("be brief"), durability=D0)
    for turn in range(turns):
        await log.append(Checkpoint(turn, turn + 1, 0), durability=D0)
        await log.append(UserMessage(f"question {turn}", "human", turn + 1), durability=D1)
        await log.append(
            AssistantMessage(f"answer {turn}", turn=turn + 1),
            UsageRecord(100 * (turn + 1)),
            durability=D0,
        )


def texts(log: SessionLog) -> list[object]:
    return [
        entry.record.content
        for entry in log.state.messages
        if isinstance(entry.record, UserMessage | AssistantMessage)
    ]


def assert_memory_is_disk(log: SessionLog) -> None:
    disk = read_log(log.path)
    assert disk.entries == log.state.entries
    assert disk.all_entries == log.state.all_entries
    assert (disk.size, disk.leaf_uuid, disk.title) == (
        log.state.size,
        log.state.leaf_uuid,
        log.state.title,
    )


async def test_what_was_written_is_read_back(store: SessionStore, log: SessionLog) -> None:
    await talk(log)
    assert_memory_is_disk(log)
    await log.close()
    again = await store.open("s1")
    assert again.read_only == ""
    assert again.state.entries == log.state.entries
    assert again.state.header == log.state.header
    assert (again.state.token_count, again.state.next_checkpoint_id) == (300, 3)
    await again.close()


async def test_each_record_hangs_off_the_one_before(log: SessionLog) -> None:
    await talk(log)
    stamps = [entry.record.stamp for entry in log.state.entries]
    assert [stamp.parent_uuid for stamp in stamps] == [None, *(s.uuid for s in stamps[:-1])]
    assert all(stamp.at and stamp.at.endswith("Z") for stamp in stamps)
    assert len({stamp.uuid for stamp in stamps}) == len(stamps)


async def test_appends_keep_the_order_in_which_they_were_asked_for(log: SessionLog) -> None:
    prompts = [UserMessage(f"m{number}") for number in range(500)]
    await asyncio.gather(*(log.append(prompt, durability=D1) for prompt in prompts))
    assert texts(log) == [f"m{number}" for number in range(500)]
    assert_memory_is_disk(log)


async def test_a_revert_keeps_a_verbatim_prefix_and_the_old_future(log: SessionLog) -> None:
    await talk(log)
    old = log.path.read_bytes()
    cut = log.state.checkpoints[1].offset
    number = await log.revert(1)
    assert number == 1
    assert archive_path(log.folder, 1).read_bytes() == old
    new = log.path.read_bytes()
    assert new.startswith(old[:cut])
    assert new.count(b"\n") == old[:cut].count(b"\n") + 1
    act = log.state.entries[-1].record
    assert isinstance(act, RevertRecord)
    assert (act.archive, act.checkpoint, act.reason) == (1, 1, "user")
    assert act.stamp.parent_uuid == log.state.entries[-2].record.stamp.uuid
    assert texts(log) == ["question 0", "answer 0"]
    assert log.state.token_count == 100
    assert_memory_is_disk(log)


async def test_an_unknown_checkpoint_changes_nothing(log: SessionLog) -> None:
    await talk(log)
    before = log.path.read_bytes()
    with pytest.raises(UnknownCheckpoint, match="no checkpoint 9"):
        await log.revert(9)
    assert log.path.read_bytes() == before
    assert archive_numbers(log.folder) == []


async def test_a_name_given_later_outlives_a_revert_and_a_clear(log: SessionLog) -> None:
    await talk(log)
    await log.append(TitleRecord("the engine"), durability=D1)
    await log.revert(1)
    assert log.state.title == "the engine"
    await log.clear()
    assert log.state.title == "the engine"
    await log.restore(1)
    assert log.state.title == "the engine"
    assert_memory_is_disk(log)


@pytest.mark.parametrize("act", ["revert", "clear", "restore"])
async def test_a_name_given_while_an_act_begins_is_not_forgotten(log: SessionLog, act: str) -> None:
    await log.append(Checkpoint(0), UserMessage("one"), durability=D1)
    await log.revert(0)

    async def rename(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        await log.append(TitleRecord(f"after {turns}"), durability=D1)

    acts: dict[str, Callable[[], Awaitable[int]]] = {
        "revert": partial(log.revert, 0),
        "clear": log.clear,
        "restore": partial(log.restore, 1),
    }
    for turns in range(12):
        await log.append(Checkpoint(0), UserMessage("two"), durability=D1)
        await asyncio.gather(acts[act](), rename(turns))
        assert log.state.title == f"after {turns}"
        assert_memory_is_disk(log)


async def test_of_two_acts_at_once_the_second_changes_nothing(log: SessionLog) -> None:
    await talk(log)
    acts: list[Callable[[], Awaitable[int]]] = [partial(log.revert, n) for n in (2, 1, 0)]
    acts.append(log.clear)
    for act in acts:
        told = await asyncio.gather(act(), log.clear(), return_exceptions=True)
        assert [type(each) for each in told] == [int, LogChanged]
        assert_memory_is_disk(log)
        await log.restore(1)


async def test_labels_and_the_model_outlive_a_revert_in_the_same_replacement(
    log: SessionLog,
) -> None:
    await talk(log)
    first, later = (log.state.messages[place].record.stamp.uuid for place in (0, -1))
    assert first
    assert later
    await log.append(LabelRecord(first, "wrong"), LabelRecord(later, "end"), durability=D1)
    await log.append(LabelRecord(first, "start"), ModelRecord("p", "m2"), durability=D1)
    await log.revert(1)
    assert_memory_is_disk(log)
    assert log.state.labels == {first: "start"}  # what "end" named is not there
    assert (log.state.provider, log.state.model) == ("p", "m2")
    await log.append(LabelRecord(first, ""), durability=D1)
    await log.restore(1)
    assert log.state.labels == {later: "end"}
    written = log.path.read_bytes().removeprefix(archive_path(log.folder, 1).read_bytes())
    assert written.count(b"\n") == 2  # the act, and the label that was taken away


async def test_a_restore_copies_the_archive_and_can_be_undone(log: SessionLog) -> None:
    await talk(log)
    old = log.path.read_bytes()
    await log.revert(1)
    shortened = log.path.read_bytes()
    number = await log.restore(1)
    assert number == 2
    assert archive_path(log.folder, 1).read_bytes() == old
    assert archive_path(log.folder, 2).read_bytes() == shortened
    assert log.path.read_bytes().startswith(old)
    assert len(texts(log)) == 6
    assert await log.restore(2, "undo") == 3
    assert texts(log) == ["question 0", "answer 0"]
    assert_memory_is_disk(log)
    with pytest.raises(UnknownArchive, match="no archive 7; this session has: 1, 2, 3"):
        await log.restore(7)


async def test_a_clear_keeps_header_and_system_prompt(log: SessionLog) -> None:
    await talk(log)
    old = log.path.read_bytes()
    first_two = b"".join(old.splitlines(keepends=True)[:2])
    assert await log.clear() == 1
    assert log.path.read_bytes().startswith(first_two)
    assert texts(log) == []
    assert log.state.system_prompt == "be brief"
    assert log.state.header is not None
    assert_memory_is_disk(log)


def last_two(log: SessionLog) -> list[Entry]:
    return log.state.messages[-2:]


async def test_a_compaction_copies_what_it_keeps_and_what_came_meanwhile(log: SessionLog) -> None:
    await talk(log)
    mark = await log.mark()
    kept = last_two(log)
    head = log.state.entries[:2]
    old = log.path.read_bytes()
    await log.append(UserMessage("meanwhile", "steer"), durability=D1)

    def build(number: int) -> list[Record | Entry]:
        summary = UserMessage("what happened so far", "compaction")
        act = CompactionRecord("manual", "last-messages", 300, 50, number)
        return [*head, summary, *kept, act]

    assert await log.compact(mark, build) == 1
    assert archive_path(log.folder, 1).read_bytes().startswith(old)
    new = log.path.read_bytes()
    for entry in (*head, *kept):
        assert old[entry.offset : entry.offset + entry.length] in new
    assert texts(log) == ["what happened so far", "question 2", "answer 2", "meanwhile"]
    assert [act.archive for act in log.state.compactions] == [1]
    assert_memory_is_disk(log)
    await log.append(UserMessage("on we go"), durability=D1)
    assert_memory_is_disk(log)


async def compact_to_the_last_turn(log: SessionLog) -> None:
    mark, kept, head = await log.mark(), last_two(log), log.state.entries[:2]

    def build(number: int) -> list[Record | Entry]:
        act = CompactionRecord("manual", "last-messages", 300, 50, number, kept=2)
        return [*head, act, UserMessage("what happened so far", "compaction"), *kept]

    await log.compact(mark, build)


async def test_the_list_tells_what_a_compacted_session_and_its_fork_began_with(
    store: SessionStore, log: SessionLog
) -> None:
    def first_prompts() -> dict[str, str]:
        return {summary.session_id: summary.first_prompt for summary in store.list()}

    await talk(log, 3)
    await compact_to_the_last_turn(log)
    fork = await log.fork(header("s2"))
    await talk(log, 2)
    await compact_to_the_last_turn(log)
    await talk(fork, 2)
    await compact_to_the_last_turn(fork)
    await fork.close()
    assert texts(log)[1] == "question 1"
    assert first_prompts() == {"s1": "question 0", "s2": "question 0"}
    archive_path(log.folder, 1).unlink()
    assert first_prompts() == {"s1": "question 2", "s2": "question 2"}


async def test_the_list_tells_what_the_last_compaction_of_a_session_left(
    store: SessionStore, log: SessionLog
) -> None:
    def amounts() -> list[tuple[int, int, int]]:
        return [(s.tokens_before, s.tokens_after, s.messages_dropped) for s in store.list()]

    await talk(log, 3)
    assert amounts() == [(0, 0, 0)]
    await compact_to_the_last_turn(log)
    record = log.state.compactions[-1]
    assert amounts() == [(record.pre_tokens, record.post_tokens, record.dropped)]
    assert record.pre_tokens


@pytest.mark.parametrize("change", ["revert", "edit"])
async def test_a_compaction_of_other_bytes_changes_nothing(log: SessionLog, change: str) -> None:
    await talk(log)
    mark = await log.mark()
    if change == "revert":
        await log.revert(1)
        await talk(log, 9)
    else:
        with log.path.open("r+b") as file:
            file.seek(mark.size // 2)
            file.write(b"#")
    before = log.path.read_bytes()
    with pytest.raises(LogChanged):
        await log.compact(mark, lambda number: [UserMessage("short")])
    assert log.path.read_bytes() == before


async def test_a_failing_compaction_leaves_no_trace(log: SessionLog) -> None:
    await talk(log)
    before = sorted(log.folder.iterdir()), log.path.read_bytes()

    def fail(number: int) -> list[Record | Entry]:
        raise ValueError("the summary was empty")

    with pytest.raises(ValueError, match="empty"):
        await log.compact(await log.mark(), fail)
    assert (sorted(log.folder.iterdir()), log.path.read_bytes()) == before


async def test_a_head_moves_the_leaf_and_the_other_branch_stays(log: SessionLog) -> None:
    await talk(log, 2)
    target = log.state.messages[1].record.stamp.uuid
    assert target
    await log.append(HeadRecord(target), durability=D1)
    [branch] = await log.append(UserMessage("another way"), durability=D1)
    assert branch.stamp.parent_uuid == target
    assert texts(log) == ["question 0", "answer 0", "another way"]
    assert len(log.state.all_entries) == 12
    assert_memory_is_disk(log)


async def test_files_are_for_their_owner_only_under_any_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    store = SessionStore(tmp_path / "data")
    try:
        log = await store.create(header())
        await talk(log)
        await log.revert(1)
        os.umask(0o777)
        await log.revert(0)
    finally:
        os.umask(old)
    for place in [tmp_path / "data", *(tmp_path / "data").rglob("*")]:
        mode = stat.S_IMODE(place.lstat().st_mode)
        assert mode == (0o700 if place.is_dir() else 0o600), place
    await log.close()
    await store.aclose()


async def test_what_others_could_read_is_closed_and_reported(
    store: SessionStore, log: SessionLog
) -> None:
    await talk(log)
    await log.close()
    log.path.chmod(0o644)
    log.folder.chmod(0o755)
    again = await store.open("s1")
    assert len(again.notices) == 2
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.folder.stat().st_mode) == 0o700
    await again.close()


async def test_a_second_window_reads_follows_and_cannot_write(
    store: SessionStore, log: SessionLog
) -> None:
    await talk(log)
    second = await store.open("s1")
    told = rf"open in another window \(pid {os.getpid()}, since \d{{4}}-\d\d-\d\d \d\d:\d\d\)"
    assert second.read_only == "it is open in another window"
    with pytest.raises(SessionReadOnly, match=told):
        await second.append(UserMessage("no"), durability=D1)
    assert not await second.reload()
    await log.append(UserMessage("more"), durability=D1)
    assert await second.reload()
    assert second.state.entries == log.state.entries
    await log.revert(1)
    assert await second.reload()
    assert second.state.entries == log.state.entries
    await second.close()
    await log.close()
    third = await store.open("s1")
    assert third.read_only == ""
    await third.close()


async def test_following_twice_at_once_brings_each_line_once(
    store: SessionStore, log: SessionLog
) -> None:
    second = await store.open("s1")
    for act in (partial(talk, log), log.clear, partial(talk, log, 1)):
        await act()
        assert all(await asyncio.gather(*(second.reload() for _ in range(3))))
        assert_memory_is_disk(second)
    assert not await second.reload()
    await second.close()


async def test_a_cancelled_append_is_settled_before_the_cancellation_goes_on(
    log: SessionLog,
) -> None:
    for number in range(200):
        task = asyncio.create_task(log.append(UserMessage(f"m{number}"), durability=D0))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert texts(log)[-1] == f"m{number}"
    assert_memory_is_disk(log)


async def test_a_name_in_the_middle_of_a_long_log_is_still_listed(
    store: SessionStore, log: SessionLog
) -> None:
    await log.append(UserMessage("x" * 20_000), TitleRecord("the engine"), durability=D0)
    for _ in range(20):
        await log.append(UserMessage("y" * 5_000), durability=D0)
    await log.close()
    assert [summary.title for summary in store.list()] == ["the engine"]
    size = log.path.stat().st_size
    again = await store.open("s1")
    await again.close()
    assert log.path.stat().st_size == size


async def test_a_session_is_listed_deleted_and_brought_back(store: SessionStore) -> None:
    first = await store.create(header("a1"))
    await talk(first, 1)
    second = await store.create(header("b2", "/home/ada/poems"))
    await second.append(TitleRecord("verses"), durability=D1)
    assert {(summary.session_id, summary.title, summary.cwd) for summary in store.list()} == {
        ("a1", "question 0", "/home/ada/engine"),
        ("b2", "verses", "/home/ada/poems"),
    }
    await first.close()
    await second.close()
    place = await store.delete("a1")
    assert [summary.session_id for summary in store.list()] == ["b2"]
    with pytest.raises(SessionNotFound, match="a1"):
        await store.open("a1")
    await store.undelete(place)
    again = await store.open("a1")
    assert texts(again) == ["question 0", "answer 0"]
    await again.close()


async def test_a_session_is_discarded_only_if_nothing_was_ever_said(store: SessionStore) -> None:
    quiet = await store.create(header("quiet"))
    await quiet.close()
    left = await store.create(header("left"))
    await talk(left, 1)
    root = left.state.all_entries[0].record.stamp.uuid
    assert root is not None
    await left.append(HeadRecord(root), durability=D1)
    assert not left.state.messages  # they are on a branch that was left
    await left.close()
    damaged = await store.create(header("damaged"))
    await damaged.close()
    damaged.path.write_bytes(damaged.path.read_bytes() + b"what was this?\n")
    for session_id in ("quiet", "left", "damaged"):
        await store.discard(session_id)
    assert {summary.session_id for summary in store.list()} == {"left", "damaged"}
    with pytest.raises(SessionNotFound):
        store.place_of_deleted("quiet")


async def test_a_deleted_session_is_not_taken_for_one_with_a_longer_id(
    store: SessionStore,
) -> None:
    for session_id in ("a", "a-2"):
        await (await store.create(header(session_id))).close()
    place = await store.delete("a-2")
    with pytest.raises(SessionNotFound):
        store.place_of_deleted("a")
    assert store.place_of_deleted("a-2") == place


@pytest.mark.parametrize("bad", ["../../etc", "", ".hidden", "a" * 65, "a/b"])
async def test_a_session_id_is_never_a_path(store: SessionStore, bad: str) -> None:
    with pytest.raises(UsageError):
        await store.create(header(bad))
    with pytest.raises(SessionNotFound):
        await store.open(bad)


async def test_a_session_that_exists_is_never_overwritten(
    store: SessionStore, log: SessionLog
) -> None:
    await talk(log)
    before = log.path.read_bytes()
    with pytest.raises(StorageError, match="already"):
        await store.create(header())
    assert log.path.read_bytes() == before


async def test_archives_tell_why_and_are_pruned_but_for_the_newest(log: SessionLog) -> None:
    await talk(log)
    await log.revert(2)
    await log.clear()
    await log.restore(1, "undo")
    summaries = log.archives()
    assert [(g.number, g.reason, g.messages) for g in summaries] == [
        (1, "user", 6),
        (2, "clear", 4),
        (3, "undo", 0),
    ]
    with pytest.raises(UsageError, match="newest"):
        await log.prune(0)
    assert await log.prune(1) == [1, 2]
    assert archive_numbers(log.folder) == [3]
    await log.revert(1)
    assert archive_numbers(log.folder) == [3, 4]


async def test_archives_tell_how_much_of_them_the_live_log_holds_no_more(log: SessionLog) -> None:
    await talk(log)
    await log.revert(2)
    assert [each.gone for each in log.archives()] == [2]
    await log.clear()
    assert [each.gone for each in log.archives()] == [6, 4]
    await log.restore(1, "undo")
    assert [each.gone for each in log.archives()] == [0, 0, 0]


@pytest.mark.parametrize("small", [1 << 20, 0])
async def test_archives_tell_what_was_asked_and_reverted_in_a_big_log_too(
    log: SessionLog, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_summary, "_SMALL_LOG", small)
    await talk(log)
    await log.append(Checkpoint(3), AssistantMessage("later"), durability=Durability.D1)
    await log.revert(3)
    await log.revert(2)
    await log.revert(1)
    told = [(each.prompt, each.is_part) for each in log.archives()]
    assert told == [("question 2", True), ("question 2", False), ("question 1", False)]


async def test_archives_tell_which_other_holds_all_that_an_undo_left(log: SessionLog) -> None:
    await talk(log)
    await log.revert(2)
    await log.restore(1, "undo")
    await log.restore(2, "redo")
    await log.append(UserMessage("after the redo"), durability=Durability.D1)
    await log.restore(3, "undo")
    await log.clear()
    told = [(each.number, each.reason, each.within) for each in log.archives()]
    assert told == [(1, "user", 0), (2, "undo", 1), (3, "redo", 1), (4, "undo", 0), (5, "clear", 0)]
    await log.prune(4)
    assert [each.within for each in log.archives()] == [0] * 4, "archive 1 went"


async def test_an_archive_in_which_nothing_was_said_repeats_no_other(log: SessionLog) -> None:
    await log.append(Checkpoint(0), durability=Durability.D1)
    await log.clear()
    await log.restore(1, "undo")
    assert [(each.reason, each.within) for each in log.archives()] == [("clear", 0), ("undo", 0)]


class _Id(str):
    """An id that counts how often ids are compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _Id.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize("kind", ["an end of its own", "lacks one"])
def test_what_archives_repeat_is_found_in_linear_time(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Id, "compared", 0)
    count, messages = 150, 200
    archives, said = [], {}
    for n in range(1, count + 1):
        archives.append(ArchiveSummary(n, "", "undo", "", 1, messages, 0))
        ids = {_Id(f"id {place}") for place in range(messages)}
        said[n] = frozenset(ids - {f"id {n}"} | ({_Id(f"own {n}")} if "own" in kind else set()))
    archives.append(ArchiveSummary(count + 1, "", "undo", "", 1, 2, 0))
    said[count + 1] = frozenset({_Id("id 1"), _Id("id 3")})
    _Id.compared = 0
    found = find_repeated(archives, said)
    assert [each.within for each in found] == [0] * count + [2], "the first that holds both"
    assert _Id.compared < 15 * count * messages


def copied(folder: Path, to: Path) -> Path:
    """A session's folder, copied by hand."""
    shutil.copytree(folder, to)
    return to


async def test_a_copy_under_another_name_is_a_session_of_its_own(
    store: SessionStore, log: SessionLog
) -> None:
    await talk(log)
    copied(log.folder, log.folder.with_name("s1-copy"))
    assert sorted(summary.session_id for summary in store.list()) == ["s1", "s1-copy"]
    copy = await store.open("s1-copy")
    await copy.append(UserMessage("only here"), durability=D1)
    assert texts(copy)[:-1] == texts(log)
    await copy.close()


async def test_kin_are_the_sessions_that_their_ids_open(
    store: SessionStore, log: SessionLog
) -> None:
    fork = await log.fork(header("s2"))
    await fork.close()
    for folder in (log.folder, fork.folder):
        copied(folder, store.projects / "-later" / folder.name)
    assert (
        store.related_sessions("s2")
        == [store.find("s1"), store.find("s2")]
        == [log.folder, fork.folder]
    )


@pytest.mark.parametrize("place", ["-home-ada-poems/s1", "-home-ada-engine/s1 (copy)"])
async def test_a_copy_that_its_id_does_not_open_says_what_does(
    store: SessionStore, log: SessionLog, place: str
) -> None:
    await talk(log)
    copy = copied(log.folder, store.projects / place)
    titles = {summary.folder: summary.title for summary in store.list()}
    assert titles == {
        str(log.folder): "question 0",
        str(copy): f"agent-tui open {copy} reads this copy: question 0",
    }
    assert store.find("s1") == log.folder


@pytest.mark.parametrize("error", [PermissionError, NotADirectoryError])
@pytest.mark.parametrize("place", ["a project", "a session"])
async def test_what_cannot_be_read_hides_no_other_session(
    store: SessionStore,
    log: SessionLog,
    monkeypatch: pytest.MonkeyPatch,
    error: type[OSError],
    place: str,
) -> None:
    await talk(log)
    closed = await store.create(header("s2", "/home/ada/poems"))
    await closed.close()
    shut = closed.folder.parent if place == "a project" else closed.folder

    def refuse(name: str) -> None:
        real = getattr(os, name)

        def call(path: object, *more: object, **names: object) -> object:
            inside = str(path).startswith(f"{shut}/")
            if inside or (name == "scandir" and str(path) == str(shut)):
                number = errno.EACCES if error is PermissionError else errno.ENOTDIR
                raise error(number, os.strerror(number), str(path))
            return real(path, *more, **names)

        monkeypatch.setattr(os, name, call)

    for name in ("scandir", "lstat", "open", "listdir"):
        refuse(name)
    readable, *others = sorted(store.list(), key=lambda summary: summary.title)
    assert (readable.session_id, readable.title) == ("s1", "question 0")
    assert store.find("s1") == log.folder
    if place == "a session" and error is NotADirectoryError:
        assert others == []  # then it is no session
        return
    (other,) = others
    assert (other.folder, other.title.partition(":")[0]) == (str(shut), "unreadable")
    with pytest.raises(SessionReadOnly if error is PermissionError else StorageError):
        await store.open("s2")


async def test_a_data_folder_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "projects").write_text("this is no folder")
    store = SessionStore(tmp_path)
    with pytest.raises(StorageError, match="Not a directory"):
        store.list()
    await store.aclose()


async def test_nobody_waits_for_what_is_asked_of_a_closed_store(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    log = await store.create(header())
    await store.aclose()
    for _ in range(2):
        late = log.append(UserMessage("late"), durability=Durability.D0)
        with pytest.raises(RuntimeError):
            await asyncio.wait_for(late, 5)
    with pytest.raises(RuntimeError):
        await asyncio.wait_for(log.close(), 5)
    store = SessionStore(tmp_path)
    again = await store.open("s1")
    assert not again.read_only
    await again.close()
    await store.aclose()
