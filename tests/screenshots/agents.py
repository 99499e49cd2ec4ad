"""Sessions of other agents that the pictures show, written where those agents keep them."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.importers.foreign_files import (
    called,
    claude_answer,
    claude_line,
    claude_user,
    codex_line,
    codex_said,
    returned,
    said,
)
from tests.importers.session_files import write_lines

_SUMMARY = (
    "This session is being continued from a previous conversation.\n\n"
    "Current work: the importer for tide tables reads all four harbours. Next: the report."
)
_MODEL = "claude-sonnet-4-5"
_TALK = (
    ("Import the tide tables of all four harbours",
     "Four tables, two layouts. I add one reader for each, and a test that reads all four.",
     "Added read_tables(): 48 lines."),
    ("Heights are metres above chart datum. Never round them before the report.",
     "Then the reader keeps them as they are printed, and only format_height rounds.",
     "Removed two calls of round()."),
    ("Leave stations/legacy.toml alone: the buoy still reads it.",
     "I put it back as it was. The new stations have a file of their own.",
     "Wrote stations from stations.toml."),
    ("The parser fails on Dover with ValueError: no datum in line 1204",
     "Dover names its datum once, in the head of the file. The reader takes it from there now.",
     "A table without a datum takes its file's."),
)  # fmt: skip


def keep_sessions(home: Path, now: datetime) -> Path:
    """A few sessions of Claude Code and Codex; returns one that was compacted."""
    projects, codex = home / ".claude" / "projects", home / ".codex" / "sessions"
    compacted = projects / "-home-ada-tidewatch" / "tides.jsonl"
    compacted.parent.mkdir(parents=True)
    tides = [{**line, "cwd": "/home/ada/tidewatch"} for line in _tides()]
    write_lines(compacted, [_at(line, now - timedelta(hours=3)) for line in tides])
    other = projects / "-home-ada-thesis" / "figures.jsonl"
    other.parent.mkdir()
    figures = [
        claude_user(
            "u1",
            None,
            1,
            "Redraw figure 4 without the grid",
            cwd="/home/ada/thesis",
            sessionId="c41d0b77-9f1e-4a52-8d06-2f9b1c3a7e55",
        ),
        claude_answer("a1", "u1", 2, "m1", said("Done: figures/tide.svg has no grid now.")),
    ]
    figures[1]["message"]["model"] = _MODEL
    write_lines(other, [_at(line, now - timedelta(days=2)) for line in figures])
    codex.mkdir(parents=True)
    recipes = [
        codex_line("session_meta", 0, id="019e", cwd="/home/ada/recipes-api"),
        codex_said("user", 1, "Why does the nightly build take an hour?"),
        codex_said("assistant", 2, "The cache key holds the date, so nothing is ever cached."),
    ]
    write_lines(codex / "rollout-1.jsonl", [_at(line, now - timedelta(days=1)) for line in recipes])
    return compacted


def keep_month(home: Path, now: datetime) -> None:
    """A month of work with three models in Claude Code, with what it used."""
    folder = home / ".claude" / "projects" / "-home-ada-tidewatch"
    models = ("claude-sonnet-4-5", "claude-haiku-4-5", "llama-3.3-70b")
    for day in range(30):
        if day % 7 in (2, 3) and day > 3:
            continue
        calls = [called(f"t{day}-{n}", "Bash", command="pytest") for n in range(1 + day * 5 % 7)]
        lines = [claude_user("u1", None, 1, "Run the tests", cwd="/home/ada/tidewatch")]
        lines.append(claude_answer("a1", "u1", 2, f"d{day}", *calls, tokens=900 + day * 77 % 640))
        lines[1]["message"]["model"] = models[day % 3]
        lines[1]["message"]["usage"]["input_tokens"] = 40_000 + day * day * 9_137 % 90_000
        failed = day % 4 == 0
        lines.append(claude_user("r1", "a1", 3, [{**returned(f"t{day}-0"), "is_error": failed}]))
        named = [{**line, "sessionId": f"day-{day}"} for line in lines]
        write_lines(folder / f"day-{day}.jsonl", [_at(x, now - timedelta(days=day)) for x in named])


def _tides() -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    parent = None
    for number, (asked, answered, edited) in enumerate(_TALK):
        prompt, answer, result = f"u{number}", f"a{number}", f"r{number}"
        call = called(f"t{number}", "Edit", file_path="tidewatch/stations.py")
        lines += [
            claude_user(prompt, parent, 1, asked),
            claude_answer(answer, prompt, 2, f"m{number}", said(answered), call, tokens=900),
            claude_user(result, answer, 3, [returned(f"t{number}", edited)]),
        ]
        parent = result
    told = {"trigger": "auto", "preTokens": 155_000, "postTokens": 4_200}
    boundary = claude_line(
        "system", "b1", None, 4, subtype="compact_boundary", compactMetadata=told
    )
    lines += [
        {**boundary, "logicalParentUuid": parent},
        claude_user("s1", "b1", 5, _SUMMARY, isCompactSummary=True),
        claude_answer("a9", "s1", 6, "m9", said("All four import. The report is next."), tokens=40),
    ]
    for line in lines:
        line["sessionId"] = "5f0c2a4e-63d1-4b8a-9a37-d2e4c17b0f21"
        if line["type"] == "assistant":
            line["message"]["model"] = _MODEL
    return lines


def _at(line: dict[str, Any], at: datetime) -> dict[str, Any]:
    return {**line, "timestamp": at.isoformat(timespec="seconds").replace("+00:00", "Z")}
