"""Laws of the two protocols on folders that crashes, full disks and failing disks left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.errors import SessionBusy, SessionNotFound, SessionReadOnly, StorageError
from agent_tui.core.records import Checkpoint, UserMessage
from agent_tui.sessions import lock
from agent_tui.sessions.archive import archive_numbers, archive_path, finished_archives
from agent_tui.sessions.lock import Ownership, read_holder
from agent_tui.sessions.log import Durability, LogFile, OpenLog, Piece, Span, create_log
from agent_tui.sessions.replay import read_log
from agent_tui.sessions.store import SessionLog
from tests.sessions.recovery import bring_back

D0, D1 = Durability.D0, Durability.D1
ONE, TWO = b'{"role":"user","content":"one"}\n', b'{"role":"user","content":"two"}\n'


@pytest.fixture
def file(tmp_path: Path) -> LogFile:
    create_log(tmp_path, [ONE])
    return LogFile(tmp_path, lock_timeout_seconds=0.1)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def keep_all_and_add(line: bytes) -> Callable[[OpenLog, int], list[Piece]]:
    return lambda log, number: [Span(log[0], 0, log[1]), line]


def fail_with(code: int) -> Callable[..., Any]:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def test_an_unfinished_last_line_is_finished_by_the_next_append(file: LogFile) -> None:
    with file.path.open("ab") as log:
        log.write(b'{"torn')
    file.append(TWO, D0)
    assert file.path.read_bytes() == ONE + b'{"torn\n' + TWO


def test_a_crash_before_the_commit_leaves_the_old_log_and_no_phantom(file: LogFile) -> None:
    os.link(file.path, archive_path(file.folder, 1))
    file.temporary.write_bytes(TWO)
    assert finished_archives(file.folder) == []
    LogFile(file.folder).append(TWO, D1)
    assert names(file.folder) == ["context.jsonl"]
    assert file.path.read_bytes() == ONE + TWO


def test_recovery_can_be_repeated_and_keeps_real_archives(file: LogFile) -> None:
    file.replace(keep_all_and_add(TWO))
    os.link(file.path, archive_path(file.folder, 2))
    for _ in range(2):
        bring_back(file)
        assert names(file.folder) == ["context.jsonl", "context.jsonl.1"]
    assert archive_path(file.folder, 1).read_bytes() == ONE


def test_without_hard_links_the_archive_is_a_copy(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", fail_with(errno.EPERM))
    assert file.replace(keep_all_and_add(TWO)) == 1
    assert archive_path(file.folder, 1).read_bytes() == ONE
    assert file.path.read_bytes() == ONE + TWO
    assert names(file.folder) == ["context.jsonl", "context.jsonl.1"]


@pytest.mark.parametrize("last", [".part", ".2", ".jsonl"])
def test_without_hard_links_a_crash_before_the_commit_leaves_no_phantom(
    file: LogFile, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    def die_at(source: Path, target: Path) -> None:
        if target.suffix == last or (last == ".part" and source.suffix == last):
            monkeypatch.setattr(os, "unlink", fail_with(errno.EIO))
            raise KeyboardInterrupt
        rename(source, target)

    file.replace(keep_all_and_add(TWO))
    rename = os.rename
    with monkeypatch.context() as broken:
        broken.setattr(os, "link", fail_with(errno.EPERM))
        broken.setattr(os, "rename", die_at)
        with pytest.raises(KeyboardInterrupt):
            file.replace(keep_all_and_add(TWO))
    monkeypatch.undo()
    assert "context.jsonl.2.tmp" in names(file.folder)
    assert finished_archives(file.folder) == [1]
    file.append(TWO, D1)
    bring_back(LogFile(file.folder))
    assert names(file.folder) == ["context.jsonl", "context.jsonl.1"]
    assert file.path.read_bytes() == ONE + TWO + TWO


def test_an_archive_that_equals_the_live_log_is_still_an_archive(file: LogFile) -> None:
    file.replace(keep_all_and_add(TWO))
    file.path.write_bytes(archive_path(file.folder, 1).read_bytes())
    file.temporary.write_bytes(b"new")
    LogFile(file.folder).append(TWO, D1)
    assert archive_path(file.folder, 1).read_bytes() == ONE


def test_a_name_that_a_dead_process_gave_is_flushed_before_it_is_relied_on(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    fsync = os.fsync

    def watch(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    above = LogFile(file.folder, above=[file.folder.parent])
    above.append(TWO, D0)
    assert flushed == []
    above.append(TWO, D1)
    folders = [file.folder.stat().st_ino, file.folder.parent.stat().st_ino]
    assert flushed == [*folders, file.path.stat().st_ino]
    above.append(TWO, D1)
    assert flushed[3:] == [file.path.stat().st_ino]


def test_numbers_grow_past_gaps_and_strange_names(file: LogFile) -> None:
    for name in ("7", "07", "x", "9.parts", "1e3"):
        (file.folder / f"context.jsonl.{name}").write_bytes(b"{}")
    assert file.replace(keep_all_and_add(TWO)) == 8
    assert archive_numbers(file.folder) == [7, 8]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize("call", ["write", "open", "fsync", "link", "rename", "fstat"])
def test_what_raises_changes_nothing_and_work_resumes(
    file: LogFile, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    for act in (lambda: file.append(TWO, D1), lambda: file.replace(keep_all_and_add(TWO))):
        before, archives = file.path.read_bytes(), archive_numbers(file.folder)
        failed = None
        with monkeypatch.context() as broken:
            broken.setattr(os, call, fail_with(code))
            try:
                act()
            except StorageError as error:
                failed = error
        if failed is not None:
            assert "Nothing was changed" in str(failed)
            assert file.path.read_bytes() == before
            bring_back(file)
            assert archive_numbers(file.folder) == archives
    file.append(TWO, D1)
    assert file.path.read_bytes().endswith(TWO)
    assert not file.temporary.exists()


def test_a_file_whose_flush_failed_is_never_flushed_again(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = file.path.stat().st_ino
    flushed: list[int] = []
    fsync = os.fsync

    def watch(descriptor: int) -> None:
        inode = os.fstat(descriptor).st_ino
        flushed.append(inode)
        if inode == bad and flushed.count(bad) == 1:
            raise OSError(errno.EIO, "I/O error")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    with pytest.raises(StorageError):
        file.append(TWO, D1)
    assert file.path.read_bytes() == ONE
    file.append(TWO, D1)
    assert file.path.read_bytes() == ONE + TWO
    assert file.path.stat().st_ino != bad
    assert flushed.count(bad) == 1
    assert file.replace(keep_all_and_add(ONE)) == 1


def test_a_disk_that_takes_no_new_copy_either_makes_the_session_read_only(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.append(TWO, D1)
    monkeypatch.setattr(os, "fsync", fail_with(errno.EIO))
    with pytest.raises(StorageError):
        file.append(TWO, D1)
    with pytest.raises(SessionReadOnly, match="Export the session"):
        file.append(TWO, D1)
    assert (file.path.read_bytes(), names(file.folder)) == (ONE + TWO, ["context.jsonl"])


def test_an_unconfirmed_commit_says_that_it_was_made(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def rename_then_fail(source: Path, target: Path) -> None:
        rename(source, target)
        monkeypatch.setattr(os, "fsync", fail_with(errno.EIO))

    monkeypatch.setattr(os, "rename", rename_then_fail)
    with pytest.raises(StorageError, match="was made, but"):
        file.replace(keep_all_and_add(TWO))
    assert file.path.read_bytes() == ONE + TWO
    assert archive_path(file.folder, 1).read_bytes() == ONE


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_regular_file_is_written(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "context.jsonl", tmp_path / "other"
    other.write_bytes(ONE)
    if kind == "link":
        path.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    file = LogFile(tmp_path)
    for act in (lambda: file.append(TWO, D0), lambda: file.replace(keep_all_and_add(TWO))):
        with pytest.raises(StorageError):
            act()
    assert other.read_bytes() == ONE


def test_a_session_whose_folder_is_gone_says_so(file: LogFile) -> None:
    for path in file.folder.iterdir():
        path.unlink()
    with pytest.raises(SessionNotFound, match="no such file or folder"):
        file.append(TWO, D1)


def test_a_holder_that_is_stopped_means_busy_never_a_steal(file: LogFile) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, os, sys, time\n"
            f"fd = os.open({str(file.lock.path)!r}, os.O_RDWR | os.O_CREAT)\n"
            "fcntl.flock(fd, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(SessionBusy, match=r"has been for 0\.1 s"):
            file.append(TWO, D0)
    finally:
        holder.kill()
        holder.communicate()
    file.append(TWO, D0)
    assert file.path.read_bytes() == ONE + TWO


async def test_memory_follows_a_disk_that_another_program_wrote(log: SessionLog) -> None:
    with log.path.open("ab") as foreign:
        foreign.write(ONE)
    await log.append(UserMessage("mine"), durability=D1)
    assert [e.record.content for e in log.state.messages if isinstance(e.record, UserMessage)] == [
        "one",
        "mine",
    ]
    assert log.state.entries == read_log(log.path).entries


async def test_memory_follows_a_disk_that_could_not_be_cut_back(
    log: SessionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await log.append(UserMessage("first"), durability=D1)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail_with(errno.EIO))
        broken.setattr(os, "ftruncate", fail_with(errno.EIO))
        with pytest.raises(StorageError):
            await log.append(UserMessage("there"), durability=D1)
    assert log.state.entries == read_log(log.path).entries
    assert len(log.state.messages) == 2
    await log.append(UserMessage("again"), durability=D1)
    assert log.state.entries == read_log(log.path).entries


async def test_a_failed_revert_leaves_memory_and_disk_as_they_were(
    log: SessionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await log.append(Checkpoint(0), UserMessage("one"), durability=D1)
    before = log.path.read_bytes(), log.state
    with monkeypatch.context() as broken:
        broken.setattr(os, "link", fail_with(errno.ENOSPC))
        with pytest.raises(StorageError, match="disk is full"):
            await log.revert(0)
    assert (log.path.read_bytes(), log.state) == before
    assert await log.revert(0) == 1


async def test_a_folder_that_cannot_be_written_any_more_shows_it(
    log: SessionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", fail_with(errno.EROFS))
        with pytest.raises(SessionReadOnly):
            await log.append(UserMessage("one"), durability=D1)
    assert "Check its permissions" in log.read_only
    with pytest.raises(SessionReadOnly, match=r"This session cannot be written: .*[a-z]\.$"):
        await log.append(UserMessage("two"), durability=D1)
    await log.reload()
    assert log.read_only == ""
    await log.append(UserMessage("two"), durability=D1)


def test_a_descriptor_of_a_lock_never_reaches_a_child(file: LogFile) -> None:
    file.append(TWO, D0)
    assert not os.get_inheritable(file.lock._descriptor)
    assert fcntl.fcntl(file.lock._descriptor, fcntl.F_GETFD) & fcntl.FD_CLOEXEC


@pytest.mark.parametrize("call", ["ftruncate", "pwrite"])
def test_a_claim_holds_although_it_cannot_be_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    first, second = Ownership(tmp_path), Ownership(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail_with(errno.EIO))
        assert first.claim("now")
    assert not second.claim("now")
    first.give_up()
    assert second.claim("now")
    assert read_holder(tmp_path) == f" (pid {os.getpid()}, since now)"
    second.give_up()


def test_a_look_whether_a_session_is_free_does_not_keep_a_window_from_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks holds the lock for a moment, because flock knows no other way to ask."""
    answers = iter([False, False])
    take = lock.try_lock
    monkeypatch.setattr(lock, "try_lock", lambda fd: next(answers, True) and take(fd))
    ownership = Ownership(tmp_path)
    assert ownership.claim("now")
    assert list(answers) == []
    ownership.give_up()
