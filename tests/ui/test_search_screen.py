"""The search screen: what is typed is looked for, and a line leads to its session."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import Static

from agent_tui.core.errors import StorageError, UsageError
from agent_tui.library.search.finding import FoundSession, Hit, SearchAnswer
from agent_tui.ui.screens.sessions.search import SearchScreen
from agent_tui.ui.widgets.lists.rows import Rows
from tests.ui.stage import Stage


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
        self.stopped = SearchAnswer()

    async def search(self, text: str, limit: int = 50) -> SearchAnswer:
        self.asked.append(text)
        if self.error:
            raise self.error
        return replace(self.stopped, sessions=tuple(self.sessions))

    async def update(self) -> None:
        if isinstance(self.error, StorageError):
            raise self.error


async def test_what_is_typed_is_looked_for_once_typing_pauses() -> None:
    search = Search(found("one", "the tide table", "another"))
    async with Stage(screen=SearchScreen(search)).run_test() as pilot:
        await pilot.press(*"tide")
        await pilot.pause(0.3)
        assert search.asked == ["tide"]
        assert pilot.app.screen.query_one("#search-rows", Rows).count == 3


async def test_a_line_leads_to_its_session_and_place() -> None:
    search = Search(found("one", "first", "second"))
    stage = Stage(screen=SearchScreen(search, "tide"))
    async with stage.run_test() as pilot:
        await pilot.pause(0.3)
        await pilot.press("down", "down", "enter")
        await pilot.pause()
    ((session, hit),) = stage.results
    assert (session.session_id, hit.place) == ("one", 1)


async def test_a_query_that_cannot_be_is_told_and_typing_goes_on() -> None:
    search = Search()
    search.error = UsageError("There is no filter colour:.")
    async with Stage(screen=SearchScreen(search, "colour:")).run_test() as pilot:
        await pilot.pause(0.3)
        rows = pilot.app.screen.query_one("#search-rows", Rows)
        assert rows.count == 0
        search.error = None
        search.sessions = [found("one", "x")]
        await pilot.press("a")
        await pilot.pause(0.3)
        assert rows.count == 2


async def test_an_index_that_cannot_be_made_is_told() -> None:
    search = Search()
    search.error = StorageError("The index cannot be used.")
    async with Stage(screen=SearchScreen(search)).run_test() as pilot:
        await pilot.pause(0.2)
        assert "cannot be used" in str(pilot.app.screen.query_one("#heading").render())


async def test_the_cursor_stays_on_its_line_when_the_index_has_grown() -> None:
    search = Search(found("one", "first", "second"))
    screen = SearchScreen(search, "tide")
    async with Stage(screen=screen).run_test() as pilot:
        await pilot.pause(0.3)
        await pilot.press("down", "down")
        search.sessions.insert(0, found("newer", "third"))
        screen._update()
        await pilot.pause(0.3)
        rows = screen.query_one("#search-rows", Rows)
        assert (rows.count, rows.cursor) == (5, 4)
        await pilot.press("x")
        await pilot.pause(0.3)
        assert rows.cursor == 0


async def test_the_line_that_enter_opens_is_filled_while_the_query_has_the_focus() -> None:
    async with Stage(
        screen=SearchScreen(Search(found("one", "a line")), "tide")
    ).run_test() as pilot:
        await pilot.pause(0.3)
        rows = pilot.app.screen.query_one("#search-rows", Rows)
        before = rows.get_component_styles("rows--cursor").background
        rows.focus()
        await pilot.pause()
        assert before == rows.get_component_styles("rows--cursor").background


async def test_a_search_that_was_cut_off_says_what_it_left_out() -> None:
    search = Search(found("one", "a line"))
    search.stopped = SearchAnswer(stopped_by="time", unsearched=31)
    async with Stage(screen=SearchScreen(search, "tide")).run_test(size=(60, 20)) as pilot:
        await pilot.pause(0.3)
        told = pilot.app.screen.query_one("#left-out", Static)
        assert (told.display, told.size.height) == (True, 2)
        assert "Stopped after 2 s; 31 sessions were not searched. Add a" in str(told.render())
        search.sessions.clear()
        await pilot.press("s")
        await pilot.pause(0.3)
        assert not told.display
        rows = pilot.app.screen.query_one("#search-rows", Rows)
        assert "Nothing found yet. Stopped after 2 s; 31 sessions" in str(rows._empty)
        search.stopped = SearchAnswer()
        await pilot.press("x")
        await pilot.pause(0.3)
        assert "Nothing found." in str(rows._empty)
