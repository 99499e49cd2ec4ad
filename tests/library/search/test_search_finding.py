"""What a query finds, and what it must not find."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from agent_tui.core.errors import UsageError
from agent_tui.core.summary_format import write_summary
from agent_tui.library.search import finding, longer_words, matching
from agent_tui.library.search.finding import passage_of
from agent_tui.library.search.line_text import read_line
from agent_tui.library.search.matching import Line, Matching
from agent_tui.library.search.query import Query
from tests.importers.foreign_files import claude_user
from tests.library.search.conftest import Library, assistant, call, user

TALK = [
    user("Fix the rounding of the tide table"),
    assistant(
        "I read the report first.",
        call("read_file", path="tidewatch/report.py"),
        model="gpt-5-mini",
    ),
    {"role": "tool", "tool_call_id": "call-read_file", "content": "whole = int(metres)"},
    assistant("", call("edit_file", path="tidewatch/report.py", old="int(", new="round(")),
    {"role": "tool", "content": "boom: no such file", "is_error": True},
]


@pytest.fixture(autouse=True)
def _sessions(library: Library) -> None:
    library.log("first", TALK)
    library.log("second", [user("潮汐表在哪里显示"), assistant("Está en la página Ünïcode")])
    library.log("third", [{"role": "_compaction", "archive": 1}, user("std::vector is empty()")])
    library.index.update()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("rounding", ["first"]),
        ("ROUND", ["first"]),
        ("rounding nowhere", []),
        ('"tide table"', ["first"]),
        ('"table tide"', []),
        ("潮汐", ["second"]),
        ("汐表在", ["second"]),
        ("unicode", ["second"]),
        ("int(metres)", ["first"]),
        ("int(meters)", []),
        ("std::vector", ["third"]),
        ("empty()", ["third"]),
        ("role:user rounding", ["first"]),
        ("role:tool rounding", []),
        ("tool:read_file", ["first"]),
        ("tool:read", ["first"]),
        ("file:report.py", ["first"]),
        ("file:tidewatch/report.py", ["first"]),
        ("file:tidewatch", ["first"]),
        ("file:other/report.py", []),
        ("touched:report.py", ["first"]),
        ("has:error", ["first"]),
        ("has:compaction", ["third"]),
        ("model:gpt-5", ["first"]),
        ("model:claude", []),
        ("rounding agent:agent-tui", ["first"]),
        ("rounding agent:codex", []),
        ("rounding project:tide", ["first"]),
        ("rounding project:elsewhere", []),
        ("rounding after:2026-10", ["first"]),
        ("rounding after:2026-12", []),
        ("rounding before:2026-10", []),
        ("report -boom", ["first"]),
        ("rounding -tide", []),
        ("has:error after:2026-10", ["first"]),
        ("has:error after:2026-12", []),
        ("agent:codex", []),
        ("session:sec", ["second"]),
        ("session:sec project:elsewhere", []),
        ("after:2026-12", []),
        ("before:2026-10", []),
    ],
)
def test_a_query_finds_what_it_says(library: Library, query: str, found: list[str]) -> None:
    assert library.ids(query) == found


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "What do you want to find"),
        ("-only", "at least one word"),
        ("agent:codex -only", "at least one word"),
        ("has:nothing", "has:error or has:compaction"),
        ("tide after:soon", "Expected a day such as 2026-01-31"),
        ('colour:"red"', "There is no filter colour:"),
        ("tide -agent:codex", "-agent: is not supported"),
        ("tide -after:7d", "-after: is not supported"),
    ],
)
def test_a_query_that_cannot_be_is_told(library: Library, query: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        library.search(query)


def test_a_hit_says_where_it_stands_and_shows_the_words(library: Library) -> None:
    (found,) = library.search('"tide table"')
    (hit,) = found.hits
    log = library.data / "projects" / "-home-ada-tide" / "first" / "context.jsonl"
    assert log.read_bytes()[hit.place :].startswith(b'{"role": "user"')
    assert "tide table" in hit.snippet
    assert "tide table" in hit.passage
    assert (found.cwd, found.matches, hit.role) == ("/home/ada/tide", 1, "user")


def test_nothing_that_a_terminal_obeys_is_in_a_snippet(library: Library) -> None:
    library.log("hostile", [user("danger \x1b]52;c;aGk=\x07 \u202e here")])
    library.index.update()
    (found,) = library.search("danger")
    assert not {"\x1b", "\x07", "\u202e"} & set(found.hits[0].snippet)


def test_a_title_is_no_second_line_and_is_found_where_nothing_else_is(library: Library) -> None:
    library.log("one", [user("Sort the shells"), {"role": "_title", "title": "Sort shells"}])
    library.log("two", [user("Something"), {"role": "_title", "title": "Pebbles"}])
    library.index.update()
    (found,) = library.search("shells")
    assert (found.matches, [hit.role for hit in found.hits]) == (1, ["user"])
    (found,) = library.search("pebbles")
    assert (found.matches, [hit.role for hit in found.hits]) == (1, ["title"])


def test_where_whole_words_are_enough_longer_ones_are_not_looked_for(library: Library) -> None:
    """What comes of a beginning that many words share costs the most, and is wanted the least."""
    library.log("whole", [user(f"buoy number {n}") for n in range(1_000)])
    library.log("longer", [user("buoyant buoys")])
    library.index.update()
    assert library.ids("buoy") == ["whole"]
    assert library.ids("buoya") == ["longer"]
    assert sorted(library.ids("buo")) == ["longer", "whole"]
    assert library.ids("buoy -numb") == ["longer"]


def test_of_a_beginning_the_words_are_asked_for(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A beginning of many words would be gathered whole before its first line is given."""
    library.log("longer", [user("buoyant buoys, a buoy")])
    library.index.update()
    asked: list[str] = []
    lines_of = Matching._lines_of

    def asking(matching: Matching, query: Query, match: str) -> Iterator[Line]:
        asked.append(match)
        return lines_of(matching, query, match)

    monkeypatch.setattr(Matching, "_lines_of", asking)
    assert library.ids("buo") == ["longer"]
    assert asked == ['"buo"', '("buoy" OR "buoyant" OR "buoys")']
    assert library.ids("buoys,a,bu -roundi") == []
    assert library.ids("int(met -buo") == ["first"]
    assert asked[-1] == '(("int metres")) NOT (("buoy" OR "buoyant" OR "buoys"))'


def test_a_beginning_of_more_words_than_are_asked_for_finds_all(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longer_words, "_MOST", 2)
    for word in ("buoyant", "buoying", "buoys"):
        library.log(word, [user(word)])
    library.index.update()
    assert sorted(library.ids("buo")) == ["buoyant", "buoying", "buoys"]
    assert library.ids("buo -buoys -buoyi") == ["buoyant"]
    assert library.ids("buoyan buo") == ["buoyant"]


@pytest.mark.parametrize("query", ["潮", "ÜNÏ", "uni", "página", "pá"])
def test_beginnings_in_any_script_are_found(library: Library, query: str) -> None:
    assert library.ids(query) == ["second"]


def test_filters_alone_find_the_sessions_that_were_written_to_last(library: Library) -> None:
    library.log("older", [user(f"ask {n}", at=f"2026-05-0{n}T10:00:00Z") for n in range(1, 6)])
    older = library.log("newest", [user("begin", at="2026-05-01T10:00:00Z")])
    library.index.update()
    with older.open("a", encoding="utf-8") as file:
        file.write(json.dumps(user("go on", at="2026-12-01T10:00:00Z")) + "\n")
    library.index.update()
    answer = library.index.search("agent:agent-tui project:tide")
    assert not answer.stopped_by
    assert [each.session_id for each in answer.sessions][0::4] == ["newest", "older"]
    newest, last = answer.sessions[0], answer.sessions[-1]
    assert (newest.updated_at, newest.matches) == ("2026-12-01T10:00:00Z", 2)
    assert (last.matches, [hit.snippet for hit in last.hits]) == (5, ["ask 5", "ask 4", "ask 3"])
    (found,) = library.search("before:2026-05-03 after:2026-05-02")
    assert (found.session_id, [hit.snippet for hit in found.hits]) == ("older", ["ask 2"])


def test_of_filters_alone_no_more_sessions_come_than_were_asked_for(library: Library) -> None:
    answer = library.index.search("agent:agent", 2)
    assert (len(answer.sessions), answer.stopped_by) == (2, "")


def test_of_a_day_alone_only_files_written_to_since_are_looked_at(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        old = [user(f"ask {n}", at="2026-05-01T10:00:00Z") for n in range(50)]
        library.log(f"old-{number}", old)
    log = library.log("young", [user("begin", at="2026-05-01T10:00:00Z")])
    library.index.update()
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(user("go on", at="2026-12-01T10:00:00Z")) + "\n")
    library.index.update()
    monkeypatch.setattr(matching, "_STEPS_BETWEEN_LOOKS", 100)
    looks = itertools.count()
    monkeypatch.setattr(Matching, "is_over", property(lambda _: next(looks) > 50))
    answer = library.index.search("after:2026-12")
    assert [each.session_id for each in answer.sessions] == ["young"]
    assert (answer.stopped_by, answer.unsearched) == ("", 0)


def test_before_a_day_alone_younger_files_are_hardly_looked_at(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        new = [user(f"ask {n}", at="2026-12-01T10:00:00Z") for n in range(300)]
        library.log(f"new-{number}", new)
    library.log("old", [user("begin", at="2026-05-01T10:00:00Z")])
    library.index.update()
    monkeypatch.setattr(matching, "_STEPS_BETWEEN_LOOKS", 100)
    looks = itertools.count()
    monkeypatch.setattr(Matching, "is_over", property(lambda _: next(looks) > 100))
    answer = library.index.search("before:2026-06")
    assert [each.session_id for each in answer.sessions] == ["old"]
    assert (answer.stopped_by, answer.unsearched) == ("", 0)


def test_an_old_line_behind_many_younger_ones_is_found_by_its_day(library: Library) -> None:
    new = [user(f"ask {n}", at="2026-12-01T10:00:00Z") for n in range(30)]
    log = library.log("one", [*new, user("kept", at="2026-05-01T10:00:00Z")])
    library.index.update()
    assert [each.hits[0].snippet for each in library.search("before:2026-06")] == ["kept"]
    for day in ("2026-04-01", "2026-12-02"):
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(user(f"said on {day}", at=f"{day}T10:00:00Z")) + "\n")
        library.index.update()
        (found,) = library.search("before:2026-04-15")
        assert [hit.snippet for hit in found.hits] == ["said on 2026-04-01"]
    assert library.search("before:2026-04-01") == []


def test_the_error_of_a_tool_is_found_by_both(library: Library) -> None:
    done = {"role": "tool", "tool_call_id": "call-write", "content": "done"}
    failed = {"role": "tool", "tool_call_id": "call-bash", "content": "no", "is_error": True}
    asked = assistant("", call("bash", command="ls"), call("write", path="a"))
    library.log("fourth", [asked, done, failed])
    library.log("fifth", [assistant("", call("bash", command="ls")), {**failed, "is_error": False}])
    library.index.update()
    (found,) = library.search("tool:bash has:error")
    assert (found.session_id, found.hits[-1].role) == ("fourth", "tool")
    assert library.ids("tool:write has:error") == []


def test_an_error_is_told_of_the_tool_that_was_called_in_an_earlier_reading(
    library: Library,
) -> None:
    log = library.log("fourth", [assistant("", call("bash", command="ls"))])
    library.index.update()
    failed = {"role": "tool", "tool_call_id": "call-bash", "content": "no", "is_error": True}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(failed) + "\n")
    library.index.update()
    assert library.ids("tool:bash has:error") == ["fourth"]
    tools = {each.name: each.errors for each in library.index.statistics("tool")}
    assert tools["bash"] == 1


@pytest.mark.parametrize("query", ["tide", "ti", "tide -boom", "agent:agent", "has:error"])
def test_a_search_that_runs_out_of_time_says_so_and_what_to_do(
    library: Library, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    library.log("late", [user(f"tides {n}") for n in range(900)])
    library.index.update()
    assert library.index.search(query).warning == ""
    monkeypatch.setattr(matching, "SECONDS", -1.0)
    answer = library.index.search(query)
    assert answer.stopped_by == "time"
    assert answer.unsearched <= 4
    assert answer.warning.startswith("Stopped after 2 s; ")
    assert answer.warning.endswith(
        "not searched. Add a word, or a filter such as project: or after:7d."
    )


def test_a_search_is_stopped_in_the_middle_of_a_long_statement(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a filter leaves out line after line, none comes back to look at the time after."""
    library.log("long", [user(f"tide {n}") for n in range(2_000)])
    library.index.update()
    monkeypatch.setattr(matching, "_STEPS_BETWEEN_LOOKS", 100)
    looks = itertools.count()
    monkeypatch.setattr(Matching, "is_over", property(lambda _: next(looks) > 50))
    answer = library.index.search("tide before:2020")
    assert (answer.sessions, answer.unsearched) == ((), 4)


def test_where_nothing_can_be_shown_a_search_ends_after_twice_its_time(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line takes long to read, and says something else since it was indexed."""
    for name in ("fourth", "fifth", "sixth"):
        library.log(name, [user(f"needle {n}") for n in range(9)])
    library.index.update()
    now = 0.0

    def read_slowly(*_: object) -> None:
        nonlocal now
        now += 0.5

    monkeypatch.setattr(matching, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(finding.Lines, "read", read_slowly)
    answer = library.index.search("needle")
    assert (answer.sessions, answer.stopped_by, answer.unsearched) == ((), "time", 3)
    assert now <= 2 * matching.SECONDS + 0.5


def test_sessions_newer_than_where_a_search_stopped_were_searched(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.log("late", [user(f"tide {n}") for n in range(30)])
    library.index.update()
    looks = itertools.count()
    monkeypatch.setattr(Matching, "is_over", property(lambda _: next(looks) > 10))
    answer = library.index.search("tide")
    assert [each.session_id for each in answer.sessions] == ["late"]
    assert (answer.stopped_by, answer.unsearched) == ("time", 3)


def test_more_lines_than_are_looked_at_are_told(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "MOST_LINES", 5)
    library.log("late", [user(f"tide {n}") for n in range(9)])
    library.index.update()
    answer = library.index.search("tide")
    assert (answer.stopped_by, answer.unsearched) == ("lines", 0)
    assert answer.warning.startswith("Only the newest 1,000 matching lines were looked at. Add")


def test_of_several_results_in_one_line_each_is_told_of_its_own_tool(library: Library) -> None:
    at = "2026-11-01T10:00:00Z"
    calls = [("c1", "Bash"), ("c2", "Grep"), ("c3", "Read")]
    asked = [{"type": "tool_use", "id": call, "name": name, "input": {}} for call, name in calls]
    results = [
        {"type": "tool_result", "tool_use_id": call, "content": call, "is_error": call != "c3"}
        for call, _ in calls
    ]
    lines = [
        {"type": "assistant", "message": {"role": "assistant", "content": asked}},
        {"type": "user", "message": {"role": "user", "content": results}},
    ]
    path = library.home / ".claude" / "projects" / "-w" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    about = {"sessionId": "s1", "cwd": "/w", "timestamp": at}
    rows = [{**line, **about, "uuid": f"u{number}"} for number, line in enumerate(lines)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    library.index.update()
    for tool, count in (("Bash", 1), ("Grep", 1), ("Read", 0)):
        assert len(library.search(f"tool:{tool} has:error role:tool")) == count, tool
    tools = {each.name: (each.calls, each.errors) for each in library.index.statistics("tool")}
    assert [tools[name] for _, name in calls] == [(1, 1), (1, 1), (1, 0)]
    agents = {each.name: each.errors for each in library.index.statistics("agent")}
    assert agents["claude-code"] == 2


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"agent:a{number}" for number in range(5_000)),
        "project:" + "a" * 60_000,
        " ".join(["word"] * 5_000),
    ],
    ids=["filters", "filter", "words"],
)
def test_a_search_that_is_much_too_long_is_refused_in_words(library: Library, text: str) -> None:
    library.log("one", [user("The tide")])
    library.index.update()
    began = time.process_time()
    with pytest.raises(UsageError, match=r"of up to 1,000 characters, got \d\d,\d\d\d\."):
        library.index.search(text)
    assert time.process_time() - began < 1


def test_a_search_for_half_a_character_finds_nothing(library: Library) -> None:
    library.log("one", [user("The tide")])
    library.index.update()
    assert library.ids("agent:\udcff") == []


def test_what_the_program_notes_of_files_is_said_by_nobody() -> None:
    noted = b'{"role":"_workspace","id":"7","why":"tide","delta":[{"path":"tide.py"}]}'
    assert read_line(noted) is None
    assert read_line(b'{"role":"user","content":"tide"}') is not None


def test_a_passage_begins_near_the_word_and_keeps_its_lines() -> None:
    text = "first line\n" * 200 + "the tide comes\nand goes\n" + "last line\n" * 200
    passage = passage_of(text, ("tide",))
    assert passage.startswith("… first line\n")
    assert "the tide comes\nand goes\n" in passage
    assert passage.endswith(" …")
    assert len(passage) < 1_300
    assert passage_of("the tide", ("tide",)) == "the tide"


def test_what_stands_for_compacted_messages_comes_after_what_was_said(library: Library) -> None:
    told = write_summary("They mended the buoy.", index={"Names": ("mend_buoy", "lantern")})
    parts = [{"type": "text", "text": part.text} for part in told]
    summary = {**user("", origin="compaction"), "content": parts}
    library.log("s", [user("Why does the buoy drift?"), summary])
    library.index.update()
    (found,) = library.search("buoy")
    assert [hit.role for hit in found.hits] == ["user", "system"]
    assert found.hits[1].passage == "They mended the buoy."
    assert not library.search("lantern")


def test_nobody_said_the_summary_that_another_agent_logs_as_a_prompt() -> None:
    summary = claude_user("s1", None, 8, "This session is being continued", isCompactSummary=True)
    said = read_line(json.dumps(summary).encode())
    assert said is not None
    assert said.is_summary
    assert said.role == "system"


def test_each_line_names_its_own_file(library: Library) -> None:
    old = library.log("s", [user("Is jade a stone?")], name="context.jsonl.1")
    new = library.log("s", [user("Is coal a stone?", at="2026-11-01T11:00:00Z")])
    library.index.update()
    (found,) = library.search("stone")
    assert {(hit.snippet, hit.path, found.has_live(hit)) for hit in found.hits} == {
        ("Is jade a stone?", str(old), False),
        ("Is coal a stone?", str(new), True),
    }
