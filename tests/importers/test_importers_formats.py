"""What holds for every format: recognised by content, accounted for, the same at every place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, Record, ToolMessage, UserMessage
from agent_tui.importers.imported import ImportedSession, count_findings, count_messages
from agent_tui.importers.registry import (
    IMPORTERS,
    import_session,
    importer_of,
    locate,
    read_tail,
    recognise,
    resume_command,
    summarise,
)
from tests.importers.foreign_files import (
    FORMATS,
    claude_line,
    claude_session,
    claude_user,
    codex_said,
    codex_session,
)
from tests.importers.session_files import unaccounted, write_lines

EACH = pytest.mark.parametrize("name", FORMATS)
KINDS = (UserMessage, AssistantMessage, ToolMessage)


@pytest.fixture
def path(name: str, tmp_path: Path) -> Path:
    return write(name, tmp_path)


def write(name: str, folder: Path) -> Path:
    make: Callable[[Path], Path] = FORMATS[name][1]
    return make(folder)


def prompts(session: ImportedSession) -> list[str]:
    users = (r for r in session.records if isinstance(r, UserMessage) and r.origin == "human")
    return [text_of(record.content) for record in users]


def results_follow_calls(records: tuple[Record, ...]) -> bool:
    open_calls: set[str] = set()
    for record in records:
        if isinstance(record, AssistantMessage):
            open_calls = {call.id for call in record.tool_calls}
        elif isinstance(record, ToolMessage):
            if record.tool_call_id not in open_calls:
                return False
            open_calls.remove(record.tool_call_id)
    return True


@EACH
def test_a_file_is_recognised_by_its_content(name: str, path: Path) -> None:
    importer = recognise(path)
    assert importer is not None
    assert importer.source == FORMATS[name][0]
    renamed = path.with_name("anything")
    if name not in ("opencode folder",):  # its place names the messages
        path.rename(renamed)
        assert recognise(renamed) is importer


@EACH
def test_every_record_is_accounted_for_and_none_is_unknown(name: str, path: Path) -> None:
    session = import_session(path)
    accounting = session.accounting
    assert accounting.read > 0
    assert unaccounted(accounting) == 0
    assert accounting.unknown == {}
    assert accounting.damaged == session.damaged == 0


@EACH
def test_the_conversation_is_there_with_its_call_and_its_result(name: str, path: Path) -> None:
    session = import_session(path)
    assert "fix the bug" in prompts(session) or "list files" in prompts(session)
    assert results_follow_calls(session.records)
    assert sum(isinstance(record, ToolMessage) for record in session.records) in (1, 2)
    assert count_findings(session)["messages"] == count_messages(session.records)


@EACH
def test_the_tail_is_the_end_of_the_whole(name: str, path: Path) -> None:
    ref = locate(path)
    whole = [r for r in import_session(path).records if isinstance(r, KINDS)]
    tail = read_tail(ref, 10_000)
    assert [r for r in tail.records if isinstance(r, KINDS)] == whole or name == "kimi"
    short = [r for r in read_tail(ref, 2).records if isinstance(r, KINDS)]
    assert short
    assert text_of(short[-1].content) == text_of(whole[-1].content)


@EACH
def test_a_row_of_the_list_says_what_the_session_says(name: str, path: Path) -> None:
    session, row = import_session(path), summarise(locate(path))
    assert row.source == session.source
    assert row.title == session.title
    assert row.cwd == session.cwd
    assert row.session_id == session.session_id
    assert row.size_bytes == path.stat().st_size


@EACH
def test_importing_writes_nothing(name: str, path: Path, tmp_path: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    import_session(path)
    read_tail(locate(path), 5)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before


def test_the_importers_have_names_of_their_own() -> None:
    sources = [importer.source for importer in IMPORTERS]
    assert len(set(sources)) == len(sources)
    assert all(importer_of(source).source == source for source in sources)


@pytest.mark.parametrize(
    ("session_id", "cwd", "command"),
    [
        ("S", "/w", "cd /w && claude --resume S"),
        ("S", "/a b;rm", "cd '/a b;rm' && claude --resume S"),
        ("S", "-w", "cd -- -w && claude --resume S"),
        ("S", "", "claude --resume S"),
        ("--dangerous", "/w", ""),
        ("S;rm -rf x", "/w", ""),
        ("S", "/w\x1b[2J", ""),
        ("S", "/w\nrm x", ""),
    ],
)
def test_the_resume_command_runs_nothing_else(
    session_id: str, cwd: str, command: str, tmp_path: Path
) -> None:
    session = import_session(write("claude", tmp_path))
    assert resume_command(replace(session, session_id=session_id, cwd=cwd)) == command


@pytest.mark.parametrize("name", ["claude", "codex", "codex compressed"])
def test_a_row_is_named_by_a_prompt_that_stands_far_behind_the_beginning(
    name: str, tmp_path: Path
) -> None:
    long = "<environment_context>" + " ".join(str(number) for number in range(20_000))
    if name == "claude":
        first = claude_user("u0", None, 1, f"<local-command-stdout>{long}</local-command-stdout>")
        lines = [first, *claude_session(), claude_line("progress", "p9", "a4", 9, data=long)]
    else:
        head, *rest = codex_session()
        lines = [head, codex_said("user", 1, long), *rest, codex_said("user", 9, long)]
    path = write_lines(tmp_path / "S.jsonl", lines)
    if name == "codex compressed":
        path.write_bytes(zstandard.compress(path.read_bytes()))
    assert summarise(locate(path)).title == import_session(path).title != ""
