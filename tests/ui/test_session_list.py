"""The session list: everything is found, nothing is lost, ten thousand rows do not stall it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_tui.core.errors import SessionBusy, StorageError
from agent_tui.core.summary import SessionSummary
from agent_tui.history.exchanges import Exchange
from agent_tui.ui.screens.dialogs.keys import describe_keys
from agent_tui.ui.screens.sessions import session_table
from agent_tui.ui.screens.sessions.session_columns import stretches
from agent_tui.ui.screens.sessions.session_filter import (
    Grouping,
    Listed,
    Shown,
    arrange,
    filter_sessions,
)
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.session_preview import SessionPreview
from tests.ui.stage import Stage
from tests.waiting import rest, settle, until


def summary(number: int, title: str = "", cwd: str = "/home/me/project") -> SessionSummary:
    at = f"2026-01-{1 + number % 28:02d}T{number // 28 % 24:02d}:00:00Z"
    return SessionSummary(
        session_id=f"s{number}",
        folder=f"/sessions/s{number}",
        title=title or f"session {number}",
        cwd=cwd,
        created_at=at,
        updated_at=at,
        size_bytes=1_000 + number,
        archives=number % 3,
        first_prompt=f"prompt of {number}",
    )


class Sessions:
    """The engine's part, in memory."""

    def __init__(self, *summaries: SessionSummary) -> None:
        self.all = {each.session_id: each for each in summaries}
        self.trash: dict[str, SessionSummary] = {}
        self.deleted: list[tuple[tuple[str, ...], str]] = []
        self.error: Exception | None = None
        self.asked: list[str] = []
        self.stuck = ""
        self.messages: dict[str, int] = {}
        self.live: set[tuple[str, str]] = set()
        self.looked_for_live = 0
        self.fault: Exception | None = None
        self.rows_looked_at: list[SessionSummary] = []

    async def growing_list(self) -> AsyncIterator[list[SessionSummary]]:
        if self.error:
            raise self.error
        yield list(self.all.values())

    async def find_live(self, rows: list[SessionSummary]) -> frozenset[tuple[str, str]]:
        self.looked_for_live += 1
        self.rows_looked_at = rows
        if self.fault:
            raise self.fault
        return frozenset(self.live)

    async def rename_session(self, session_id: str, title: str, folder: str) -> None:
        self.asked.append(folder)
        self.all[session_id] = replace(self.all[session_id], title=title)

    async def delete_session(self, session_id: str, folder: str) -> str:
        if self.error:
            raise self.error
        self.asked.append(folder)
        self.trash[f"trash-{session_id}"] = self.all.pop(session_id)
        return f"trash-{session_id}"

    async def last_exchanges(self, summary: SessionSummary) -> tuple[Exchange, ...]:
        return (Exchange(f"the last prompt of {summary.session_id}", "and its answer"),)

    async def count_messages(self, summary: SessionSummary) -> int | None:
        return self.messages.get(summary.session_id)

    async def undelete_session(self, token: str) -> None:
        if self.error:
            raise self.error
        if token == self.stuck:
            raise StorageError("The disk is full.")
        back = self.trash.pop(token)
        self.all[back.session_id] = back


def show(sessions: Sessions, current: str = "") -> Stage:
    return Stage(screen=SessionListScreen(sessions, current))


def rows(app: Stage) -> Rows:
    return app.screen.query_one(Rows)


THREE = (
    summary(1, "Fix the parser"),
    summary(2, "Écrire des tests"),
    summary(3, "", "/srv/website"),
)


async def test_what_the_filter_says_is_searched_in_the_text_of_all_sessions() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("slash", *"parser", "tab", "t")
        await settle(pilot)
        assert app.results == [("search", "parser")]


async def test_tab_leads_from_the_filter_to_the_list_and_keeps_what_is_typed() -> None:
    async with (app := show(Sessions(*THREE))).run_test(size=(100, 20)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("slash", *"parser")
        await settle(pilot, workers=True)
        assert "Tab list" in app.text
        await pilot.press("tab")
        assert rows(app).has_focus
        assert rows(app).count == 1
        assert "Tab list" not in app.text


async def test_where_no_session_matches_tab_searches_the_text_for_what_is_typed() -> None:
    async with (app := show(Sessions(*THREE))).run_test(size=(100, 20)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("slash", *"zebra")
        await settle(pilot, workers=True)
        assert "No session matches. Press Tab to search what was said." in app.text
        assert "Tab search text" in app.text
        await pilot.press("tab")
        await settle(pilot)
        assert app.results == [("search", "zebra")]


@pytest.mark.every_python
async def test_the_newest_stands_first_and_enter_opens_it() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        lines = [line for line in app.text.splitlines() if "session 3" in line or "parser" in line]
        assert "session 3" in lines[0]
        await pilot.press("enter")
        await pilot.pause()
        assert app.results == [("open", "s3")]


async def test_a_second_click_opens_what_the_first_chose() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.click(Rows, offset=(6, 2))
        await pilot.pause()
        assert app.results == []
        await pilot.click(Rows, offset=(6, 2))
        await pilot.pause()
        assert app.results == [("open", "s1")]


async def test_typing_in_the_filter_narrows_the_list_and_enter_opens() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("slash", *"pars")
        await settle(pilot, workers=True)
        assert rows(app).count == 1
        await pilot.press("enter")
        await pilot.pause()
        assert app.results == [("open", "s1")]


async def test_the_filter_finds_projects_and_prompts_too() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("slash", *"website", "space", "3")
        await settle(pilot, workers=True)
        assert rows(app).count == 1
        await pilot.press("escape")
        await pilot.pause()
        assert rows(app).count == 3
        assert app.results == []


async def test_letters_that_were_left_out_are_found_where_nothing_matches_as_typed() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("slash", *"prsr")
        await settle(pilot, workers=True)
        assert rows(app).count == 1
        await pilot.press("enter")
        await pilot.pause()
        assert app.results == [("open", "s1")]


async def test_n_begins_a_new_session_and_escape_leaves() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("n")
        await pilot.pause()
        assert app.results == [("new", "")]
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await pilot.press("escape")
        await pilot.pause()
        assert app.results == [None]


async def test_a_list_that_was_left_is_not_drawn_by_what_is_read_late() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        screen = app.screen
        assert isinstance(screen, SessionListScreen)
        await pilot.press("escape")
        await settle(pilot)
        assert not screen.query("#heads")
        await screen._show_all()


async def test_a_rename_shows_and_is_kept() -> None:
    sessions = Sessions(*THREE)
    async with (app := show(sessions)).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("r", "ctrl+u", *"better", "enter")
        await settle(pilot, workers=True)
        assert sessions.all["s3"].title == "better"
        assert "better" in app.text


async def test_a_deleted_session_comes_back_with_u() -> None:
    sessions = Sessions(*THREE)
    async with (app := show(sessions)).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("d")
        await settle(pilot, workers=True)
        assert "s3" not in sessions.all
        assert rows(app).count == 2
        await pilot.press("u")
        await settle(pilot, workers=True)
        assert "s3" in sessions.all
        assert rows(app).count == 3


async def test_what_is_done_to_a_row_is_done_to_its_folder_and_a_copy_stays() -> None:
    copy = replace(THREE[2], folder="/copies/s3", updated_at="2025-01-01T00:00:00Z")
    sessions = Sessions(*THREE)
    sessions.all["copy"] = copy
    async with (app := show(sessions)).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("d")
        await settle(pilot, workers=True)
        assert sessions.asked == ["/sessions/s3"]
        assert rows(app).count == 3
        sessions.all["s3"] = sessions.all.pop("copy")
        await pilot.press("end", "r", "ctrl+u", *"new", "enter")
        await settle(pilot, workers=True)
        assert sessions.asked == ["/sessions/s3", "/copies/s3"]


async def test_the_open_session_cannot_be_deleted() -> None:
    sessions = Sessions(*THREE)
    async with show(sessions, current="s3").run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("d")
        await settle(pilot, workers=True)
        assert "s3" in sessions.all


async def test_a_failure_is_one_sentence_and_the_list_lives_on() -> None:
    sessions = Sessions(*THREE)
    async with (app := show(sessions)).run_test(size=(100, 24), notifications=True) as pilot:
        await settle(pilot, workers=True)
        sessions.error = SessionBusy("Another window holds the session (pid 12).")
        await pilot.press("d")
        await settle(pilot, workers=True)
        await rest(pilot, 0.3)
        assert "Another window holds" in app.text
        assert rows(app).count == 3


async def test_an_unreadable_store_says_why() -> None:
    sessions = Sessions()
    sessions.error = StorageError("The disk refused.")
    async with (app := show(sessions)).run_test() as pilot:
        await settle(pilot, workers=True)
        assert "The disk refused." in app.text


async def test_without_sessions_it_says_how_to_begin() -> None:
    async with (app := show(Sessions())).run_test(size=(40, 12)) as pilot:
        await settle(pilot, workers=True)
        assert "Press n" in app.text
        await pilot.press("enter", "d", "r", "u")
        await settle(pilot, workers=True)
        assert app.results == []


async def test_a_title_is_text_and_is_cleaned() -> None:
    hostile = summary(1, "[@click=app.quit]x[/] \x1b[2J\u202e")
    async with (app := show(Sessions(hostile))).run_test() as pilot:
        await settle(pilot, workers=True)
        assert "[@click=app.quit]x[/] ␛[2J<U+202E>" in app.text


async def test_the_preview_shows_what_was_said_last_once_the_cursor_rests() -> None:
    async with (app := show(Sessions(*THREE))).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        await rest(pilot, 0.3)
        assert "the last prompt of s" in app.text
        await pilot.press("down")
        await rest(pilot, 0.3)
        assert "the last prompt of s2" in app.text
        assert "and its answer" in app.text


async def test_the_preview_tells_how_many_messages_there_are_where_they_were_counted() -> None:
    sessions = Sessions(*THREE)
    sessions.messages = {"s3": 1_234}
    async with (app := show(sessions)).run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "the last prompt of s3" in app.text)
        await until(pilot, lambda: "1,234 messages" in app.text, lambda: app.text)
        await pilot.press("down")
        await until(pilot, lambda: "the last prompt of s2" in app.text)
        await settle(pilot, workers=True)
        assert " messages" not in app.text


async def test_a_deletion_is_undone_as_a_whole_after_the_list_was_left() -> None:
    sessions = Sessions(*THREE)
    async with (app := show(sessions)).run_test(size=(100, 20)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("down", "space", "space", "d")
        await until(pilot, lambda: "Delete 2 sessions?" in app.text)
        await pilot.press("y")
        await until(pilot, lambda: "Deleted 2 sessions." in app.text)
    async with (app := show(sessions)).run_test(size=(100, 20)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("d")
        await until(pilot, lambda: "Deleted “session 3”." in app.text, lambda: app.text)
    async with (app := show(sessions)).run_test(size=(100, 20)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("u")
        await until(pilot, lambda: "Restored “session 3”." in app.text)
        await pilot.press("u")
        await until(pilot, lambda: "Restored 2 sessions." in app.text)
        assert set(sessions.all) == {"s1", "s2", "s3"}


async def test_fifty_thousand_sessions_are_filtered_beside_the_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = Sessions(*(summary(number) for number in range(50_000)))
    async with (app := show(many)).run_test(size=(120, 40)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("end")
        await pilot.pause()
        assert rows(app).cursor == rows(app).count - 1 >= 49_999
        threads: list[threading.Thread] = []

        def watched(listed: Listed, typed: str, grouping: Grouping) -> Shown:
            threads.append(threading.current_thread())
            return filter_sessions(listed, typed, grouping)

        monkeypatch.setattr(session_table, "filter_sessions", watched)
        await pilot.press("slash", *"on 49999")
        await pilot.press("enter")  # quicker than what is found, and still opens it
        await settle(pilot, workers=True)
        assert app.results == [("open", "s49999")]
        assert threading.main_thread() not in threads
        assert len(threads) <= len("on 49999")


def test_the_best_matches_stand_first_and_the_groups_say_why() -> None:
    found = [
        summary(1, "Fix the parser"),
        summary(2, "Write tests", "/srv/parser"),
        replace(summary(3, "Refactor"), first_prompt="the parser is slow"),
        summary(4, "Paper sources"),
        summary(6, "Prosper"),
    ]
    shown = filter_sessions(arrange(found), "parser")
    assert [each.session_id for each in shown.sessions] == ["s2", "s1", "s3", "s4"]
    assert shown.groups == [
        ("Title or project", 0),
        ("First prompt, folder or agent", 2),
        ("Similar", 3),
    ]
    assert (len(shown.agents), shown.projects) == (1, 2)


def test_where_all_matches_are_of_one_kind_they_stand_by_age() -> None:
    lately = replace(summary(1, "Tide"), updated_at=datetime.now(UTC).isoformat())
    shown = filter_sessions(arrange([summary(2, "Tide table"), lately]), "tide")
    assert shown.groups == [("Today", 0), ("Earlier", 1)]


def test_groups_of_projects_and_agents_stand_by_their_first_session() -> None:
    found = arrange([*THREE, foreign(9)])
    shown = filter_sessions(found, "", "project")
    assert [each.session_id for each in shown.sessions] == ["s9", "s2", "s1", "s3"]
    assert shown.groups == [("/home/me/project", 0), ("/srv/website", 3)]
    shown = filter_sessions(found, "session 3", "agent")
    assert shown.groups == [("agent-tui", 0)]
    shown = filter_sessions(found, "", "agent")
    assert shown.groups == [("codex", 0), ("agent-tui", 1)]
    assert [each.session_id for each in shown.sessions] == ["s9", "s3", "s2", "s1"]


async def test_g_groups_by_project_then_by_agent_and_the_cursor_stays() -> None:
    screen = SessionListScreen(Sessions(*THREE), others=Others(foreign(9)))
    async with (app := Stage(screen=screen)).run_test(size=(140, 30)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("end")
        for hint, head in (("by project", "/srv/website"), ("by agent", "codex"), ("by time", "")):
            assert f"g {hint}" in app.text
            await pilot.press("g")
            await settle(pilot, workers=True)
            assert head in app.text
            assert screen._highlighted is not None
            assert screen._highlighted.session_id == "s1"
        assert "g by project" in app.text


def test_what_only_happens_to_hold_the_letters_is_not_similar() -> None:
    found = [summary(1, "Please add another row to the report"), summary(2, "Prsr")]
    shown = filter_sessions(arrange(found), "pars")
    assert [each.session_id for each in shown.sessions] == []
    shown = filter_sessions(arrange(found), "prs")
    assert [each.session_id for each in shown.sessions] == ["s2"]


async def test_typing_returns_to_the_best_match() -> None:
    async with (app := show(Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("end", "slash", *"session")
        await settle(pilot, workers=True)
        await pilot.press("enter")
        await pilot.pause()
        assert app.results == [("open", "s3")]


async def test_nothing_is_said_to_be_missing_while_sessions_are_read() -> None:
    may_end = asyncio.Event()

    class Slow(Sessions):
        async def growing_list(self) -> AsyncIterator[list[SessionSummary]]:
            yield [THREE[0]]
            await may_end.wait()
            yield list(self.all.values())

    async with (app := show(Slow(*THREE))).run_test(size=(100, 20)) as pilot:
        await until(pilot, lambda: "1 session in 1 project  reading…" in app.text, lambda: app.text)
        await pilot.press("slash", *"tests")
        await until(pilot, lambda: "No match yet." in app.text)
        await pilot.press(*"xyz")
        may_end.set()
        await until(pilot, lambda: "No session matches." in app.text)
        assert "reading" not in app.text


class Others:
    """Other agents' sessions, in memory."""

    def __init__(self, *found: SessionSummary, cached: int = 0) -> None:
        self.found = list(found)
        self.cached = self.found[:cached]

    def cached_rows(self) -> list[SessionSummary]:
        return self.cached

    def batches(self) -> Iterator[list[SessionSummary]]:
        yield from ([each] for each in self.found)


def foreign(number: int, source: str = "codex") -> SessionSummary:
    path = f"/home/me/.codex/{number}.jsonl"
    return replace(summary(number, f"theirs {number}"), source=source, folder=path)


async def test_sessions_of_other_agents_stand_beside_ours() -> None:
    others = Others(foreign(9), foreign(2, "claude-code"), cached=1)
    screen = SessionListScreen(Sessions(*THREE), others=others)
    async with (app := Stage(screen=screen)).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        assert "5 sessions in 2 projects" in app.text
        assert "3 agents" in app.text
        assert "AGENT" in app.text
        assert rows(app).cursor == 0
        assert "codex" in app.text
        assert "claude-code" in app.text
        assert "a only agent-tui" in app.text
        assert "a all agents" not in app.text
        await pilot.press("a")
        await settle(pilot, workers=True)
        assert "a all agents" in app.text
        assert "a only agent-tui" not in app.text
        assert "3 sessions" in app.text
        assert "theirs" not in app.text
        await pilot.press("a")
        await settle(pilot, workers=True)
        await pilot.press("d", "r")
        assert "theirs 9" in app.text
        await pilot.press("home", "enter")
        await settle(pilot, workers=True)
    assert app.results == [("view", "/home/me/.codex/9.jsonl")]


async def test_the_keys_are_named_as_they_work_now() -> None:
    screen = SessionListScreen(Sessions(*THREE), others=Others(foreign(9)))
    async with (app := Stage(screen=screen)).run_test(size=(120, 40)) as pilot:
        await settle(pilot, workers=True)
        named = {each.aside.strip(): each.term for each in describe_keys(app.screen)}
        assert named["session-list-reload"] == "Ctrl+R"
        assert "session-list-ours" in named
        assert "session-list-all" not in named


async def test_a_session_that_is_being_written_is_marked() -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    others = Others(replace(foreign(9), updated_at=now), foreign(2))
    screen = SessionListScreen(Sessions(), others=others)
    async with (app := Stage(screen=screen)).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        head, live = (line for line in app.text.split("\n") if "○" in line)
        assert "○ 1 live" in head
        assert "theirs 9" in live


async def test_a_session_in_which_nothing_was_written_for_long_is_marked_where_one_works() -> None:
    sessions = Sessions(*THREE)
    sessions.live = {("agent-tui", "/sessions/s2"), ("codex", "/home/me/.codex/2.jsonl")}
    screen = SessionListScreen(sessions, others=Others(foreign(9), foreign(2)))
    async with (app := Stage(screen=screen)).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        head, *marked = [line for line in app.text.split("\n") if "○" in line]
        assert "○ 2 live" in head
        assert len(marked) == 2
        assert "theirs 2" in marked[0] + marked[1]
        assert "Écrire" in marked[0] + marked[1]
        assert sessions.looked_for_live == 1
        sessions.live.clear()
        await pilot.press("f5")
        await settle(pilot, workers=True)
        assert "○" not in app.text


async def test_the_open_session_counts_as_nobody_elses() -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    sessions = Sessions(replace(summary(1), updated_at=now), summary(2))
    sessions.live = {("agent-tui", "/sessions/s1")}
    async with (app := show(sessions, current="s1")).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        assert "● session 1" in app.text
        assert "live" not in app.text


async def test_no_column_stands_for_compactions_that_there_are_none_of() -> None:
    async with (app := show(Sessions(summary(1)))).run_test(size=(200, 30)) as pilot:
        await settle(pilot, workers=True)
        assert "LASTED" in app.text
        assert "COMPACTED" not in app.text


@pytest.mark.parametrize(
    ("columns", "heads"),
    [
        (100, ["TITLE", "PROJECT", "WHEN"]),
        (160, ["TITLE", "PROJECT", "SIZE", "WHEN"]),
        (180, ["TITLE", "PROJECT", "SIZE", "LASTED", "WHEN"]),
        (200, ["TITLE", "PROJECT", "SIZE", "LASTED", "COMPACTED", "WHEN"]),
        (300, ["TITLE", "PROJECT", "SIZE", "LASTED", "COMPACTED", "WHEN"]),
    ],
)
async def test_there_are_as_many_columns_as_the_width_allows(
    columns: int, heads: list[str]
) -> None:
    long = replace(
        summary(1),
        created_at="2026-01-02T09:00:00Z",
        updated_at="2026-01-02T12:10:00Z",
        tokens_before=88_200,
        tokens_after=12_400,
        messages_dropped=3,
    )
    async with (app := show(Sessions(long, summary(2)))).run_test(size=(columns, 30)) as pilot:
        await settle(pilot, workers=True)
        lines = app.text.split("\n")
        head = next(line for line in lines if "TITLE" in line)
        assert head.split() == heads
        row = next(line for line in lines if "session 1" in line and "project" in line)
        figures = {"SIZE": "1.0 KB", "LASTED": "3h", "COMPACTED": "88.2k → 12.4k", "WHEN": "02 Jan"}
        for name, figure in figures.items():
            assert (figure in row.split("│")[0]) == (name in heads)
            if name in heads:
                end = head.index(name) + len(name)
                assert row[:end].endswith(figure)


async def test_the_preview_tells_what_the_last_compaction_lost() -> None:
    compacted = replace(summary(1), tokens_before=88_200, tokens_after=12_400, messages_dropped=1)
    async with (app := show(Sessions(compacted))).run_test(size=(160, 30)) as pilot:
        await settle(pilot, workers=True)
        assert "compacted 88.2k → 12.4k tokens, 1 message dropped" in app.text


async def test_every_row_names_its_project() -> None:
    async with (app := show(Sessions(*THREE))).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        lines = app.text.splitlines()
        first = next(place for place, line in enumerate(lines) if "PROJECT" in line)
        column = lines[first].index("PROJECT")
        names = [line[column : column + 10].strip() for line in lines[first + 1 : first + 4]]
        assert all(names), names


async def test_the_facts_of_a_session_stand_above_what_was_said_however_long() -> None:
    long = replace(summary(1), first_prompt="alpha\nbeta\n" + "many words " * 99)
    async with (app := show(Sessions(long))).run_test(size=(120, 16)) as pilot:
        await settle(pilot, workers=True)
        app.screen.query_one(SessionPreview).show_session(long)
        await pilot.pause()
        assert "folder    /home/me/project" in app.text
        assert "last used " in app.text
        (mark,) = [line for line in app.text.splitlines() if "\u276f alpha" in line]
        (below,) = [line for line in app.text.splitlines() if "beta" in line]
        assert mark.index("alpha") == below.index("beta")


async def test_marked_sessions_are_deleted_after_one_question_and_restored_by_one_key() -> None:
    async with (app := show(sessions := Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("space", "space")
        await settle(pilot)
        assert "2 marked" in app.text
        assert app.text.count("✓") == 2
        await pilot.press("d")
        await until(pilot, lambda: "Delete 2 sessions?" in app.text)
        assert "Undo with u." in app.text, "no key to press in place of an answer"
        assert len(sessions.all) == 3
        await pilot.press("y")
        await until(pilot, lambda: "Deleted 2 sessions. Undo with u." in app.text)
        assert set(sessions.all) == {"s1"}
        await pilot.press("u")
        await until(pilot, lambda: "Restored 2 sessions." in app.text)
        assert len(sessions.all) == 3


async def test_marked_sessions_are_exported_and_esc_unmarks() -> None:
    written: list[str] = []

    async def export(chosen: SessionSummary) -> tuple[Path, str]:
        written.append(chosen.session_id)
        redacted = "Redacted: 1 password." if chosen.session_id == "s2" else ""
        return Path("/exports") / f"{chosen.session_id}.md", redacted

    screen = SessionListScreen(Sessions(*THREE), export=export)
    async with (app := Stage(screen=screen)).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("space", "escape")
        await settle(pilot)
        assert "✓" not in app.text
        assert app.results == []
        await pilot.press("home", "space", "space", "e")
        await until(pilot, lambda: "Exported 2 sessions to /exports." in app.text)
        assert sorted(written) == ["s2", "s3"]
        assert "Secrets were redacted in 1 of them." in app.text
        await pilot.press("home", "down", "e")
        await until(pilot, lambda: "Exported to /exports/s2.md. Redacted: 1 password." in app.text)


def heading(app: Stage) -> str:
    (line,) = (line for line in app.text.splitlines() if "sessions in" in line)
    return line


async def test_the_mark_of_a_session_that_is_gone_counts_no_more() -> None:
    async with (app := show(sessions := Sessions(*THREE))).run_test() as pilot:
        await settle(pilot, workers=True)
        await pilot.press("home", "space")
        del sessions.all["s3"]
        await pilot.press("f5")
        await settle(pilot, workers=True)
        assert "marked" not in heading(app)
        await pilot.press("home", "d")
        await settle(pilot, workers=True)
        assert set(sessions.all) == {"s1"}
        await pilot.press("escape")
        await settle(pilot)
        assert app.results == [None]


async def test_a_mark_that_is_not_shown_counts_again_when_it_is() -> None:
    screen = SessionListScreen(Sessions(*THREE), others=Others(foreign(9)))
    async with (app := Stage(screen=screen)).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("home", "space", "a")
        await settle(pilot, workers=True)
        assert "✓" not in app.text
        assert "marked" not in heading(app)
        await pilot.press("a")
        await settle(pilot, workers=True)
        assert "1 marked" in heading(app)
        assert app.text.count("✓") == 1


async def test_what_an_undo_could_not_restore_is_told_and_tried_again() -> None:
    async with (app := show(sessions := Sessions(*THREE))).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("home", "space", "space", "d")
        await until(pilot, lambda: "Delete 2 sessions?" in app.text)
        await pilot.press("y")
        await until(pilot, lambda: "Deleted 2 sessions." in app.text)
        sessions.stuck = "trash-s3"
        await pilot.press("u")
        await settle(pilot, workers=True)
        assert "The disk is full." in app.text
        assert "Restored “Écrire des tests”." in app.text
        await pilot.press("u")
        await settle(pilot, workers=True)
        assert "The disk is full." in app.text
        assert "Restored" not in app.text
        sessions.stuck = ""
        await pilot.press("u")
        await settle(pilot, workers=True)
        assert "Restored “session 3”." in app.text
        assert len(sessions.all) == 3


async def test_live_sessions_are_looked_for_in_what_is_not_shown_too() -> None:
    sessions = Sessions(*THREE)
    screen = SessionListScreen(sessions, others=Others(foreign(9), foreign(2)))
    async with Stage(screen=screen).run_test(size=(120, 30)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("a", "f5")
        await settle(pilot, workers=True)
        times = [each.updated_at for each in sessions.rows_looked_at]
        assert len(times) == 5
        assert times == sorted(times, reverse=True)


async def test_a_fault_in_looking_for_live_sessions_ends_nothing() -> None:
    sessions = Sessions(*THREE)
    sessions.fault = ValueError("odd")
    async with (app := show(sessions)).run_test() as pilot:
        await settle(pilot)
        await until(pilot, lambda: sessions.looked_for_live > 0)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.results == [("open", "s2")])


async def test_stretches_of_time_have_head_rows_that_the_cursor_steps_over() -> None:
    now = datetime.now(UTC)
    ages = (timedelta(), timedelta(days=3), timedelta(days=3, hours=1), timedelta(days=400))
    some = [replace(summary(n), updated_at=(now - age).isoformat()) for n, age in enumerate(ages)]
    async with (app := show(Sessions(*some))).run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "session 3" in app.text)
        shown = [line.split()[0] for line in app.text.splitlines() if line.strip()]
        named = [
            word for word in shown if word in ("Today", "This", "Earlier", "session", "\u25cb")
        ]
        assert named[-7:-4] == ["Today", named[-6], "This"]
        assert named[-4:] == ["session", "session", "Earlier", "session"]
        seen = []
        for key in ("down", "down", "down", "up", "home", "end"):
            await pilot.press(key)
            seen.append(app.screen._highlighted.session_id)  # type: ignore[attr-defined]
        assert seen == ["s1", "s2", "s3", "s2", "s0", "s3"]


async def test_times_that_are_not_in_order_end_the_search_for_stretches() -> None:
    ages = ("2020-01-01T00:00:00Z", datetime.now(UTC).isoformat(), "", "2020-01-01T00:00:00Z")
    shown = [replace(summary(n), updated_at=at) for n, at in enumerate(ages)]
    assert len(list(stretches(shown))) <= len(shown)
