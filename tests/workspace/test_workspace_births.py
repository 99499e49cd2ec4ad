"""Whether a folder is the one that had its name before."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from agent_tui.core.record_parsing import parse_record
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import WorkspaceRecord
from agent_tui.workspace.births import identity_of, is_told, wait_for_tick


def test_what_is_made_again_after_a_tick_is_told_from_what_was_there(tmp_path: Path) -> None:
    made, last = tmp_path / "made", 0
    for _ in range(20):
        made.mkdir()  # some file systems give it the same inode again
        identity = identity_of(str(made))
        assert identity[1] > last
        last = wait_for_tick()
        assert is_told(identity, last)
        made.rmdir()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere births are told exactly")
def test_a_tick_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = [96, 96, 100, 104]
    monkeypatch.setattr(time, "time_ns", lambda: 100)
    monkeypatch.setattr(time, "clock_gettime_ns", lambda _: ticks.pop(0))
    assert wait_for_tick() == 100
    assert ticks == []


def test_a_birth_that_is_not_known_or_to_come_tells_nothing() -> None:
    assert is_told((7, 100), 100)
    assert not is_told((7, 0), 100)
    assert not is_told((7, 101), 100)


def test_the_log_says_which_folders_came() -> None:
    record = WorkspaceRecord("tool_call", folders={"made": (7, 1_790_000_000_123_456_789)})
    fields = record_fields(record)
    assert parse_record(fields) == record
    for odd in ({"made": "7"}, {"made": [7]}, ["made"]):  # an older log has a list
        found = parse_record({**fields, "folders": odd})
        assert isinstance(found, WorkspaceRecord)
        assert found.folders == {"made": (0, 0)}
