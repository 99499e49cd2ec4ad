"""A process that is killed in the middle of a turn loses nothing that was promised."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_tui.core.records import (
    ApprovalRecord,
    CompactionRecord,
    Record,
    ToolMessage,
    UserMessage,
)
from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage, doubly_answered, read_log, sendable, unanswered

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TURNS = 30
PROMISED: dict[str, type] = {
    "ToolFinished": ToolMessage,
    "ToolStarted": UserMessage,
    "TurnBegan": UserMessage,
    "CompactionFinished": CompactionRecord,
}


def find_log(folder: Path) -> Path | None:
    return next(folder.glob("home/projects/*/*/context.jsonl"), None)


def check_promises(records: list[Record], heard: list[str]) -> None:
    """What was told on the wire is in the log."""
    for event, record in PROMISED.items():
        if event in heard:
            assert any(isinstance(one, record) for one in records), event
    results = [one for one in records if isinstance(one, ToolMessage)]
    assert len(results) >= heard.count("ToolFinished")
    if len(results) == 3:
        assert any(isinstance(one, ApprovalRecord) for one in records)


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Folders in each of which a turn was killed."""
    command = [sys.executable, "-m", "tests.agent.killed_turns", str(tmp_path), str(TURNS)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=100)
    return sorted(tmp_path.glob("*-*"))


async def test_a_turn_killed_at_any_moment_resumes(folders: list[Path]) -> None:
    assert len(folders) == TURNS + TURNS // 3
    interrupted = compacted = 0
    for folder in folders:
        path = find_log(folder)
        if path is None:
            assert not (folder / "heard").exists()
            continue
        state = read_log(path)
        heard = (folder / "heard").read_text().split() if (folder / "heard").exists() else []
        assert all("torn" in damage.reason for damage in state.damaged)
        assert sendable(state)
        before = [*state.entries]
        compacted += "CompactionFinished" in heard
        if not state.compactions:
            check_promises([entry.record for entry in state.entries], heard)
        interrupted += bool(unanswered(path))
        session_id = path.parent.name
        async with Stage(folder, Reply(text="On we go."), resume=session_id) as stage:
            assert await stage.say("Go on") == "done"
            assert stage.session.view.records[: len(before)] == [entry.record for entry in before]
            assert not doubly_answered(path)
            assert not unanswered(path)
    print(f"killed {len(folders)} turns: {interrupted} in a tool, {compacted} compacted; 0 lost")
    assert interrupted
    assert compacted
