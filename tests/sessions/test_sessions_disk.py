"""Laws of what the store asks of a file system, on systems that this is not run on too."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.errors import StorageError
from agent_tui.sessions.disk import create_file, sync_folder, translate_os_error
from agent_tui.sessions.log import Durability, LogFile, create_log

_FULL = 51  # what macOS calls F_FULLFSYNC


@pytest.fixture
def flushes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is flushed, and how, on a system with F_FULLFSYNC."""
    seen: list[str] = []

    def note(how: str, descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        seen.append(f"{how} {kind}")

    def full_sync(descriptor: int, command: int, *_: Any) -> None:
        assert command == _FULL
        note("full", descriptor)

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", _FULL, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", full_sync)
    monkeypatch.setattr(os, "fsync", lambda descriptor: note("fsync", descriptor))
    return seen


def test_files_and_names_are_flushed_through_the_cache_of_the_drive(
    tmp_path: Path, flushes: list[str]
) -> None:
    create_log(tmp_path, [b"{}\n"])
    LogFile(tmp_path).append(b"{}\n", Durability.D1)
    assert flushes == ["full file", "full folder", "full folder", "full file"]


def test_a_file_system_without_a_full_flush_is_flushed_as_far_as_it_goes(
    tmp_path: Path, flushes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    code = errno.ENOTSUP
    sync_folder(tmp_path)
    assert flushes == ["fsync folder"]
    code = errno.EIO
    with pytest.raises(OSError, match="Input/output"):
        sync_folder(tmp_path)
    assert flushes == ["fsync folder"], "a flush that failed is not tried another way"


def test_a_file_that_cannot_be_made_private_is_not_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    def refuse(descriptor: int, _mode: int) -> None:
        opened.append(descriptor)
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(PermissionError):
        create_file(tmp_path / "log")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_a_full_disk_gets_no_cut_module_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    error = translate_os_error("write", Path("log"), OSError(errno.ENOSPC, "No space left"))
    assert isinstance(error, StorageError)
    assert sys.dont_write_bytecode


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.EACCES, "Permission denied. Nothing was changed. Check its permissions."),
        (errno.EROFS, "Read-only file system. Nothing was changed. Check its permissions."),
        (
            errno.ENOSPC,
            "the disk is full (No space left on device). Nothing was changed. "
            "Free some space, then try again.",
        ),
        (errno.ENOENT, "no such file or folder."),
        (errno.EIO, "Input/output error. Nothing was changed. Try again."),
    ],
)
def test_what_the_system_refused_is_one_sentence_with_what_to_do(
    code: int, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    error = translate_os_error("write", Path("log"), OSError(code, os.strerror(code)))
    assert str(error) == f"Cannot write log: {sentence}"


@pytest.mark.parametrize("verb", ["read", "list the archives of"])
def test_what_only_reads_denies_no_change(verb: str) -> None:
    error = translate_os_error(verb, Path("log"), OSError(errno.EIO, os.strerror(errno.EIO)))
    assert str(error) == f"Cannot {verb} log: Input/output error. Try again."
