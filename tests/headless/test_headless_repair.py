"""``repair`` of a file of any format makes a session of ours of what can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.importers.registry import import_session
from tests.headless.command_line import CommandLine
from tests.importers.foreign_files import FORMATS, claude_session
from tests.importers.session_files import write_lines

PROMPTS = ("list files", "fix the bug")


@pytest.mark.parametrize("name", FORMATS)
def test_a_session_of_any_format_becomes_one_of_ours(
    name: str, run: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    path = FORMATS[name][1](folder)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    report = run("repair", str(path), "--json").json
    assert report["messages"] > 0
    (log,) = run.home.glob(f"projects/*/{report['session_id']}/context.jsonl")
    ours = import_session(log)
    assert (ours.source, ours.damaged) == ("agent-tui", 0)
    calls = [call.id for r in ours.context for call in getattr(r, "tool_calls", ())]
    results = [r.tool_call_id for r in ours.context if hasattr(r, "tool_call_id")]
    assert calls == results
    shown = run("sessions", "show", report["session_id"], "--json").json
    assert shown["damaged"] == 0
    assert any(prompt in log.read_text() for prompt in PROMPTS) or name == "clawdcode"
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_what_is_left_out_is_told(run: CommandLine, tmp_path: Path) -> None:
    novel = {"type": "hologram", "uuid": "h", "sessionId": "S"}
    lines = [*claude_session()[:3], '{"type":"user","uu', novel, *claude_session()[3:]]
    path = write_lines(tmp_path / "S.jsonl", lines)
    left_out = run("repair", str(path), "--json").json["left_out"]
    assert left_out["damaged"] == 1
    assert left_out["not understood: hologram"] == 1
    assert "1 record  damaged" in run("repair", str(path)).out
