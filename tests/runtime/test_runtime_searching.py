"""The process that updates the index for a screen: what it says, and how it ends."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from agent_tui.core.errors import StorageError
from agent_tui.importers.importer import Places
from agent_tui.runtime.stored.searching import SearchService
from tests.waiting import PATIENCE_SECONDS


def service(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> SearchService:
    """One whose process runs a shell script."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    return SearchService(folder, Places(folder), of_demo=False)


async def test_what_the_process_said_is_told_without_the_name_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = service(tmp_path, monkeypatch, "echo 'agent-tui: The index is busy.' >&2; exit 1")
    with pytest.raises(StorageError, match=r"^The index is busy\.$"):
        await said.update()


async def test_the_process_stands_behind_the_keys_but_not_behind_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten steps behind, it came to nothing on a machine that was busy with something else."""
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    script = f"while [ $(nice) = {ours} ]; do sleep 0.02; done; nice >&2; exit 1"
    with pytest.raises(StorageError) as told:
        await service(tmp_path, monkeypatch, script).update()
    assert 0 < int(str(told.value)) - ours <= 5


async def test_a_process_that_is_stopped_holds_up_nobody_who_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = service(tmp_path, monkeypatch, "kill -STOP $$")
    updating = asyncio.create_task(stopped.update())
    await asyncio.sleep(0.5)
    updating.cancel()
    done, _ = await asyncio.wait([updating], timeout=PATIENCE_SECONDS)
    assert done
