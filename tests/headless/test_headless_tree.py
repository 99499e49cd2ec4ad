"""The tree on the command line."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agent_tui.core import record_parsing
from agent_tui.history.tree import session_tree
from agent_tui.sessions import replay
from tests.headless.command_line import CommandLine


def test_the_tree_is_printed_with_branches_archives_and_the_present(
    run: CommandLine, tmp_path: Path
) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('model = "quick"\nwindow = 20000\n')
    for prompt in ("What files are here?", "Read README.md"):
        ran = run("-p", prompt, "--scenario", scenario, "-c", "--output-format", "json")
        assert ran.code == 0
    session_id = ran.json["session_id"]
    checkpoints = run("checkpoints", session_id, "--json").json
    second = next(c["id"] for c in checkpoints if (c["turn"], c["step"]) == (2, 0))
    assert run("revert", session_id, second).code == 0
    rows = run("tree", session_id, "--json").json
    assert [(row["text"], row["standing"], row["depth"]) for row in rows] == [
        ("What files are here?", "context", 0),
        ("Read README.md", "side", 1),
        (f"reverted to checkpoint {second}", "context", 0),
    ]
    assert [row["leaves"] for row in rows] == [[], ["archive 1"], ["live"]]
    printed = run("tree", session_id).out.splitlines()
    assert printed[1] == "  +-Read README.md  (archive 1)"
    (log,) = run.logs()
    assert run("tree", log, "--json").json[0]["text"] == "What files are here?"
    every = run("tree", session_id, "--detail", "records", "--json").json
    assert len(every) > len(rows)


def test_what_is_no_regular_file_in_place_of_an_archive_is_left_out_and_named(
    run: CommandLine, tmp_path: Path
) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('model = "quick"\nwindow = 20000\n')
    ran = run("-p", "What files are here?", "--scenario", scenario, "--output-format", "json")
    session_id = ran.json["session_id"]
    fork = run("fork", session_id, "--json").json["session_id"]
    log = next(each for each in run.logs() if each.parent.name == session_id)
    before = [run("tree", each, "--json").json for each in (session_id, fork)]
    log.with_name("context.jsonl.1").symlink_to(log)
    log.with_name("context.jsonl.2").mkdir()
    os.mkfifo(log.with_name("context.jsonl.3"))
    named = ", ".join(f"{session_id}/context.jsonl.{number}" for number in (1, 2, 3))
    for each, rows in zip((session_id, fork), before, strict=True):
        shown = run("tree", each, "--json")
        assert (shown.code, shown.json) == (0, rows)
        assert f"3 logs left out, not a regular file: {named}." in shown.err
    opened = run("tree", log)
    assert (opened.code, "3 logs left out" in opened.err) == (0, True)


def test_a_fork_begins_at_any_entry_of_the_tree(run: CommandLine, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('model = "quick"\nwindow = 20000\n')
    for prompt in ("What files are here?", "Read README.md"):
        ran = run("-p", prompt, "--scenario", scenario, "-c", "--output-format", "json")
        assert ran.code == 0
    session_id = ran.json["session_id"]
    second = run("tree", session_id, "--json").json[1]
    forked = run("fork", session_id, "--at", second["uuid"])
    assert forked.out.splitlines()[-1] == "It ends before the prompt: Read README.md"
    made = run("fork", session_id, "--at", second["uuid"][:20], "--json").json
    assert made["prompt"] == "Read README.md"
    assert made["session_id"] in run("tree", session_id, "--json").json[0]["leaves"]
    checkpoints = run("checkpoints", session_id, "--json").json
    turn = next(c["id"] for c in checkpoints if (c["turn"], c["step"]) == (2, 0))
    back = run("fork", session_id, "--at", turn, "--json").json
    assert back["prompt"] == "Read README.md"
    both = [run("sessions", "show", one["session_id"], "--json").json for one in (made, back)]
    assert both[0]["messages"] == both[1]["messages"] == checkpoints[turn]["messages_before"]
    (log,) = (each for each in run.logs() if each.parent.name == session_id)
    by_path = run("fork", log, "--at", turn, "--json").json
    assert by_path["prompt"] == "Read README.md"
    shown = run("sessions", "show", by_path["session_id"], "--json").json
    assert shown["messages"] == both[0]["messages"]
    refused = run("fork", log, "--at", "99")
    assert "no checkpoint 99; it has: 0, 1" in refused.sentence
    whole = run("fork", session_id, "--json").json
    shown = run("sessions", "show", whole["session_id"], "--json").json
    assert shown["messages"] == run("sessions", "show", session_id, "--json").json["messages"]
    assert run("fork", session_id, "--at", "nowhere").sentence.startswith(
        "'nowhere' is not an entry"
    )
    assert "no checkpoint 99; it has: 0, 1" in run("fork", session_id, "--at", "99").sentence


def test_what_is_said_to_type_next_sees_the_demo_where_it_is_one(run: CommandLine) -> None:
    assert run("sessions", "list", "--demo").out.endswith("Start one with: agent-tui --demo\n")
    ran = run("-p", "list the files", "--demo", "--output-format", "json")
    session_id = ran.json["session_id"]
    told = run("fork", session_id, "--demo").out
    assert re.search(r"Continue with: agent-tui -r \S+ --demo$", told, re.M)
    told = run("sessions", "delete", session_id, "--demo").out
    assert told.endswith(f"agent-tui sessions undelete {session_id} --demo\n")
    assert run(*told.strip().rpartition("agent-tui ")[2].split()).code == 0
    assert run("tree", "nowhere", "--demo").sentence.endswith("agent-tui sessions list --demo")
    assert run("tree", "nowhere").sentence.endswith("agent-tui sessions list")


def test_exports_and_forks_can_be_only_the_newest_part(run: CommandLine, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('model = "quick"\nwindow = 20000\n')
    for prompt in ("What files are here?", "Read README.md"):
        ran = run("-p", prompt, "--scenario", scenario, "-c", "--output-format", "json")
        assert ran.code == 0
    session_id = ran.json["session_id"]
    whole = run("export", session_id).out
    part = run("export", session_id, "--max-messages", "1").out
    assert "What files are here?" in whole
    assert "What files are here?" not in part.partition("\n")[2]
    assert "## Agent" in part
    assert "## " not in run("export", session_id, "--since", "2999").out
    assert "What files are here?" in run("export", session_id, "--since", "1d").out
    for typed in ("yesterday", "2026-13", "2026-01-01T99:00"):
        assert "Expected a day such as" in run("export", session_id, "--since", typed).sentence
    fork = run("fork", session_id, "--max-messages", "1", "--json").json["session_id"]
    exported = run("export", fork).out
    assert exported.count("## ") == 1
    assert run("archives", fork, "--json").json
    refused = run("fork", session_id, "--max-messages", "99")
    assert refused.code == 1
    assert "These limits keep all" in refused.sentence


def test_the_tree_of_a_long_session_is_printed_without_reading_all_of_it(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_tree, "BIG_BYTES", 1)
    folder = run.home / "projects" / "-w" / "long"
    folder.mkdir(parents=True, mode=0o700)
    header = f'{{"role":"_session","format":1,"session_id":"long","cwd":"{tmp_path}"}}\n'
    turn = '{"role":"user","content":"go"}\n' + '{"role":"assistant","content":"on"}\n' * 19
    (folder / "context.jsonl").write_text(header + turn * 200)
    parsed = 0

    def count(*arguments: object) -> object:
        nonlocal parsed
        parsed += 1
        return parse(*arguments)  # type: ignore[arg-type]  # as it was called

    parse = record_parsing.parse_record
    monkeypatch.setattr(replay, "parse_record", count)
    ran = run("tree", "long")
    assert len(ran.out.splitlines()) == 200
    assert 200 <= parsed < 300
