"""The search screen: what is typed is looked for, and a line leads to its session."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.errors import StorageError, UsageError
from agent_tui.library.search.finding import FoundSession, Hit, SearchAnswer
from agent_tui.ui.screens.sessions import search as search_screen
from agent_tui.ui.screens.sessions.search import SearchScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.preview import Preview
from tests.ui.stage import Stage
from tests.waiting import rest, until


def found(session: str, *snippets: str, title: str = "") -> FoundSession:
    hits = tuple(Hit(i, "2026-11-01T10:00:00Z", "user", text) for i, text in enumerate(snippets))
    at = "2026-11-01T10:00:00Z"
    about = (title or session, "/home/ada/tide", "gpt-5-mini", at)
    return FoundSession(session, "codex", f"/logs/{session}", *about, len(hits), 1.0, hits)


class Search:
    """The runtime's part, in memory."""

    def __init__(self, *sessions: FoundSession) -> None:
        self.sessions = list(sessions)
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.trouble: StorageError | None = None
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.stopped = SearchAnswer()

    async def search(self, text: str, limit: int = 50) -> SearchAnswer:
        self.asked.append(text)
        if self.error:
            raise self.error
        return replace(self.stopped, sessions=tuple(self.sessions))

    async def update(self) -> None:
        await self.may_end.wait()
        if self.trouble:
            raise self.trouble
        if isinstance(self.error, StorageError):
            raise self.error


async def test_what_is_typed_is_looked_for_once_typing_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_screen, "_PAUSE_SECONDS", 1.0)
    search = Search(found("one", "the tide table", "another"))
    async with Stage(screen=SearchScreen(search)).run_test() as pilot:
        await pilot.press(*"tide")
        await until(pilot, lambda: search.asked)
        rows = pilot.app.screen.query_one("#search-rows", Rows)
        await until(pilot, lambda: rows.count == 3)
        assert search.asked == ["tide"]


async def test_a_line_leads_to_its_session_and_place() -> None:
    search = Search(found("one", "first", "second"))
    stage = Stage(screen=SearchScreen(search, "tide"))
    async with stage.run_test() as pilot:
        await rest(pilot, 0.3)
        await pilot.press("down", "down", "enter")
        await pilot.pause()
    ((session, hit),) = stage.results
    assert (session.session_id, hit.place) == ("one", 1)


async def test_a_query_that_cannot_be_is_told_and_typing_goes_on() -> None:
    search = Search()
    search.error = UsageError("There is no filter colour:.")
    async with Stage(screen=SearchScreen(search, "colour:")).run_test() as pilot:
        await rest(pilot, 0.3)
        rows = pilot.app.screen.query_one("#search-rows", Rows)
        assert rows.count == 0
        search.error = None
        search.sessions = [found("one", "x")]
        await pilot.press("a")
        await rest(pilot, 0.3)
        assert rows.count == 2


async def test_an_index_that_cannot_be_made_is_told() -> None:
    search = Search()
    search.error = StorageError("The index cannot be used.")
    async with Stage(screen=SearchScreen(search)).run_test() as pilot:
        await rest(pilot, 0.2)
        assert "cannot be used" in str(pilot.app.screen.query_one("#heading").render())


async def test_why_the_index_is_not_up_to_date_is_told_while_words_are_typed() -> None:
    search = Search(found("one", "first", "second"))
    search.trouble = StorageError("Results may be incomplete.")
    async with (stage := Stage(screen=SearchScreen(search))).run_test() as pilot:
        await pilot.press("a")
        await until(pilot, lambda: "2 lines in 1 session" in stage.text)
        assert "Results may be incomplete." in stage.text


async def test_an_index_that_could_not_be_made_is_not_waited_for() -> None:
    search = Search()
    search.error = StorageError("There is no index yet.")
    search.may_end.clear()
    async with (stage := Stage(screen=SearchScreen(search, "tide"))).run_test() as pilot:
        await until(pilot, lambda: "Building the index" in stage.text)
        search.may_end.set()
        await until(pilot, lambda: "Building the index" not in stage.text)
        assert stage.text.count("There is no index yet.") == 2


async def test_nothing_is_said_to_be_missing_while_the_index_is_made() -> None:
    search = Search()
    search.may_end.clear()
    async with (stage := Stage(screen=SearchScreen(search, "tide"))).run_test() as pilot:
        await until(pilot, lambda: "Nothing found yet." in stage.text)
        assert "updating the index" in stage.text
        search.sessions = [found("one", "tide table")]
        search.may_end.set()
        await until(pilot, lambda: "1 line in 1 session" in stage.text)
        assert "updating the index" not in stage.text


async def test_nothing_found_is_final_once_the_index_is_made() -> None:
    async with (stage := Stage(screen=SearchScreen(Search(), "tide"))).run_test() as pilot:
        await until(pilot, lambda: "Nothing found." in stage.text)


async def test_a_mistake_in_a_search_is_told_while_the_index_is_made() -> None:
    search = Search()
    search.error = UsageError("There is no filter colour:.")
    search.may_end.clear()
    async with (stage := Stage(screen=SearchScreen(search, "colour:"))).run_test() as pilot:
        await until(pilot, lambda: "There is no filter colour:." in stage.text)
        search.may_end.set()


async def test_the_cursor_stays_on_its_line_when_the_index_has_grown() -> None:
    search = Search(found("one", "first", "second"))
    screen = SearchScreen(search, "tide")
    async with Stage(screen=screen).run_test() as pilot:
        await rest(pilot, 0.3)
        await pilot.press("down", "down")
        search.sessions.insert(0, found("newer", "third"))
        screen._update()
        await rest(pilot, 0.3)
        rows = screen.query_one("#search-rows", Rows)
        assert (rows.count, rows.cursor) == (5, 4)
        await pilot.press("x")
        await rest(pilot, 0.3)
        assert rows.cursor == 0


async def test_the_line_that_enter_opens_is_filled_while_the_query_has_the_focus() -> None:
    async with Stage(
        screen=SearchScreen(Search(found("one", "a line")), "tide")
    ).run_test() as pilot:
        await rest(pilot, 0.3)
        rows = pilot.app.screen.query_one("#search-rows", Rows)
        before = rows.get_component_styles("rows--cursor").background
        rows.focus()
        await pilot.pause()
        assert before == rows.get_component_styles("rows--cursor").background


async def test_a_search_that_was_cut_off_says_what_it_left_out() -> None:
    search = Search(found("one", "a line"))
    search.stopped = SearchAnswer(stopped_by="time", unsearched=31)
    async with Stage(screen=SearchScreen(search, "tide")).run_test(size=(60, 20)) as pilot:
        await rest(pilot, 0.3)
        told = pilot.app.screen.query_one("#left-out", Static)
        assert (told.display, told.size.height) == (True, 2)
        assert "Stopped after 2 s; 31 sessions were not searched. Add a" in str(told.render())
        search.sessions.clear()
        await pilot.press("s")
        await rest(pilot, 0.3)
        assert not told.display
        rows = pilot.app.screen.query_one("#search-rows", Rows)
        assert "Nothing found yet. Stopped after 2 s; 31 sessions" in str(rows._empty)
        search.stopped = SearchAnswer()
        await pilot.press("x")
        await rest(pilot, 0.3)
        assert "Nothing found." in str(rows._empty)


async def test_a_table_of_an_answer_is_told_by_its_cells() -> None:
    row = "The sign. | height | now | |---|---| | -0.4 | +0.4 m | and a|b"
    search = Search(found("one", row, "ls | wc"))
    async with (app := Stage(screen=SearchScreen(search, "sign"))).run_test(
        size=(120, 20)
    ) as pilot:
        await until(pilot, lambda: "The sign. · height · now · -0.4 · +0.4 m · and" in app.text)
        assert "ls | wc" in app.text


async def test_lines_that_are_found_and_not_shown_are_told() -> None:
    search = Search(replace(found("one", "first", "second"), matches=4))
    async with (stage := Stage(screen=SearchScreen(search, "tide"))).run_test() as pilot:
        await until(pilot, lambda: "4 lines in 1 session" in stage.text)
        assert "4 lines in 1 session, best 2 shown" in stage.text


async def test_how_old_a_session_is_stands_at_the_edge_of_the_list() -> None:
    search = Search(found("one", "word " * 60, title="The tides"))
    screen = SearchScreen(search, "tide")
    async with (stage := Stage(screen=screen)).run_test(size=(200, 20)) as pilot:
        await until(pilot, lambda: "The tides" in stage.text)
        await pilot.pause()
        region = screen.query_one("#search-rows", Rows).scrollable_content_region
        lines = [line[region.x : region.right] for line in stage.text.splitlines()]
        rows = [line for line in lines if "The tides" in line or "word" in line]
        assert [len(row.rstrip()) for row in rows] == [region.width, region.width]


async def test_what_is_said_around_a_line_stands_beside_it_with_the_words_looked_for() -> None:
    passage = "First.\nThe Tide comes,\nand the tide goes."
    session = found("one", "… the tide goes.")
    session = replace(session, hits=(replace(session.hits[0], passage=passage),))
    search = Search(session)
    search.stopped = SearchAnswer(marks=("tide",))
    screen = SearchScreen(search, "tide")
    async with (stage := Stage(screen=screen)).run_test(size=(120, 20)) as pilot:
        await until(pilot, lambda: "The Tide comes," in stage.text)
        shown = next(line for line in screen.query_one(Preview)._lines if "Tide" in str(line))
        assert isinstance(shown, Content)
        assert [shown.plain[s.start : s.end] for s in shown.spans if "bold" in str(s.style)] == [
            "Tide"
        ]
        await pilot.resize_terminal(80, 20)
        await until(pilot, lambda: "The Tide comes," not in stage.text)
