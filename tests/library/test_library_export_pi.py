"""A session that pi opens: it sends its model what the session's own agent would have sent."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.messages import text_of
from agent_tui.core.records import CompactionRecord, Record, is_message
from agent_tui.core.words import INTERRUPTED
from agent_tui.importers.registry import import_session
from agent_tui.runtime.stored.exporting import export_file
from tests.history.test_history_imported import COMPACTED
from tests.importers.foreign_files import codex_item, codex_line, codex_said, codex_session
from tests.importers.session_files import pi_answer, pi_entry, pi_header, pi_user, write_lines

_LOAD = """
import { pathToFileURL } from "node:url";
const [module, ...files] = process.argv.slice(1);
const { SessionManager } = await import(pathToFileURL(module));
const said = (message) => message.summary ?? (typeof message.content === "string"
  ? message.content : message.content.map((part) => part.text ?? "").join(""));
console.log(JSON.stringify(files.map((file) => {
  const session = SessionManager.open(file);
  return [session.getSessionName(), session.buildSessionContext().messages.map(said)];
})));
"""


def texts(records: tuple[Record, ...]) -> list[str]:
    return [text_of(record.content) for record in records if is_message(record)]


def exported(path: Path) -> Path:
    """The session beside it, in pi's format."""
    copy = path.parent / "exported" / "pi.jsonl"
    copy.parent.mkdir()
    copy.write_bytes(export_file(path, "pi").content)
    return copy


def pi_that_kept(folder: Path) -> Path:
    entries: list[Any] = [
        pi_header(),
        *(pi_user("q1", "1"), pi_answer("a1", "2", "1"), pi_user("q2", "3", "2")),
        pi_entry("compaction", "4", "3", summary="S", tokensBefore=9, firstKeptEntryId="3"),
        *(pi_answer("a2", "5", "4", tokens=9), pi_user("q3", "6", "5")),
    ]
    return write_lines(folder / "pi.jsonl", entries)


def codex_that_kept_prompts(folder: Path) -> Path:
    """Of what was said before, only the prompt stays: it is no end of it."""
    history = [codex_said("user", 1, "list files"), codex_said("user", 9, "so far")]
    told = [line["payload"] for line in history]
    lines = [*codex_session(), codex_line("compacted", 9, message="", replacement_history=told)]
    call = codex_item("function_call", 10, name="exec", arguments="{}", call_id="c9")
    return write_lines(folder / "rollout.jsonl", [*lines, codex_said("user", 10, "on"), call])


SESSIONS = {**COMPACTED, "pi kept": pi_that_kept, "codex kept": codex_that_kept_prompts}


@pytest.mark.parametrize("name", SESSIONS)
def test_behind_a_compaction_pi_sends_what_its_agent_would_have_sent(
    name: str, tmp_path: Path
) -> None:
    path = SESSIONS[name](tmp_path)
    sent = [text for text in texts(import_session(path).context) if text]
    found = import_session(exported(path))
    assert sent == [text for text in texts(found.context) if text not in ("", INTERRUPTED)]
    assert any(isinstance(record, CompactionRecord) for record in found.records)


def test_what_a_compaction_kept_stands_once_where_it_is_an_end(tmp_path: Path) -> None:
    lines = exported(pi_that_kept(tmp_path)).read_text().splitlines()
    entries = [json.loads(line) for line in lines[1:]]
    said = [entry for entry in entries if entry["type"] == "message"]
    assert [entry["message"]["content"][-1]["text"] for entry in said] == (
        ["q1", "a1", "q2", "a2", "q3"]
    )
    (compaction,) = [entry for entry in entries if entry["type"] == "compaction"]
    assert compaction["firstKeptEntryId"] == said[2]["id"]


@pytest.mark.slow
def test_pis_own_session_manager_opens_it(tmp_path: Path) -> None:
    program = shutil.which("pi")
    if program is None:
        pytest.skip("pi is not on PATH: npm install -g @mariozechner/pi-coding-agent")
    module = Path(program).resolve().parent / "core" / "session-manager.js"
    sent, files = [], []
    for name, write in SESSIONS.items():
        folder = tmp_path / name
        folder.mkdir()
        path = write(folder)
        sent.append([text for text in texts(import_session(path).context) if text])
        files.append(str(exported(path)))
    command = ["node", "--input-type=module", "--eval", _LOAD, "--", str(module), *files]
    loaded = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    for expected, (title, found) in zip(sent, loaded, strict=True):
        assert title
        assert expected == [text for text in found if text not in ("", INTERRUPTED)]
