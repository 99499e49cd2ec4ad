"""Lists of a session's past show beside them what is at the place under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.content import Content
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip

from agent_tui.core.errors import UsageError
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Checkpoint, Record, UserMessage
from agent_tui.core.summary import ArchiveSummary, CheckpointSummary
from agent_tui.history.exchanges import Exchange, exchanges_before
from agent_tui.history.records.checkpoints import list_checkpoints
from agent_tui.ui.screens.time.archives import ArchivesScreen
from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen
from agent_tui.ui.widgets.panes.preview import Preview
from tests.ui.stage import Stage
from tests.ui.test_small_screens import Followed
from tests.waiting import rest, settle, until

ARCHIVES = [ArchiveSummary(n, "", "compaction", "", 10 * n, 30, 14) for n in (1, 2, 3)]
CHECKPOINTS = [CheckpointSummary(n, "", 1, None, 2, f"prompt {n}") for n in range(20)]
WIDE, NARROW = (120, 24), (109, 24)


class Told:
    """Gives what was said, and keeps for which places it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def __call__(self, number: int) -> Sequence[Exchange]:
        self.asked.append(number)
        if number == 2:
            raise UsageError("Archive 2 is gone.")
        return (Exchange(f"asked in {number}", f"answered in {number}"),)


async def until_shown(app: Stage, pilot: Pilot[None], text: str) -> None:
    await until(pilot, lambda: text in app.text, lambda: f"{text!r} was not shown:\n{app.text}")


async def load() -> Sequence[ArchiveSummary]:
    return ARCHIVES


async def test_an_archive_shows_what_was_said_last_in_it() -> None:
    screen = ArchivesScreen(load, Followed(), preview=Told())
    async with (app := Stage(screen=screen)).run_test(size=WIDE) as pilot:
        await until_shown(app, pilot, "answered in 3")
        await pilot.press("down")
        await until_shown(app, pilot, "Archive 2 is gone.")
        await pilot.press("down")
        await until_shown(app, pilot, "asked in 1")


async def test_a_checkpoint_shows_what_was_said_before_it_once_the_cursor_rests() -> None:
    told = Told()
    async with (app := Stage(screen=CheckpointsScreen(CHECKPOINTS, preview=told))).run_test(
        size=WIDE
    ) as pilot:
        await until_shown(app, pilot, "answered in 19")
        told.asked.clear()
        screen = app.screen
        assert isinstance(screen, CheckpointsScreen)
        for place in range(1, 15):
            screen._rows.cursor = place
        await until_shown(app, pilot, "answered in 5")
        assert told.asked == [5]


@pytest.mark.parametrize("size", [NARROW, (60, 20)])
async def test_where_there_is_no_room_nothing_is_read(size: tuple[int, int]) -> None:
    told = Told()
    screen = CheckpointsScreen(CHECKPOINTS, preview=told)
    async with (app := Stage(screen=screen)).run_test(size=size) as pilot:
        await rest(pilot, 0.3)
        assert "prompt 19" in app.text
        assert "Before" not in app.text
    assert not told.asked


async def test_a_terminal_made_wider_shows_what_is_under_the_cursor() -> None:
    screen = CheckpointsScreen(CHECKPOINTS, preview=Told())
    async with (app := Stage(screen=screen)).run_test(size=NARROW) as pilot:
        await until_shown(app, pilot, "prompt 19")
        await pilot.press("down")
        await pilot.resize_terminal(*WIDE)
        await until_shown(app, pilot, "answered in 18")


async def test_of_what_was_said_the_newest_is_shown_as_much_as_there_is_room_for() -> None:
    async def tell(number: int) -> Sequence[Exchange]:
        return tuple(Exchange(f"asked {n}", "\n\n".join("abcd")) for n in (1, 2, 3))

    screen = CheckpointsScreen(CHECKPOINTS, preview=tell)
    async with (app := Stage(screen=screen)).run_test(size=(120, 16)) as pilot:
        await until_shown(app, pilot, "asked 3")
        assert "asked 2" not in app.text
        await pilot.resize_terminal(120, 40)
        await until_shown(app, pilot, "asked 1")
        assert "asked 3" in app.text


@pytest.mark.parametrize("error", [OSError(5, "gone"), IndexError(), ValueError()])
async def test_what_cannot_be_read_is_said_in_the_pane(error: Exception) -> None:
    async def tell(number: int) -> Sequence[Exchange]:
        raise error

    screen = CheckpointsScreen(CHECKPOINTS, preview=tell)
    async with (app := Stage(screen=screen)).run_test(size=WIDE) as pilot:
        await until_shown(app, pilot, "could not be read")


def test_what_came_before_a_checkpoint_is_what_a_revert_leaves() -> None:
    said: list[Record] = [Checkpoint(0), UserMessage("one"), AssistantMessage("1")]
    later: list[Record] = [Checkpoint(1), UserMessage("two"), AssistantMessage("2")]
    assert exchanges_before([*said, *later], 1) == (Exchange("one", "1"),)
    assert exchanges_before([*said, *later], 0) == ()


@pytest.mark.parametrize("size", [WIDE, (200, 24)])
async def test_tables_and_code_keep_their_lines_beside_the_list(size: tuple[int, int]) -> None:
    table, code = "| at | m |\n|---|---|\n| Grey Bar | 1.2 |", "```py\nx = __init__\ny = 2\n```"
    answer = f"**Heights**\n\n{table}\n\n{code}"

    async def tell(number: int) -> Sequence[Exchange]:
        return (Exchange("first line\nsecond line", answer),)

    screen = ArchivesScreen(load, Followed(), preview=tell)
    async with (app := Stage(screen=screen)).run_test(size=size) as pilot:
        await until_shown(app, pilot, "Grey Bar")
        lines = app.text.splitlines()
        for together in (("at ", "│ m"), ("Grey Bar", "│ 1.2")):
            assert any(all(each in line for each in together) for line in lines), together
        for alone in ("Heights", "x = __init__", "y = 2", "first line", "second line"):
            assert any(line.strip(" │▁▂▃▄▅▆▇").endswith(alone) for line in lines), alone
        assert "|---" not in app.text


def test_a_checkpoint_of_a_step_tells_what_the_step_did() -> None:
    call = ToolCall("a", "edit_file", "{}")
    records: list[Record] = [
        Checkpoint(0, 1, None),
        UserMessage("Fix it"),
        Checkpoint(1, 1, 1),
        AssistantMessage("I look first.", (call, call)),
        Checkpoint(2, 1, 2),
        AssistantMessage("## **All** is `well`\nsince"),
        Checkpoint(3, 1, 3),
    ]
    told = [(each.prompt, each.then) for each in list_checkpoints(records)]
    assert told == [
        ("Fix it", ""),
        ("Fix it", "edit_file"),
        ("Fix it", "All is well"),
        ("Fix it", ""),
    ]


async def test_every_row_of_a_text_with_a_margin_has_it() -> None:
    words = " ".join(f"word{number}" for number in range(12))
    parts = [Content(f"  {words}"), Content(words)]
    pane = Preview()
    async with (app := Stage([pane])).run_test(size=(40, 12)) as pilot:
        pane.show_parts(parts)
        await until_shown(app, pilot, "word11")
        rows = [line for line in app.text.splitlines() if line.strip()]
        under = [row for row in rows if row.startswith("  ")]
        assert len(under) == 3
        assert " ".join(" ".join(under).split()) == words
        assert not any(row.startswith(" ") for row in rows[3:])


class Watched(Preview):
    """A preview that keeps whether a frame ever showed rows of another width than its own."""

    was_late = False

    def render_lines(self, crop: Region) -> list[Strip]:
        longest = max(
            (each.cell_length for each in self._lines if isinstance(each, Content)), default=0
        )
        self.was_late |= longest > self.scrollable_content_region.width
        return super().render_lines(crop)


async def test_the_frame_of_another_size_shows_the_rows_of_that_size() -> None:
    preview = Watched()
    async with Stage([preview]).run_test(size=(60, 12)) as pilot:
        preview.show_parts([Content("many words " * 20)])
        await settle(pilot)
        for width in (40, 30):
            await pilot.resize_terminal(width, 12)
            await settle(pilot)
        assert not preview.was_late


@pytest.mark.parametrize("width", [11, 12, 13, 21, 22, 23])
async def test_no_row_of_facts_ends_on_the_sign_between_two(width: int) -> None:
    preview = Preview()
    async with (app := Stage([preview])).run_test(size=(width, 12)) as pilot:
        preview.show_parts([Content("agent-tui · workspace · scripted · 1m ago")])
        await settle(pilot)
        rows = [row.strip() for row in app.text.splitlines()]
        assert not [row for row in rows if row.endswith("·")]
        assert "" not in rows[: preview.count]
