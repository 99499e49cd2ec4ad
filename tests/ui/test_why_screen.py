"""The screen of who wrote a file: each call with the prompt behind it, and its copies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_tui.core.errors import StorageError
from agent_tui.library.search.why import WritingCall
from agent_tui.ui.screens.sessions.why import WhyScreen
from agent_tui.ui.widgets.lists.rows import Rows
from tests.ui.stage import Stage
from tests.waiting import settle

FOUND = WritingCall(
    session_id="S",
    source="claude-code",
    path="/home/ada/S.jsonl",
    title="Round the table",
    place=3,
    at="2026-11-01T10:00:00Z",
    tools=("Edit",),
    said="",
    prompt="Round it",
    in_context=True,
    copied_to=("T", "U"),
)


class Service:
    """The runtime's part, in memory."""

    async def why(self, target: str, cwd: Path) -> list[WritingCall]:
        return [FOUND]

    async def update(self) -> None:
        pass


async def test_a_call_is_shown_with_its_prompt_and_the_sessions_that_repeat_it() -> None:
    screen = WhyScreen(Service(), "src/tide.py", Path("/w"))
    async with (stage := Stage(screen=screen)).run_test(size=(110, 30)) as pilot:
        await settle(pilot, workers=True)
        lines = [line.strip() for line in stage.text.splitlines()]
        assert "Who wrote src/tide.py" in stage.text
        assert "Round it" in stage.text
        kept = "the prompt was still in the context · claude-code · continued in T, U"
        assert any(kept in line for line in lines), lines


class BusyService(Service):
    """Its index is written by another process."""

    async def update(self) -> None:
        raise StorageError("Results may be incomplete.")


async def test_that_the_index_is_not_up_to_date_is_told_beside_what_was_found() -> None:
    screen = WhyScreen(BusyService(), "src/tide.py", Path("/w"))
    async with (stage := Stage(screen=screen)).run_test(size=(110, 30)) as pilot:
        await settle(pilot, workers=True)
        assert "Round it" in stage.text
        assert "Results may be incomplete." in stage.text


async def test_how_old_a_call_is_stands_at_the_edge_of_the_page_not_of_the_screen() -> None:
    screen = WhyScreen(Service(), "src/tide.py", Path("/w"))
    async with (stage := Stage(screen=screen)).run_test(size=(200, 30)) as pilot:
        await settle(pilot, workers=True)
        (row,) = (line for line in stage.text.splitlines() if "Round the table" in line)
        page = stage.screen.query_one(Rows).scrollable_content_region
        assert (page.x, page.right) == (44, 154)
        assert (len(row) - len(row.lstrip()), len(row.rstrip())) == (page.x, page.right)


class LongService(Service):
    """It knows five calls."""

    async def why(self, target: str, cwd: Path) -> list[WritingCall]:
        return [replace(FOUND, prompt=f"Prompt {number}") for number in range(5)]


async def test_the_cursor_goes_from_call_to_call_and_shows_all_lines_of_one() -> None:
    screen = WhyScreen(LongService(), "src/tide.py", Path("/w"))
    async with (stage := Stage(screen=screen)).run_test(size=(100, 14)) as pilot:
        await settle(pilot, workers=True)
        rows = screen.query_one(Rows)
        seen = []
        for _ in range(5):
            seen.append((rows.cursor, f"Prompt {rows.cursor // 4}" in stage.text))
            await pilot.press("down")
        assert seen == [(at, True) for at in (0, 4, 8, 12, 16)]
        await pilot.press("home")
        await pilot.click(Rows, offset=(20, 5))  # the prompt of the second
        assert rows.cursor == 4
        await pilot.click(Rows, offset=(20, 3))  # a blank row
        assert rows.cursor == 4
