"""What is said of a lock that somebody else holds: who it is, once, and under its own name."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from agent_tui.core.errors import SessionBusy, StorageError
from agent_tui.core.records import SessionHeader, UserMessage
from agent_tui.sessions.lock import LOCK, OWNER, FolderLock, Ownership, is_owned
from agent_tui.sessions.log import Durability
from agent_tui.sessions.store import SessionStore

_HOLD = (
    "import fcntl, os, sys; "
    "fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX); "
    "print('held', flush=True); sys.stdin.read()"
)


@contextmanager
def held_by_another(path: Path) -> Iterator[int]:
    """A process that holds the lock of a file; its id."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a lock")
def test_the_process_that_holds_the_lock_is_named_not_the_one_that_asks(tmp_path: Path) -> None:
    owner = Ownership(tmp_path)
    assert owner.claim("2026-01-01T00:00:00Z")
    with held_by_another(tmp_path / LOCK) as pid, pytest.raises(SessionBusy) as busy:
        FolderLock(tmp_path, 0.05).acquire()
    owner.give_up()
    assert f"(pid {pid})" in str(busy.value)
    assert str(os.getpid()) not in str(busy.value)


def test_who_waited_in_vain_does_not_wait_as_long_again(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path, 0.5)
    waited = []
    with held_by_another(tmp_path / LOCK):
        for _ in range(2):
            began = time.monotonic()
            with pytest.raises(SessionBusy):
                lock.acquire()
            waited.append(time.monotonic() - began)
    assert waited[1] < waited[0] / 2
    lock.acquire()
    lock.close()


@pytest.mark.parametrize("name", [LOCK, OWNER])
def test_a_link_in_the_place_of_a_lock_is_reported_under_its_own_name(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    lock, owner = FolderLock(tmp_path), Ownership(tmp_path)
    take = lock.acquire if name == LOCK else partial(owner.claim, "now")
    with pytest.raises(StorageError, match=rf"{name} is a symbolic link"):
        take()
    assert not (tmp_path / "elsewhere").exists()
    assert is_owned(tmp_path) is (name == OWNER)


@pytest.mark.parametrize("name", [LOCK, OWNER])
async def test_a_session_is_not_deleted_while_anybody_holds_it(
    store: SessionStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = partial(FolderLock, timeout_seconds=0.05)
    monkeypatch.setattr("agent_tui.sessions.store.FolderLock", impatient)
    log = await store.create(SessionHeader("s1", "/w", "", ""))
    await log.append(UserMessage("Hi", "human"), durability=Durability.D0)
    await log.close()
    with held_by_another(log.folder / name), pytest.raises(SessionBusy):
        await store.delete("s1")
    assert log.path.exists()
    await store.delete("s1")
    assert not log.path.exists()
