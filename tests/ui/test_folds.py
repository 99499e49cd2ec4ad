"""What was opened or folded by itself stays so: while records come and go, and another time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.core.records import Record, Stamp, ToolMessage
from agent_tui.runtime.starting.folds import NAME
from agent_tui.ui.blocks import ToolBlock
from agent_tui.ui.widgets.timeline.block_list import BlockList
from agent_tui.ui.widgets.timeline.folds import Folds
from agent_tui.ui.widgets.timeline.record_view import RecordBlocks
from tests.ui.test_chat_acts import Desk, desk
from tests.ui.timeline_stage import TimelineStage, conversation


def stamped() -> list[Record]:
    """A conversation whose records have the ids ``r0``, ``r1`` …"""
    return [replace(r, stamp=Stamp(f"r{n}")) for n, r in enumerate(conversation())]


def results(records: Sequence[Record]) -> list[int]:
    return [n for n, record in enumerate(records) if isinstance(record, ToolMessage)]


def test_a_block_is_as_all_are_until_a_reader_decides() -> None:
    folds = Folds(lambda index: f"r{index}" if index < 5 else "")
    folds.choose(2, shown=True)
    folds.choose(7, shown=True)
    folds.open_for_now(3)
    assert [index for index in range(9) if folds.is_open(index)] == [2, 3, 7]
    assert folds.chosen == {"r2": True}, "what was opened to show a text in it is not remembered"
    folds.choose(2, shown=False)
    assert folds.chosen == {}
    folds.choose(2, shown=True)
    folds.set_usual(shown=True)
    assert folds.is_open(1)
    folds.choose(1, shown=False)
    assert folds.chosen == {"r2": True, "r1": False}
    folds.set_usual(shown=False)
    assert [index for index in range(9) if folds.is_open(index)] == [2]
    folds.set_all(shown=False)
    assert folds.chosen == {}


def test_no_record_is_looked_at_for_a_fold_before_it_is_drawn() -> None:
    looked_at: list[int] = []

    def entry_at(index: int) -> str:
        looked_at.append(index)
        return f"r{index}"

    folds = Folds(entry_at)
    assert not folds.is_open(4)
    assert looked_at == []
    folds.remember({f"r{number}": True for number in range(1_000)})
    assert looked_at == []
    assert folds.is_open(4)
    assert folds.is_open(4)
    assert looked_at == [4], "once for each block"


async def test_folds_stay_where_the_records_are_loaded_again_or_moved() -> None:
    records = stamped()
    place = results(records)[0]
    app = TimelineStage(records)
    async with app.run_test(size=(100, 60)) as pilot:
        timeline, blocks = app.timeline, app.timeline._blocks
        timeline.show_opened(lambda: blocks.toggle(place))
        await pilot.pause()
        assert timeline.folds == {f"r{place}": True}
        assert timeline.fold_changes == 1
        assert "line 10" in app.text
        timeline.load(records[: place + 2], earlier=stamped()[:3])
        await pilot.pause()
        assert "line 10" in app.text
        assert expanded(blocks) == [place + 4]
        timeline.load(records[place:])
        assert expanded(blocks) == [0]
        timeline.load_whole(records)
        assert expanded(blocks) == [place]
        timeline.load_earlier(records, stamped()[:3])
        assert expanded(blocks) == [place + 4]
        timeline.load(records[:place])
        assert expanded(blocks) == []


def expanded(blocks: BlockList) -> list[int]:
    return [index for index in range(len(blocks)) if blocks.is_expanded(index)]


async def test_what_was_opened_while_it_ran_is_known_by_its_record() -> None:
    records = stamped()
    *_, last = results(records)
    app = TimelineStage()
    shown = records[:last]
    async with app.run_test(size=(100, 60)):
        timeline = app.timeline
        timeline.load(shown)
        block = RecordBlocks(records).block(last)
        assert block is not None
        timeline.append(block)
        timeline.show_opened(lambda: timeline._blocks.toggle(last))
        assert timeline.folds == {}
        shown.append(records[last])
        timeline.settle()
        assert timeline.folds == {f"r{last}": True}


def open_results(here: Desk) -> list[int]:
    """The places of the results that are open."""
    blocks = here.blocks
    calls = [n for n in range(len(blocks)) if isinstance(blocks.block(n), ToolBlock)]
    return [calls.index(n) for n in calls if blocks.is_expanded(n)]


async def test_a_fold_is_there_when_the_session_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("fix the bug")
        calls = [n for n, each in enumerate(here.all_blocks) if isinstance(each, ToolBlock)]
        here.chat.timeline.focus()
        here.chat.timeline.go_to_record(calls[1])
        await here.pilot.press("space")
        file = next((tmp_path / "home").rglob("context.jsonl")).with_name(NAME)
        await here.until(file.exists)
        assert open_results(here) == [1]
        here.chat.timeline.go_to_record(calls[2])
        await here.pilot.press("space")
        session_id = here.session.session_id
        log = file.with_name("context.jsonl").read_bytes()
    assert file.with_name("context.jsonl").read_bytes() == log, "the log holds nothing of it"
    loads: list[list[int]] = []
    load = BlockList.load_whole

    def noting(blocks: BlockList, records: Sequence[Record]) -> int | None:
        loads.append(expanded(blocks))
        return load(blocks, records)

    monkeypatch.setattr(BlockList, "load_whole", noting)
    async with desk(tmp_path, monkeypatch, session_id) as again:
        assert len(loads[0]) == 2, "the end that is shown before the engine is there has them too"
        assert open_results(again) == [1, 2]
        again.app.chat_screen.run_command("new")
        await again.until(lambda: again.session.session_id != session_id)
        assert again.chat.timeline.folds == {}
        await again.chat.show_session(
            await again.chat.holder.require_engine().open_session(session_id)
        )
        assert open_results(again) == [1, 2]
        again.chat.log.load()
        assert open_results(again) == [1, 2]
        again.chat.timeline.focus()
        for place in [n for n in range(len(again.blocks)) if again.blocks.is_expanded(n)]:
            again.chat.timeline.go_to_record(place)
            await again.pilot.press("space")
    assert not file.exists()
