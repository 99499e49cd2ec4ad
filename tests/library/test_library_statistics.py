"""Statistics count every session once, whatever its agent calls its tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_tui.cli.table import STATISTICS
from agent_tui.core.errors import UsageError
from agent_tui.core.usage import Usage
from agent_tui.importers.registry import locate
from agent_tui.library.redaction import Redactor
from agent_tui.library.search.search_index import SearchIndex
from agent_tui.library.search.tallies import usage_of
from agent_tui.library.shipping.shipment import Shipper
from agent_tui.library.statistics import GROUPS, cost_of
from tests.importers.foreign_files import (
    claude_line,
    claude_session,
    claude_user,
    codex_said,
    codex_session,
)
from tests.importers.session_files import write_lines
from tests.library.search.conftest import Library, assistant, call, user


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def usage(tokens: int, output: int) -> dict[str, Any]:
    counts = {"input_tokens": tokens, "output_tokens": output}
    return {"role": "_usage", "token_count": tokens + output, "usage": counts}


TALK = [
    user("Fix it", at="2026-11-01T10:00:00Z"),
    assistant("", call("run_command", command="ls"), at="2026-11-01T10:00:01Z", model="gpt-5-mini"),
    usage(1000, 50),
    {"role": "tool", "tool_call_id": "call-run_command", "content": "no", "is_error": True},
    user("Again", at="2026-11-02T09:00:00Z"),
    assistant("Done.", at="2026-11-02T09:00:01Z", model="gpt-5-mini"),
    usage(1200, 20),
]


def by(index: SearchIndex, group: str, since: str = "") -> dict[str, Any]:
    return {each.name: each for each in index.statistics(group, since)}


def test_days_models_projects_and_agents_are_counted(library: Library) -> None:
    library.log("one", TALK)
    library.index.update()
    days = by(library.index, "day")
    assert list(days) == ["2026-11-01", "2026-11-02"]
    first = days["2026-11-01"]
    assert (first.prompts, first.calls, first.errors, first.input_tokens) == (1, 1, 1, 1000)
    total = by(library.index, "project")["/home/ada/tide"]
    assert (total.sessions, total.input_tokens, total.output_tokens) == (1, 2200, 70)
    assert by(library.index, "model")["gpt-5-mini"].replies == 2
    assert by(library.index, "agent")["agent-tui"].prompts == 2
    assert list(by(library.index, "day", "2026-11-02")) == ["2026-11-02"]


def test_a_known_model_has_a_price(library: Library) -> None:
    library.log("one", TALK)
    library.index.update()
    assert by(library.index, "model")["gpt-5-mini"].cost > 0


def test_an_unknown_model_is_counted_and_not_priced(library: Library) -> None:
    talk = [user("Go", at="2026-11-01T10:00:00Z"), assistant("Done.", model="gpt-5.9-secret")]
    library.log("one", [*talk, usage(1000, 50)])
    library.index.update()
    found = by(library.index, "model")["gpt-5.9-secret"]
    assert (found.cost, found.unpriced_tokens) == (0, 1050)
    assert cost_of(found) == "unknown"


def test_tools_that_fail_are_named(library: Library) -> None:
    library.log("one", TALK)
    library.index.update()
    (tool,) = library.index.statistics("tool")
    assert (tool.name, tool.calls, tool.errors) == ("run_command", 1, 1)


def test_what_an_archive_and_the_live_log_both_say_counts_once(library: Library) -> None:
    log = library.log("one", TALK)
    library.index.update()
    before = library.index.statistics("day")
    log.rename(log.with_name("context.jsonl.1"))
    library.log("one", [*TALK[:4], {"role": "_revert", "archive": 1, "reason": "user"}])
    library.index.update()
    assert library.index.statistics("day") == before
    library.index.rebuild()
    assert library.index.statistics("day") == before


def test_what_a_fork_or_a_repaired_copy_repeats_counts_once(library: Library) -> None:
    library.log("one", TALK)
    library.index.update()
    (before,) = library.index.statistics("agent")
    log = library.log("two", [*TALK, user("More", at="2026-11-02T10:00:00Z")])
    first, rest = log.read_text().split("\n", 1)
    log.write_text(json.dumps({**json.loads(first), "parent": {"session_id": "one"}}) + "\n" + rest)
    for renew in (library.index.update, library.index.rebuild):
        renew()
        (after,) = library.index.statistics("agent")
        assert (after.prompts, after.calls) == (before.prompts + 1, before.calls)
        assert after.tokens == before.tokens


def test_what_a_copy_of_claude_code_repeats_counts_once(library: Library) -> None:
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    talk = [line for line in claude_session() if line["type"] != "permission-mode"]
    write_lines(folder / "S.jsonl", talk)
    own = claude_user("u9", "a4", 9, "one thing more")
    copy = [{**line, "sessionId": "T"} for line in (*talk[:-1], own)]
    write_lines(folder / "T.jsonl", copy)
    library.index.update()
    found = by(library.index, "agent")["claude-code"]
    assert (found.prompts, found.calls, found.output_tokens) == (2, 2, 35)
    assert {each.session_id for each in library.search("fix the bug")} == {"S", "T"}


def test_a_session_that_only_shares_uuids_is_no_copy(library: Library) -> None:
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    write_lines(folder / "S.jsonl", [claude_user("u1", None, 1, "fix the bug")])
    write_lines(folder / "T.jsonl", [claude_user("u1", None, 2, "fix the bug")])
    write_lines(folder / "U.jsonl", [claude_user("u1", None, 1, "fix another")])
    library.index.update()
    assert by(library.index, "agent")["claude-code"].prompts == 3


def test_a_compaction_of_claude_code_counts_once_and_is_no_prompt(
    library: Library, tmp_path: Path
) -> None:
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    edge = claude_line("system", "b1", None, 7, subtype="compact_boundary", compactMetadata={})
    summary = claude_user("s1", "b1", 8, "This session is being continued", isCompactSummary=True)
    path = write_lines(folder / "S.jsonl", [*claude_session(), edge, summary])
    library.index.update()
    found = by(library.index, "agent")["claude-code"]
    assert (found.prompts, found.compactions) == (1, 1)
    shipped = Shipper(tmp_path / "out", Redactor()).ship([locate(path)])
    rows = [json.loads(line) for line in Path(shipped.files[0]).read_text().splitlines()]
    assert [row["kind"] for row in rows[-2:]] == ["compaction", "other"]


@pytest.mark.parametrize("silent", [0, 3])
def test_a_compaction_that_is_read_between_its_two_lines_counts_once(
    library: Library, tmp_path: Path, silent: int
) -> None:
    folder = library.home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    edge = claude_line("system", "b1", None, 7, subtype="compact_boundary", compactMetadata={})
    summary = claude_user("s1", "b1", 8, "This session is being continued", isCompactSummary=True)
    out = tmp_path / "out"
    path = folder / "S.jsonl"
    first = [*claude_session(), edge, *[claude_session()[0]] * silent]
    for lines in (first, [*first, summary]):
        write_lines(path, lines)
        library.index.update()
        Shipper(out, Redactor()).ship([locate(path)])
    assert by(library.index, "agent")["claude-code"].compactions == 1
    rows = [json.loads(r) for f in out.glob("events-*") for r in f.read_text().splitlines()]
    assert [row["kind"] for row in rows].count("compaction") == 1


def test_what_a_fork_of_codex_repeats_counts_once(library: Library) -> None:
    folder = library.home / ".codex" / "sessions"
    folder.mkdir(parents=True)
    name = "019e0000-0000-7000-8000-00000000000{}"
    first, second = name.format(1), name.format(2)
    head, *talk = codex_session()
    head = {**head, "payload": {**head["payload"], "id": first}}
    write_lines(folder / f"rollout-2026-01-02T03-04-00-{first}.jsonl", [head, *talk])
    again = [{**line, "timestamp": "2026-02-02T03:04:00Z"} for line in talk]
    fork = {**head, "payload": {**head["payload"], "id": second, "forked_from_id": first}}
    own = [codex_said("user", 9, "and now?"), codex_said("user", 9, "list files")]
    path = folder / f"rollout-2026-02-02T03-04-00-{second}.jsonl"
    write_lines(path, [fork, *again, *own])
    library.index.update()
    found = by(library.index, "agent")["codex"]
    assert (found.calls, found.output_tokens) == (1, 10)
    path.unlink()
    library.index.update()
    assert found.prompts == by(library.index, "agent")["codex"].prompts + 2


def test_a_count_that_codex_repeats_after_a_reading_counts_once(
    library: Library, tmp_path: Path
) -> None:
    """It says all tokens so far again with the next turn, which may come at any time."""
    folder = library.home / ".codex" / "sessions"
    folder.mkdir(parents=True)
    path = folder / "rollout-2026-01-02T03-04-00-019e0000-0000-7000-8000-000000000001.jsonl"
    talk = codex_session()
    (count,) = [line for line in talk if line["payload"].get("type") == "token_count"]
    count["payload"]["info"]["total_token_usage"] = {"total_tokens": 100}
    lines = [*talk, codex_said("user", 9, "and now?"), {**count, "timestamp": "2026-01-03T00:00Z"}]
    out = tmp_path / "out"
    for end in (len(talk), len(talk) + 1, len(lines)):
        write_lines(path, lines[:end])
        library.index.update()
        Shipper(out, Redactor()).ship([locate(path)])
    found = by(library.index, "agent")["codex"]
    assert (found.input_tokens, found.output_tokens) == (90, 10)
    shipped = "".join(each.read_text() for each in out.glob("events-*")).splitlines()
    assert sum(json.loads(row)["output_tokens"] for row in shipped) == 10


def test_a_deleted_session_is_not_counted(library: Library) -> None:
    library.log("one", TALK).unlink()
    library.index.update()
    log = library.log("two", TALK)
    library.index.update()
    log.unlink()
    library.index.update()
    assert library.index.statistics("day") == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            {
                "message": {
                    "usage": {
                        "input_tokens": 3,
                        "cache_read_input_tokens": 100,
                        "cache_creation_input_tokens": 10,
                        "output_tokens": 5,
                    }
                }
            },
            Usage(113, 5, 100, 0, 10),
        ),
        (
            {
                "type": "event_msg",
                "payload": {
                    "info": {
                        "total_token_usage": {"input_tokens": 9999},
                        "last_token_usage": {"input_tokens": 50, "cached_input_tokens": 40},
                    }
                },
            },
            Usage(50, 0, 40),
        ),
        ({"tokens": {"input": 7, "output": 2, "total": 9}}, Usage(7, 2)),
        ({"message": {"usage": {"input": 1, "cacheRead": 4, "output": 2}}}, Usage(5, 2, 4)),
        ({"usage": {"input_tokens": "many", "output_tokens": -4}}, None),
        ({"role": "user"}, None),
    ],
)
def test_every_way_to_say_tokens_is_understood(line: dict[str, Any], found: Usage | None) -> None:
    assert usage_of(line) == found


def test_an_answer_in_several_lines_counts_once(library: Library, tmp_path: Path) -> None:
    def part(output: int) -> dict[str, Any]:
        counts = {"input_tokens": 10, "output_tokens": output}
        message = {"id": "msg_1", "usage": counts, "content": "x", "role": "assistant"}
        return {"role": "assistant", "at": "2026-11-01T10:00:00Z", "message": message}

    library.log("one", [part(1), part(5), part(31)])
    library.index.update()
    (day,) = library.index.statistics("day")
    assert (day.input_tokens, day.output_tokens) == (10, 31)


def test_an_unknown_group_is_told(library: Library) -> None:
    library.index.update()
    with pytest.raises(UsageError, match="Expected one of day, model"):
        library.index.statistics("colour")
    assert GROUPS == STATISTICS


def test_a_session_in_which_nothing_was_said_is_neither_found_nor_counted(
    library: Library,
) -> None:
    prompt = {"role": "_system_prompt", "content": "You are careful with tides.", "model": "m"}
    library.log("empty", [prompt])
    library.index.update()
    assert library.search("tides") == []
    assert by(library.index, "model") == {}
