"""The scroll bar marks prompts, steps, compactions and errors; a click on a mark leads there."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent_tui.core.jsonl import encode
from agent_tui.core.messages import CommandDisplay
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Record,
    ToolMessage,
    TurnEndRecord,
    UserMessage,
)
from agent_tui.core.shell import SHELL
from agent_tui.history.records.indexed_records import IndexedRecords
from agent_tui.ui.blocks import CheckpointBlock, Landmark, NoticeBlock
from agent_tui.ui.themes.theme import ANSI, DARK
from agent_tui.ui.widgets.timeline.block_list import BlockList
from agent_tui.ui.widgets.timeline.minimap import Minimap
from tests.ui.test_timeline_long import count_calls
from tests.ui.timeline_stage import TimelineStage

HEIGHT = 30
WHERE = {30: "─", 90: "✗", 120: "─", 180: "≡", 240: "─", 270: "✗"}


def session() -> list[Record]:
    """Answers of a line, in which something else stands at five places."""
    records: list[Record] = [AssistantMessage(f"answer {n}") for n in range(300)]
    for place in (30, 120, 240):
        records[place : place + 2] = [Checkpoint(place, 1, 0), UserMessage(f"prompt {place}")]
    records[90] = ToolMessage("x", "No such file", is_error=True)
    records[270] = UserMessage("$ false", SHELL, display=CommandDisplay("false", exit_code=1))
    records[180] = CompactionRecord("auto", "last-messages", 52_100, 9_800, 2)
    return records


async def bar_cells(app: TimelineStage, pilot: Pilot[None]) -> list[str]:
    """What stands in the bar."""
    await pilot.pause()
    strips = app.screen._compositor.render_strips()
    return [strip.text[-1] for strip in strips]


@pytest.mark.parametrize("theme", [DARK.name, ANSI.name])
async def test_marks_stand_at_their_proportional_places(theme: str) -> None:
    async with (app := TimelineStage(session(), theme=theme)).run_test(size=(80, HEIGHT)) as pilot:
        cells = await bar_cells(app, pilot)
        found = {y: cell for y, cell in enumerate(cells) if cell in "─≡✗"}
        assert list(found.values()) == list(WHERE.values())
        for y, place in zip(found, WHERE, strict=True):
            assert abs(y - place * HEIGHT / 300) <= 1


async def test_a_mark_under_the_thumb_is_seen_and_the_thumb_too() -> None:
    async with (app := TimelineStage(session())).run_test(size=(80, HEIGHT)) as pilot:
        await bar_cells(app, pilot)
        app.timeline.go_to_record(120)
        await pilot.pause()
        cells = await bar_cells(app, pilot)
        bar = app.timeline.vertical_scrollbar
        marked = [y for y in range(HEIGHT) if cells[y] == "─" and bar._has_thumb(y)]
        assert marked
        strip = bar.render_lines(bar.region.reset_offset)[marked[0]]
        style = next(iter(strip)).style
        assert style is not None
        assert style.bgcolor is not None
        assert style.bgcolor.name == app.theme_variables["line"].lower()


async def test_a_click_on_a_mark_leads_to_what_it_stands_for() -> None:
    async with (app := TimelineStage(session())).run_test(size=(80, HEIGHT)) as pilot:
        cells = await bar_cells(app, pilot)
        bar = app.timeline.vertical_scrollbar
        await pilot.click(bar, offset=(0, cells.index("≡")))
        await pilot.pause()
        assert "compacted" in app.text
        assert app.timeline._reading.top[0] == 180
        assert not app.timeline.at_end
        await pilot.click(bar, offset=(0, cells.index("─")))
        await pilot.pause()
        assert app.timeline._reading.top[0] == 30


async def test_what_happens_now_is_marked_as_it_comes() -> None:
    records = [AssistantMessage(f"answer {n}") for n in range(100)]
    async with (app := TimelineStage(records)).run_test(size=(80, HEIGHT)) as pilot:
        assert not {"─", "✗"} & set(await bar_cells(app, pilot))
        app.timeline.append(CheckpointBlock(7))
        index = app.timeline.append(NoticeBlock("The server is away"))
        for n in range(30):
            app.timeline.append(NoticeBlock(f"line {n}"))
        await pilot.pause()
        assert "✗" not in (cells := await bar_cells(app, pilot))
        assert "─" in cells
        app.timeline.replace(index, NoticeBlock("The server is away", "error"))
        await pilot.pause()
        assert "✗" in await bar_cells(app, pilot)


def with_steps() -> list[Record]:
    """The same, with steps: some behind nothing, and one close to everything else."""
    records = session()
    for place in (271, 239, 210, 181, 150, 92, 33, 10):
        records[place:place] = [Checkpoint(place, 1, 1)]
    return records


async def test_steps_are_marked_weaker_and_cover_nothing() -> None:
    async with (app := TimelineStage(with_steps())).run_test(size=(80, HEIGHT)) as pilot:
        cells = await bar_cells(app, pilot)
        assert [cell for cell in cells if cell in "─≡✗"] == list(WHERE.values())
        assert 3 <= cells.count("·") < 8, "where something else stands in the cell, that is shown"
        bar = app.timeline.vertical_scrollbar
        strips = [list(strip) for strip in bar.render_lines(bar.region.reset_offset)]
        looks = {strip[0].text: strip[0].style for strip in strips}
        faint, strong = (looks[mark] for mark in "·─")
        assert faint is not None
        assert strong is not None
        assert faint.color != strong.color
        await pilot.click(bar, offset=(0, cells.index("·")))
        assert app.timeline._reading.top[0] == 10


@pytest.mark.parametrize("width", [59, 40])
async def test_narrow_screens_and_sessions_in_view_have_no_marks(width: int) -> None:
    async with (app := TimelineStage(session())).run_test(size=(width, HEIGHT)) as pilot:
        assert not {"─", "✗"} & set(await bar_cells(app, pilot))
    async with (app := TimelineStage(session()[28:36])).run_test(size=(80, HEIGHT)) as pilot:
        assert not {"─", "✗"} & set(await bar_cells(app, pilot))


def test_a_kind_that_would_fill_the_bar_is_left_out() -> None:
    """Of a million messages every cell holds prompts: that would say nothing."""
    blocks = BlockList()
    records: list[Record] = [UserMessage("more", "human") for _ in range(5_000)]
    records[2_500] = CompactionRecord("auto", "last-messages", 52_100, 9_800, 2)
    blocks.load(records)
    minimap = Minimap(blocks)
    while minimap.is_behind:
        minimap.catch_up()
    assert [kind for kind, _ in minimap.spots(HEIGHT).values()] == ["compaction"]


def test_few_blocks_are_looked_at_at_once_and_many_bit_by_bit() -> None:
    rounds = []
    for more in (100, 9_000, 18_000):
        blocks = BlockList()
        blocks.load([*session(), *(AssistantMessage(f"more {n}") for n in range(more))])
        minimap = Minimap(blocks)
        count = 0
        while not minimap.keep_up():
            minimap.catch_up()
            count += 1
        rounds.append(count)
    assert rounds[0] == 0
    assert 1 < rounds[1] < rounds[2]


async def test_a_long_session_is_marked_in_the_end() -> None:
    records = [*session(), *(AssistantMessage(f"more {n}") for n in range(9_000))]
    async with (app := TimelineStage(records)).run_test(size=(80, HEIGHT)) as pilot:
        for _ in range(500):
            if "✗" in await bar_cells(app, pilot):
                break
            await pilot.pause(0.02)
        assert (await bar_cells(app, pilot))[0] == "✗"


def test_a_frame_costs_the_same_in_a_long_session() -> None:
    costs = []
    for count in (10_000, 200_000):
        blocks = BlockList()
        some: list[Record] = [AssistantMessage("more"), UserMessage("go", "human")]
        blocks.load(some * (count // 2))
        minimap = Minimap(blocks)
        while minimap.is_behind:
            minimap.catch_up()
        minimap.spots(HEIGHT)
        kept = count_calls(partial(minimap.spots, HEIGHT))
        blocks.append(CheckpointBlock(7))
        added = count_calls(minimap.catch_up) + count_calls(partial(minimap.spots, HEIGHT))
        costs.append((kept, added))
    assert costs[0][0] == costs[1][0] < 10
    assert costs[1][1] < 1.5 * costs[0][1]


def by_index(records: list[Record], folder: Path) -> list[tuple[int, Landmark]]:
    """The marks of a log of which only the lines are known."""
    log = folder / f"{len(records)}.jsonl"
    log.write_bytes(b"".join(encode(record_fields(record)) for record in records))
    blocks = BlockList()
    blocks.load(IndexedRecords(log))
    return list(blocks.landmarks(0, len(blocks)))


def test_a_log_that_is_read_by_index_is_marked_by_the_roles_of_its_lines(tmp_path: Path) -> None:
    assert by_index(session(), tmp_path) == [
        (30, "prompt"),
        (90, "error"),
        (120, "prompt"),
        (180, "compaction"),
        (240, "prompt"),
    ]
    steps = [place for place, kind in by_index(with_steps(), tmp_path) if kind == "step"]
    assert steps == [n for n, r in enumerate(with_steps()) if isinstance(r, Checkpoint) and r.step]
    plain: list[Record] = [AssistantMessage("Yes?"), UserMessage("go"), AssistantMessage("I do.")]
    assert by_index(plain, tmp_path) == [(1, "prompt")]
    failed: list[Record] = [
        UserMessage('He wrote "is_error":true and {"role":"_turn_end","end":"failed"'),
        ToolMessage("x", "Stopped", is_error=True, interrupted=True),
        ToolMessage("x", "Rejected", is_error=True, rejected=True),
        ToolMessage("x", "No such file", is_error=True, turn=1),
        TurnEndRecord("failed", "No answer"),
        TurnEndRecord("done"),
    ]
    assert by_index(failed, tmp_path) == [(0, "prompt"), (3, "error"), (4, "error")]
