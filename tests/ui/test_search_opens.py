"""Enter on a line that a search found opens its session at that line, marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_tui.resources import demo_folder
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.sessions.search import SearchScreen
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.widgets.prompt.line_input import LineInput
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.importers.foreign_files import called, claude_answer, claude_user, returned, said
from tests.importers.session_files import write_lines
from tests.ui.stage import shown
from tests.waiting import until


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def long_session(turns: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    parent: str | None = None
    for n in range(turns):
        call = called(f"t{n}", "Bash", command="make")
        lines += [
            claude_user(f"u{n}", parent, n, f"ask {n} " + "rain " * 60),
            claude_answer(f"a{n}", f"u{n}", n, f"m{n}", said(f"answer {n}"), call),
            claude_user(f"r{n}", f"a{n}", n, [returned(f"t{n}", f"printed pebble{n}\n")]),
        ]
        parent = f"r{n}"
    return lines


def keep(tmp_path: Path, turns: int) -> Path:
    path = tmp_path / "home" / ".claude" / "projects" / "-w" / "S.jsonl"
    path.parent.mkdir(parents=True)
    return write_lines(path, long_session(turns))


@pytest.mark.parametrize(
    ("query", "said_there", "not_there"),
    [('"ask 7"', "ask 7 rain", "ask 50 "), ("pebble9", "pebble9", "ask 50 ")],
)
async def test_another_agents_session_opens_at_the_line(
    tmp_path: Path, query: str, said_there: str, not_there: str
) -> None:
    keep(tmp_path, 51)
    app = AgentTui(Launch(tmp_path, demo=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.chat.session is not None)
        await pilot.press("alt+s")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        app.screen.query_one(LineInput).value = query
        await until(pilot, lambda: "1 line in 1 session" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: said_there in shown(app))
        assert not_there not in shown(app)
        assert query.strip('"') in marked(app)


def marked(app: AgentTui) -> str:
    timeline = app.screen.query_one(Timeline)
    strips = [timeline.render_line(row) for row in range(timeline.size.height)]
    return "".join(
        segment.text
        for strip in strips
        for segment in strip
        if segment.style is not None and segment.style.reverse
    )


async def test_our_session_opens_at_the_line_until_the_focus_leaves_it(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "projects" / "-w" / "ours"
    folder.mkdir(parents=True)
    lines: list[dict[str, Any]] = [
        {"role": "_session", "format": 1, "session_id": "ours", "cwd": "/w", "uuid": "h"}
    ]
    for number in range(60):
        at = f"2026-11-01T10:{number:02}:00Z"
        lines += [
            {"role": "user", "content": f"ask {number} " + "rain " * 60, "at": at},
            {"role": "assistant", "content": f"answer {number}", "at": at},
        ]
    write_lines(folder / "context.jsonl", lines)
    app = AgentTui(Launch(tmp_path, demo=True, scenario=demo_folder() / "scenario.toml"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.chat.session is not None)
        await pilot.press("alt+s")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        app.screen.query_one(LineInput).value = '"answer 8"'
        await until(pilot, lambda: "1 line in 1 session" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.chat_screen and "answer 8" in shown(app))
        assert app.chat.session is not None
        assert app.chat.session.session_id == "ours"
        assert "answer 59" not in shown(app)
        await until(pilot, lambda: "answer 8" in marked(app))
        app.chat.prompt_box.focus()
        await until(pilot, lambda: "answer 8" not in marked(app))


async def test_the_open_session_goes_to_the_line_also_in_the_demo(tmp_path: Path) -> None:
    app = AgentTui(Launch(tmp_path, demo=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.chat.session is not None)
        session = app.chat.session
        assert session is not None
        for word in ("pebble", "boulder"):
            await session.run_turn(f"What is a {word}? " + "rain " * 200)
        app.chat.log.load()
        await pilot.press("alt+s")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        app.screen.query_one(LineInput).value = "pebble"
        await until(pilot, lambda: "in 1 session" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: not isinstance(app.screen, SearchScreen))
        assert app.screen is app.chat_screen
        assert app.chat.session is session
        await until(pilot, lambda: "pebble" in marked(app))


async def test_back_from_a_search_that_was_opened_in_the_list_is_the_list(tmp_path: Path) -> None:
    keep(tmp_path, 2)
    app = AgentTui(Launch(tmp_path, demo=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.chat.session is not None)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, SessionListScreen))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SessionListScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat_screen)


async def test_a_line_of_an_older_log_opens_there_or_where_it_is_again(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "projects" / "-w" / "ours"
    folder.mkdir(parents=True)
    begin = {"role": "_session", "format": 1, "session_id": "ours", "cwd": "/w", "uuid": "h"}

    def asked(text: str, minute: int) -> dict[str, Any]:
        at = f"2026-11-01T10:{minute:02}:00Z"
        return {"role": "user", "content": text, "at": at, "uuid": f"u{minute}"}

    again = asked("Is flint a stone?", 1)
    write_lines(folder / "context.jsonl.1", [begin, again, asked("Is jade a stone?", 2)])
    write_lines(folder / "context.jsonl", [begin, again, asked("Is coal a stone?", 3)])
    app = AgentTui(Launch(tmp_path, demo=True, scenario=demo_folder() / "scenario.toml"))
    async with app.run_test(size=(120, 40)) as pilot:

        async def open_line(text: str) -> None:
            await pilot.press("alt+s")
            await until(pilot, lambda: isinstance(app.screen, SearchScreen))
            screen = app.screen
            assert isinstance(screen, SearchScreen)
            screen.query_one(LineInput).value = "stone"
            await until(pilot, lambda: "3 lines in 1 session" in shown(app))
            hits = [row.hit.snippet if row.hit else "" for row in screen._found]
            await pilot.press(*["down"] * hits.index(text), "enter")
            await until(pilot, lambda: not isinstance(app.screen, SearchScreen))

        await until(pilot, lambda: app.chat.session is not None)
        for text in ("Is coal a stone?", "Is flint a stone?"):
            await open_line(text)
            await until(pilot, lambda: app.screen is app.chat_screen and "Is coal" in shown(app))
            await until(pilot, lambda: "stone" in marked(app))
            app.chat.prompt_box.focus()
        await open_line("Is jade a stone?")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "Is jade" in shown(app) and "stone" in marked(app))
