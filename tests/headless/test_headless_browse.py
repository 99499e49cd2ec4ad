"""The browser without a screen: every command, for people and as JSON."""

from __future__ import annotations

import fcntl
import json
import os
import re
from pathlib import Path

import pytest

from agent_tui.core.format import format_minute
from tests.headless.command_line import CommandLine
from tests.importers.foreign_files import FORMATS
from tests.importers.session_files import (
    pi_answer,
    pi_entry,
    pi_header,
    pi_user,
    write_lines,
)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scripted model that improvises, without a pause."""
    path = tmp_path / "scenario.toml"
    path.write_text('model = "quick"\nwindow = 20000\n')
    return path


@pytest.fixture
def session_id(run: CommandLine, scenario: Path) -> str:
    """A session of two turns in the demo's workspace."""
    for prompt in ("What files are here?", "Read README.md"):
        ran = run("-p", prompt, "--scenario", scenario, "-c", "--output-format", "json")
        assert ran.code == 0
    return str(ran.json["session_id"])


def test_a_demo_goes_on_in_its_newest_session(run: CommandLine, session_id: str) -> None:
    assert [path.parent.name for path in run.logs()] == [session_id]


def test_sessions_are_listed_shown_renamed_and_deleted(run: CommandLine, session_id: str) -> None:
    (row,) = run("sessions", "list", "--json").json
    assert (row["session_id"], row["title"]) == (session_id, "What files are here?")
    assert session_id in run("sessions").out
    shown = run("sessions", "show", session_id[:-3], "--json").json
    assert shown["messages"] > 4
    assert shown["checkpoints"] == 6
    assert shown["damaged"] == 0
    words = dict(
        re.split("  +", line, maxsplit=1)
        for line in run("sessions", "show", session_id).out.splitlines()
    )
    assert (words["session"], words["archives"]) == (session_id, "none")
    assert (words["tokens are estimated"], words["damaged lines"]) == ("no", "0")
    assert not any("_" in name for name in words)
    assert run("sessions", "rename", session_id, "A better name", "--json").json == {
        "session_id": session_id,
        "title": "A better name",
    }
    assert "A better name" in run("sessions", "list").out
    assert run("sessions", "delete", session_id).out.startswith("Moved to ")
    assert run("sessions", "list", "--json").json == []
    assert run("sessions", "list").out.startswith("No sessions yet")


def test_a_session_goes_back_and_forth(run: CommandLine, session_id: str) -> None:
    checkpoints = run("checkpoints", session_id, "--json").json
    second = next(c for c in checkpoints if (c["turn"], c["step"]) == (2, 0))
    assert second["prompt"] == "Read README.md"
    told = run("checkpoints", session_id).out
    assert "Read README.md" in told
    assert "  1 message before" in told
    assert run("archives", session_id).out.startswith("This session has no archives")
    before = run.logs()[0].read_bytes()
    report = run("revert", session_id, second["id"], "--json").json
    assert (report["archive"], report["prompt"]) == (1, "Read README.md")
    assert before.startswith(run.logs()[0].read_bytes().rsplit(b"\n", 2)[0])
    (archive,) = run("archives", session_id, "--json").json
    assert (archive["number"], archive["reason"]) == (1, "user")
    listed = run("archives", session_id).out
    assert "before “Read README.md” was reverted" in listed
    assert format_minute(archive["at"]) in listed
    assert run("restore", session_id, "1").out.startswith("Restored archive 1:")
    assert run.logs()[0].read_bytes().startswith(before)
    assert run("archives", "prune", session_id, "--keep", "1", "--json").json == {"removed": [1]}
    assert run("archives", "prune", session_id, "--keep", "5").out == (
        "Deleted 0 archives (--keep 5).\n"
    )
    run("revert", session_id, second["id"])
    assert run("archives", "prune", session_id, "--keep", "1").out.startswith("Deleted 1 archive (")


def test_what_is_no_file_in_place_of_an_archive_hides_and_replaces_none(
    run: CommandLine, session_id: str
) -> None:
    first = run("checkpoints", session_id, "--json").json[0]["id"]
    run("revert", session_id, first)
    run("restore", session_id, "1")
    log = run.logs()[0]
    os.mkfifo(log.with_name("context.jsonl.3"))
    log.with_name("context.jsonl.4").mkdir()
    log.with_name("context.jsonl.5").symlink_to(log)
    shown = run("archives", session_id, "--json").json
    assert [each["number"] for each in shown] == [5, 4, 3, 2, 1]
    assert [bool(each["trouble"]) for each in shown] == [True, True, True, False, False]
    listed = run("archives", session_id)
    assert (listed.code, "3  context.jsonl.3 is not a regular file" in listed.out) == (0, True)
    assert run("archives", log, "--json").code == 0
    pruned = run("archives", "prune", session_id, "--keep", "1", "--json")
    assert pruned.json == {"removed": [1]}, "the newest that can be read is kept"


def test_a_session_is_compacted_with_numbers(
    run: CommandLine, session_id: str, scenario: Path
) -> None:
    asked = "Read docs/how-tides-work.md"
    assert run("-p", asked, "--scenario", scenario, "-c").code == 0
    assert run("-p", "What have we done?", "--scenario", scenario, "-c").code == 0
    ran = run("compact", session_id, "--scenario", scenario, "--focus", "files", "--json")
    assert ran.code == 0, ran.err
    report = ran.json
    assert report["tokens_after"] < report["tokens_before"]
    assert (report["trigger"], report["focus"], report["archive"]) == ("manual", "files", 1)
    assert 0 < report["saved_share"] < 1
    taken = report["usage"]["input_tokens"] + report["usage"]["output_tokens"]
    assert taken > report["tokens_after"] / 2
    assert run("restore", session_id, "1").code == 0
    told = run("compact", session_id, "--scenario", scenario, "--focus", "files").out
    assert run("checkpoints", session_id).out.splitlines()[0].endswith("(no prompt)")
    assert f"The summary took {taken:,} tokens." in told
    again = run("compact", session_id, "--scenario", scenario)
    assert again.code == 1
    assert "Nothing" in again.sentence


def test_a_compaction_without_a_model_says_so_and_how_to_take_it_back(
    run: CommandLine, session_id: str
) -> None:
    before = run.logs()[0].read_bytes()
    ran = run("compact", session_id)
    assert ran.code == 0
    assert "No model could summarise" in ran.out
    command = ran.out.strip().rpartition("agent-tui ")[2]
    assert run(*command.split()).code == 0
    assert run.logs()[0].read_bytes().startswith(before)


def test_a_compaction_that_was_to_ask_no_model_does_not_blame_one(
    run: CommandLine, session_id: str
) -> None:
    told = run("compact", session_id, "--strategy", "fallback").out
    assert "The rest was not summarised: only the newest messages were kept." in told


def test_a_session_is_exported_for_people_and_for_kimi(
    run: CommandLine, session_id: str, tmp_path: Path
) -> None:
    assert "What files are here?" in run("export", session_id, "--format", "markdown").out
    target = tmp_path / "context.jsonl"
    told = run("export", session_id, "--format", "kimi", "-o", target, "--json").json
    assert told == {"path": str(target)}
    for form in ("markdown", "html", "kimi", "pi"):
        told = run("export", session_id, "--format", form, "--json").json
        assert told == {
            "format": form,
            "content": run("export", session_id, "--format", form).out,
        }
    assert run("export", session_id, "--format", "json", "--json").json["records"]
    assert target.stat().st_mode & 0o777 == 0o600
    found = run("open", target, "--json").json
    assert found["messages"] == run("sessions", "show", session_id, "--json").json["messages"]
    again = run("export", session_id, "--format", "kimi", "-o", target)
    assert again.code == 1
    assert "exists already" in again.sentence


def test_what_another_agent_compacted_stays_compacted_in_an_export(
    run: CommandLine, tmp_path: Path
) -> None:
    entries = [
        pi_header(3),
        pi_user("long ago", "1"),
        pi_answer("done", "2", "1", tokens=900),
        pi_user("lately", "3", "2"),
        pi_answer("also done", "4", "3", tokens=950),
        pi_entry("compaction", "5", "4", summary="S", tokensBefore=950, firstKeptEntryId="3"),
        pi_user("now", "6", "5"),
    ]
    path = write_lines(tmp_path / "s.jsonl", entries)
    exported = run("export", path, "--format", "kimi").out
    assert [json.loads(line)["role"] for line in exported.splitlines()] == [
        "user", "user", "assistant", "user",
    ]  # fmt: skip
    target = tmp_path / "context.jsonl"
    target.write_text(exported)
    found = run("open", target, "--json").json
    assert (found["messages"], found["compactions"], found["damaged"]) == (4, 1, 0)
    assert "long ago" in run("export", path, "--format", "markdown").out


def test_a_damaged_session_is_repaired_with_an_account(run: CommandLine, session_id: str) -> None:
    with run.logs()[0].open("ab") as file:
        file.write(b"\x1b[31m nothing\n")
    assert run("sessions", "show", session_id, "--json").json["damaged"] == 1
    ran = run("repair", session_id)
    assert ran.code == 0
    assert "Left out:" in ran.out
    assert "\x1b" not in ran.out
    report = run("repair", session_id, "--json").json
    shown = run("sessions", "show", report["session_id"], "--json").json
    assert (shown["damaged"], shown["title"]) == (0, "What files are here? (repaired)")
    assert run("sessions", "show", session_id, "--json").json["title"] == "What files are here?"


@pytest.mark.parametrize(
    "arguments",
    [
        ("sessions", "show", "nothing"),
        ("sessions", "rename", "nothing", "x"),
        ("sessions", "delete", "nothing"),
        ("checkpoints", "nothing"),
        ("revert", "nothing", "1"),
        ("archives", "nothing"),
        ("restore", "nothing", "1"),
        ("compact", "nothing"),
        ("export", "nothing"),
        ("repair", "nothing"),
        ("open", "/nowhere/context.jsonl"),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_one_sentence(run: CommandLine, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, "--json")
    assert ran.code == 1
    assert ran.out == ""
    assert "nothing" in ran.sentence or "nowhere" in ran.sentence


def test_wrong_numbers_say_which_there_are(run: CommandLine, session_id: str) -> None:
    assert "no checkpoint 99; it has: 0, 1" in run("revert", session_id, "99").sentence
    assert "none" in run("restore", session_id, "7").sentence
    assert run("compact", session_id, "--strategy", "none").code == 2


def test_a_session_that_is_open_elsewhere_is_read_but_not_changed(
    run: CommandLine, session_id: str
) -> None:
    with run.logs()[0].with_name("context.jsonl.owner").open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run("sessions", "show", session_id, "--json").json["messages"] > 4
        assert "read-only" in run("revert", session_id, "0").sentence
        assert "cannot be deleted" in run("sessions", "delete", session_id).sentence


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"\x00\xff\xfe\n" * 9, "is not a session log"),
        (b"hello\n", "is not a session log"),
        (b'{"role": "user", "content": "torn', "is not a session log"),
    ],
    ids=["empty", "binary", "text", "torn"],
)
def test_a_file_that_is_no_log_is_one_sentence(
    run: CommandLine, tmp_path: Path, content: bytes, why: str
) -> None:
    path = tmp_path / "some\x1b[31mfile"
    path.write_bytes(content)
    ran = run("open", path, "--json")
    assert ran.code == 1
    assert why in ran.sentence
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_every_format_opens_and_is_accounted_for(
    name: str, run: CommandLine, tmp_path: Path
) -> None:
    path = FORMATS[name][1](tmp_path)
    found = run("open", path, "--json").json
    assert found["source"] == FORMATS[name][0]
    assert found["messages"] >= 4
    assert {"checkpoints", "token_count", "compactions", "damaged", "archives"} <= set(found)
    records = found["records"]
    told = [*records["unknown"].values(), *records["skipped"].values()]
    assert records["read"] == records["shown"] + records["damaged"] + sum(told)
    printed = run("open", path).out
    assert f"records read     {records['read']}" in printed
