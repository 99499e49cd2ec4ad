"""What a compaction took out stays to be read above what is in the context, and folds."""

from __future__ import annotations

from pathlib import Path

from rich.segment import Segment

from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Record,
    Stamp,
    UserMessage,
)
from agent_tui.providers.demo.scenario import Reply
from agent_tui.ui.blocks import (
    AssistantBlock,
    CompactionBlock,
    EarlierBlock,
    EarlierHeadBlock,
    NoticeBlock,
    UserBlock,
)
from agent_tui.ui.renderers.drawing import Drawing
from agent_tui.ui.renderers.earlier import dim
from agent_tui.ui.widgets.timeline.earlier_blocks import EarlierBlocks
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.agent.stage import Stage as Engine
from tests.ui.stage import Stage
from tests.ui.test_timeline_markdown import PALETTE, canvas
from tests.ui.timeline_stage import TimelineStage, numbered

EARLIER: list[Record] = [
    Checkpoint(0),
    UserMessage("Old question", "human"),
    AssistantMessage("Old."),
]
NOW: list[Record] = [UserMessage("New question", "human")]


def test_earlier_records_stand_before_those_of_now_without_their_checkpoints() -> None:
    blocks = EarlierBlocks(EARLIER, NOW, {})
    shown = [block for index in range(len(blocks)) if (block := blocks.block(index))]
    assert shown == [EarlierHeadBlock(2, folded=True), UserBlock("New question")]
    blocks.folded = False
    assert [blocks.block(index) for index in range(len(blocks))] == [
        EarlierHeadBlock(2),
        None,
        EarlierBlock(UserBlock("Old question")),
        EarlierBlock(AssistantBlock("Old.")),
        UserBlock("New question"),
    ]


def test_records_that_come_later_are_seen() -> None:
    now = list(NOW)
    blocks = EarlierBlocks(EARLIER, now, {})
    now.append(AssistantMessage("New."))
    assert blocks.block(len(blocks) - 1) == AssistantBlock("New.")


async def test_the_row_over_them_folds_and_shows_them() -> None:
    timeline = Timeline()
    async with (app := Stage([timeline])).run_test(size=(90, 30)) as pilot:
        timeline.load(NOW, earlier=EARLIER)
        await pilot.pause()
        assert "▸ 2 messages from before the compaction" in app.text
        assert "Old question" not in app.text
        timeline.focus()
        lines = app.text.splitlines()
        head = next(y for y, line in enumerate(lines) if "▸ 2 messages" in line)
        await pilot.click(Timeline, offset=(6, head))
        await pilot.pause()
        assert "▾ 2 messages from before the compaction" in app.text
        assert "Old question" in app.text
        assert "New question" in app.text
        await pilot.click(Timeline, offset=(6, head))
        await pilot.pause()
        assert "Old question" not in app.text


async def test_what_comes_above_later_moves_nothing_and_waits_for_a_turn_or_a_search_to_end() -> (
    None
):
    now: list[Record] = [UserMessage(f"New pebble {n} " + "sand " * 80) for n in range(40)]
    timeline = Timeline()
    async with (app := Stage([timeline])).run_test(size=(90, 20)) as pilot:
        timeline.load(now)
        await pilot.pause()
        timeline.focus()
        timeline.go_to_log_record(7)
        await pilot.pause()
        timeline.append(UserBlock("A turn of now"))
        assert not timeline.load_earlier(now, EARLIER)
        timeline.discard(len(now))
        await timeline.find("pebble 7", lambda _: None)
        assert not timeline.load_earlier(now, EARLIER), "what was found would be elsewhere"
        timeline.stop_finding()
        timeline.go_to_log_record(7)
        await pilot.pause()
        seen = [line[:-1] for line in app.text.splitlines()]
        assert timeline.load_earlier(now, EARLIER)
        await pilot.pause()
        assert [line[:-1] for line in app.text.splitlines()] == seen
        assert "▎▌ New pebble 7" in app.text
        await pilot.press("g")
        await pilot.pause()
        assert "▸ 2 messages from before the compaction" in app.text


async def test_what_a_compaction_takes_out_is_folded_at_once_and_moves_nobody() -> None:
    """Who reads in it goes on reading, and it is folded when they are at the end again."""
    before: list[Record] = [*stamped(40)]
    made = CompactionRecord("auto", "last-messages", 9, 1, 1, stamp=Stamp("made"))
    now: list[Record] = [made, UserMessage("The sum", "compaction"), *before[20:]]
    async with (app := TimelineStage()).run_test(size=(90, 20)) as pilot:
        timeline = app.timeline

        async def seen() -> list[str]:
            await pilot.pause()
            return app.lines

        timeline.load(before)
        end = await seen()
        timeline.load_compacted(now, before[:20])
        assert await seen() == end
        assert timeline.at_end
        assert timeline.block(0) == EarlierHeadBlock(20, folded=True)

        timeline.load(before)
        timeline.focus()
        timeline.go_to_log_record(30)
        kept = await seen()
        timeline.load_compacted(now, before[:20])
        assert await seen() == kept, "what is read stays, the cursor on it"
        assert timeline.block(0) == EarlierHeadBlock(20, folded=True)

        timeline.load(before)
        timeline.go_to_log_record(10)
        top = (await seen())[:10]
        assert any("Pebble 10 " in line for line in top)
        timeline.load_compacted(now, before[:20])
        assert [line.replace("▌", "") for line in await seen()][:10] == [
            line.replace("▌", "") for line in top
        ]
        assert timeline.block(0) == EarlierHeadBlock(20)
        timeline.action_last()
        assert await seen() == end
        assert timeline.block(0) == EarlierHeadBlock(20, folded=True)
        await pilot.press("g", "space")
        timeline.action_last()
        await pilot.pause()
        assert timeline.block(0) == EarlierHeadBlock(20), "who unfolds it keeps it so"


def stamped(count: int) -> list[UserMessage]:
    """Prompts that fill some rows, with ids."""
    sand = "sand " * 80
    return [UserMessage(f"Pebble {n} {sand}", stamp=Stamp(f"u{n}")) for n in range(count)]


async def test_a_turn_that_is_compacted_meanwhile_stays_in_view() -> None:
    """What is said in it is in the log by then, though it is shown by live blocks."""
    records: list[Record] = [*stamped(30)]
    async with (app := TimelineStage()).run_test(size=(90, 20)) as pilot:
        timeline = app.timeline
        timeline.load(records)
        for record in stamped(36)[30:]:
            timeline.append(UserBlock(str(record.content)))
        records += stamped(36)[30:]
        timeline.append(CompactionBlock("auto", 0, 9, 1))
        timeline.focus()
        timeline.go_to_record(31)
        await pilot.pause()
        seen = app.lines
        assert "Pebble 31 " in seen[1]
        assert not timeline.at_end
        made = CompactionRecord("auto", "last-messages", 9, 1, 1)
        timeline.load_compacted([made, *records[25:], *numbered(9)], records[:25])
        await pilot.pause()
        assert app.lines == seen


async def test_a_timeline_of_a_session_settles_behind_what_was_before(tmp_path: Path) -> None:
    replies = tuple(Reply(text=f"Answer {n}.") for n in range(4))
    async with Engine(tmp_path, *replies) as engine:
        await engine.say("one")
        earlier = list(engine.session.view.records)
        timeline = Timeline()
        async with (app := Stage([timeline])).run_test(size=(90, 40)) as pilot:
            timeline.load(engine.session.view.shown_records, earlier=earlier)
            timeline._blocks.fold_earlier()
            await engine.say("two")
            timeline.settle()
            await pilot.pause()
            assert app.text.count("Answer 0.") == 2
            assert "Answer 1." in app.text


async def test_an_answer_that_the_disk_refused_stays_until_the_log_has_it() -> None:
    records: list[Record] = [UserMessage("Hi", "human")]
    timeline = Timeline()
    async with (app := Stage([timeline])).run_test(size=(90, 30)) as pilot:
        timeline.load(records)
        timeline.stream_text("The whole answer.")
        timeline.close_answer()
        timeline.keep_unsaved()
        timeline.append(NoticeBlock("No space left on device", "error"))
        records.append(Checkpoint(1))
        timeline.settle()
        await pilot.pause()
        assert "The whole answer." in app.text
        assert "No space left on device" in app.text
        records += [AssistantMessage("The whole answer."), UserMessage("Go on", "human")]
        timeline.settle()
        await pilot.pause()
        assert app.text.count("The whole answer.") == 1


async def test_a_line_that_was_found_is_shown_in_the_log_and_not_above_it() -> None:
    """A place in the log counts from the log's first record, whatever stands above it."""
    timeline = Timeline()
    earlier: list[Record] = [UserMessage(f"Old pebble {n} " + "sand " * 80) for n in range(40)]
    now: list[Record] = [UserMessage(f"New pebble {n} " + "sand " * 80) for n in range(40)]
    async with (app := Stage([timeline])).run_test(size=(90, 20)) as pilot:
        timeline.load(now, earlier=earlier)
        await pilot.pause()
        timeline.focus()
        timeline.show_match(20, "New pebble 20 sand")
        await pilot.pause()
        assert "New pebble 20 " in app.text


def test_rules_of_what_was_before_stay_quieter_than_its_words() -> None:
    rail = Segment("\u2502", PALETTE.line)
    dimmed = dim(Drawing([[Segment("said", PALETTE.text)]], rail=rail), canvas())
    assert dimmed.rail == rail
    assert dimmed.rows[0][0].style == PALETTE.text + PALETTE.faint
