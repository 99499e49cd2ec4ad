"""What can be seen of a session of ours can be seen of every other agent's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_tui.history.opening import open_view
from agent_tui.importers.imported import count_findings
from agent_tui.importers.registry import import_session
from tests.importers.foreign_files import (
    FORMATS,
    claude_answer,
    claude_session,
    claude_user,
    clawdcode_session,
    codex_line,
    codex_said,
    codex_session,
    gemini_message,
    gemini_session,
    opencode_session,
    said,
    write_opencode_database,
)
from tests.importers.session_files import (
    SUMMARY,
    answer,
    pi_answer,
    pi_entry,
    pi_header,
    pi_user,
    system,
    user,
    write_lines,
)
from tests.importers.test_importers_claude import boundary
from tests.importers.test_importers_opencode import message

LOST = "Never delete config/prod.toml: the port must stay 4711."


def write_compacted_claude(folder: Path) -> Path:
    """A session of Claude Code with a compaction that lost something."""
    summary = claude_user("s1", "b1", 20, "so far", isCompactSummary=True)
    lines = [*claude_session()[:-1], claude_user("u8", "a4", 9, LOST), boundary("u8"), summary]
    lines += [claude_answer("a5", "s1", 21, "msg_3", said("on"), tokens=9)]
    return write_lines(folder / "S.jsonl", lines)


def _codex(folder: Path) -> Path:
    item = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "so far"}],
    }
    compacted = codex_line("compacted", 9, message="", replacement_history=[item])
    lines = [*codex_session(), codex_said("user", 5, LOST), compacted]
    return write_lines(folder / "rollout.jsonl", [*lines, codex_said("assistant", 10, "on")])


def _gemini(folder: Path) -> Path:
    summary = gemini_message("m8", "user", "so far")
    lost = gemini_message("m7", "user", LOST)
    last = gemini_message("m9", "gemini", "on")
    compressed = {"$set": {"messages": [summary]}}
    return write_lines(folder / "s.jsonl", [*gemini_session(), lost, compressed, last])


def _opencode(folder: Path) -> Path:
    session = opencode_session()
    session["messages"] += [
        message("msg_3", "user", {"type": "text", "text": LOST}),
        message("msg_4", "user", {"type": "compaction", "auto": True}),
        message("msg_5", "assistant", {"type": "text", "text": "so far"}, summary=True),
        message("msg_6", "assistant", {"type": "text", "text": "on"}),
    ]
    return write_opencode_database(folder / "opencode.db", session)


def _clawdcode(folder: Path) -> Path:
    lines = clawdcode_session()
    lost = {
        **lines[0],
        "uuid": "9",
        "parentUuid": "4",
        "message": {"role": "user", "content": LOST},
    }
    on = {**lines[3], "uuid": "8", "parentUuid": "6"}
    return write_lines(folder / "C.jsonl", [*lines[:4], lost, *lines[4:], on])


def _pi(folder: Path) -> Path:
    entries: list[Any] = [
        pi_header(),
        *(pi_user("list files", "1"), pi_answer("one file", "2", "1"), pi_user(LOST, "3", "2")),
        pi_entry("compaction", "4", "3", summary="so far", tokensBefore=9, firstKeptEntryId="4"),
        pi_answer("on", "5", "4"),
    ]
    return write_lines(folder / "pi.jsonl", entries)


def _kimi(folder: Path) -> Path:
    write_lines(folder / "context_1.jsonl", [system(), user("go"), answer("ok"), user(LOST)])
    after = [system(), user(SUMMARY, "so far"), answer("on")]
    return write_lines(folder / "context.jsonl", after)


COMPACTED: dict[str, Callable[[Path], Path]] = {
    "claude": write_compacted_claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "clawdcode": _clawdcode,
    "pi": _pi,
    "kimi": _kimi,
}


@pytest.mark.parametrize("name", FORMATS)
async def test_every_format_has_a_tree_and_moments(name: str, tmp_path: Path) -> None:
    path = FORMATS[name][1](tmp_path)
    view = await open_view(path)
    assert view.message_count == count_findings(import_session(path))["messages"]
    tree = await view.tree()
    rows = tree.outline("turns")
    prompts = [rows.row(i) for i in range(len(rows)) if rows.row(i).kind == "prompt"]
    assert [await tree.prompt_at(row) for row in prompts][-1] in ("fix the bug", "list files")
    scrub = await view.scrub(tree)
    assert scrub.moments()


@pytest.mark.parametrize("name", COMPACTED)
async def test_a_compaction_says_what_it_lost(name: str, tmp_path: Path) -> None:
    view = await open_view(COMPACTED[name](tmp_path))
    ((archive, record),) = await view.compactions()
    assert record.archive == archive
    seen = await view.view_compaction(archive)
    assert "so far" in seen.summary
    assert {fate.fate for fate in seen.before} <= {"summarised", "kept", "dropped"}
    assert LOST in [fate.text for fate in seen.before]
    assert any(LOST in loss.line for loss in seen.losses)
    scrub = await view.scrub()
    assert "compaction" in [moment.kind for moment in scrub.moments()]
    tree = await view.tree()
    rows = tree.outline("turns")
    assert "compaction" in [rows.row(index).kind for index in range(len(rows))]
