"""What a query finds, and what it must not find."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_tui.core.errors import UsageError
from agent_tui.library.search import longer_words
from agent_tui.library.search.finding import Finder
from agent_tui.library.search.query import Query
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
    ],
)
def test_a_query_finds_what_it_says(library: Library, query: str, found: list[str]) -> None:
    assert library.ids(query) == found


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "What do you want to find"),
        ("-only", "at least one word"),
        ("has:nothing", "has:error or has:compaction"),
        ("tide after:soon", "Expected a day such as 2026-01-31"),
        ('colour:"red"', "There is no filter colour:"),
        ("tide -agent:codex", "-agent: cannot be searched"),
        ("tide -after:7d", "-after: cannot be searched"),
    ],
)
def test_a_query_that_cannot_be_is_told(library: Library, query: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        library.index.search(query)


def test_a_hit_says_where_it_stands_and_shows_the_words(library: Library) -> None:
    (found,) = library.index.search('"tide table"')
    (hit,) = found.hits
    log = library.data / "projects" / "-home-ada-tide" / "first" / "context.jsonl"
    assert log.read_bytes()[hit.place :].startswith(b'{"role": "user"')
    assert "tide table" in hit.snippet
    assert (found.cwd, found.matches, hit.role) == ("/home/ada/tide", 1, "user")


def test_nothing_that_a_terminal_obeys_is_in_a_snippet(library: Library) -> None:
    library.log("hostile", [user("danger \x1b]52;c;aGk=\x07 \u202e here")])
    library.index.update()
    (found,) = library.index.search("danger")
    assert not {"\x1b", "\x07", "\u202e"} & set(found.hits[0].snippet)


def test_a_title_is_no_second_line_and_is_found_where_nothing_else_is(library: Library) -> None:
    library.log("one", [user("Sort the shells"), {"role": "_title", "title": "Sort shells"}])
    library.log("two", [user("Something"), {"role": "_title", "title": "Pebbles"}])
    library.index.update()
    (found,) = library.index.search("shells")
    assert (found.matches, [hit.role for hit in found.hits]) == (1, ["user"])
    (found,) = library.index.search("pebbles")
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
    lines_of = Finder._lines_of

    def asking(finder: Finder, query: Query, match: str) -> Iterator[tuple[int, int, str]]:
        asked.append(match)
        return lines_of(finder, query, match)

    monkeypatch.setattr(Finder, "_lines_of", asking)
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
