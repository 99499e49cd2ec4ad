"""The timeline keeps its place, follows the end, opens blocks, and says what was pressed."""

import random
import re

import pytest
from textual.geometry import Region

from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    Record,
    RevertRecord,
    UsageRecord,
    UserMessage,
    damage_row,
)
from agent_tui.ui.blocks import (
    AssistantBlock,
    CheckpointBlock,
    NoticeBlock,
    ShellBlock,
    UserBlock,
)
from agent_tui.ui.widgets.timeline import open_answer
from agent_tui.ui.widgets.timeline.block_view import BlockView
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.ui.timeline_stage import TimelineStage, conversation, numbered
from tests.waiting import rest, until

SIZES = ((120, 40), (80, 24), (40, 12))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["agent-dark", "agent-light", "agent-16", "textual-light"])
@pytest.mark.every_python
async def test_every_kind_of_block_is_drawn_at_every_size(
    size: tuple[int, int], theme: str
) -> None:
    app = TimelineStage([*conversation(), damage_row(2)], theme=theme)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "2 damaged lines" in app.text
        app.timeline.action_first()
        seen = ""
        for _ in range(20):
            await pilot.pause()
            seen += app.text
            app.timeline.action_page(1)
        for part in ("Please fix it.", "read_file", "edit_file", "It is done.", "_future"):
            assert part in seen
        assert "reverted" in seen
        assert "compacted" in seen


async def test_the_row_of_a_compaction_tells_its_losses_once_they_are_known() -> None:
    known = CompactionRecord("auto", "last-messages", 52_100, 9_800, 3, summarised=8, losses=1)
    app = TimelineStage([*conversation(), known])
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.pause()
        first, second = (line for line in app.lines if "compacted" in line)
        assert "loss" not in first
        assert "8 summarised · 1 loss ─" in second
        app.timeline.tell_losses(2, 12)
        app.timeline.go_to_record(len(conversation()))
        await pilot.pause()
        first, second = (line for line in app.lines if "compacted" in line)
        assert "─ 12 losses ─" in first
        assert "open before/after · 1 loss ─" in second
        app.timeline.load(conversation())
        await pilot.pause()
        assert "losses" not in app.text


async def test_hidden_records_take_no_rows() -> None:
    app = TimelineStage(conversation()[:4])
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        assert [line for line in app.lines if line.strip()][-1].endswith("Please fix it.")
        assert "You help." not in app.text


async def test_the_end_is_in_view_after_loading_and_while_it_grows() -> None:
    app = TimelineStage(numbered(500))
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        assert app.timeline.at_end
        assert "message 499" in app.text
        app.timeline.append(UserBlock("the newest"))
        await pilot.pause()
        assert "the newest" in app.text
        assert app.timeline.scroll_y == app.timeline.max_scroll_y


async def test_what_is_in_view_stays_while_the_end_grows() -> None:
    app = TimelineStage(numbered(500))
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        await pilot.press("pageup")
        await pilot.pause()
        before = app.lines[:-1]
        app.timeline.append(NoticeBlock("news"))
        app.timeline.stream_text("more\n\nand more")
        await rest(pilot, 0.1)
        assert app.lines[:-1] == before
        assert app.timeline.lines_below > 0
        assert "new lines" in app.lines[-1]
        await pilot.press("end")
        await pilot.pause()
        assert app.timeline.lines_below == 0
        assert "and more" in app.text


async def test_scrolling_never_skips_or_repeats_a_row() -> None:
    app = TimelineStage(numbered(3_000))
    async with app.run_test(size=(50, 20)) as pilot:
        await pilot.pause()
        timeline = app.timeline
        timeline.go_to_record(1_500)
        await pilot.pause()
        chance = random.Random(7)
        for _ in range(25):
            before = app.lines
            step = chance.choice([1, 3, 7, -1, -3, -7])
            timeline.scroll_rows(step)
            await pilot.pause()
            after = app.lines
            if step > 0:
                assert after[: len(after) - step] == before[step:]
            else:
                assert after[-step:] == before[:step]


async def test_paging_down_reaches_the_end_and_back_the_beginning() -> None:
    app = TimelineStage(numbered(120))
    async with app.run_test(size=(50, 20)) as pilot:
        await pilot.pause()
        timeline = app.timeline
        timeline.action_first()
        shown: list[str] = []
        while not timeline.at_end:
            await pilot.pause()
            shown += app.lines
            timeline.action_page(1)
        await pilot.pause()
        shown += app.lines
        for number in range(120):
            assert any(f"message {number} " in f"{line} " for line in shown)
        for _ in range(200):
            timeline.action_page(-1)
        await pilot.pause()
        assert timeline.scroll_y == 0
        assert "message 0" in app.text


async def test_a_resize_keeps_the_block_at_the_top() -> None:
    app = TimelineStage(numbered(2_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.timeline.go_to_record(777)
        await pilot.pause()
        assert "message 777" in app.lines[1]
        await pilot.resize_terminal(43, 18)
        await pilot.pause()
        assert "message 777" in app.lines[1]


@pytest.mark.parametrize("narrow", [80, 50])
async def test_a_window_so_high_that_it_shows_the_end_forgets_no_place(narrow: int) -> None:
    app = TimelineStage(numbered(2_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.timeline.go_to_record(1_985)
        await pilot.pause()
        before = app.lines
        assert "message 1985" in before[1]
        for width, height in ((80, 90), (narrow, 120), (narrow, 12), (narrow, 150), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert ("message 1999" in app.text) == (height > 24)
        assert app.lines == before
        app.timeline.append(UserBlock("the newest"))
        await pilot.pause()
        assert app.lines[:-1] == before[:-1]
        assert "new line" in app.lines[-1]


async def test_a_high_window_lets_the_end_grow_below_the_place_of_the_reader() -> None:
    app = TimelineStage(numbered(2_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.timeline.go_to_record(1_985)
        await pilot.pause()
        await pilot.resize_terminal(80, 90)
        await pilot.pause()
        for number in range(40):
            app.timeline.append(UserBlock(f"news {number}"))
            await pilot.pause()
            assert (f"news {number}" in app.text) == (app.timeline.lines_below == 0)
        assert "message 1985" in app.lines[1]
        assert app.timeline.lines_below > 0
        await pilot.press("end")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.timeline.at_end
        assert "news 39" in app.text


async def test_the_end_of_a_turn_leaves_who_reads_in_it_where_they_are() -> None:
    records = numbered(30)
    app = TimelineStage(records)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        written: list[Record] = []
        for number in range(40):
            answer = f"answer {number}\n\nand on"
            app.timeline.append(AssistantBlock(answer))
            written += [Checkpoint(number, 1, number), AssistantMessage(answer), UsageRecord(5)]
        app.timeline.place((30 + 12, 0))
        await pilot.pause()
        assert "answer 12" in app.lines[1]
        records += written
        app.timeline.settle()
        await pilot.pause()
        assert "answer 12" in app.lines[1]


async def test_the_cursor_stays_where_it_is_at_the_end_of_a_turn() -> None:
    records = conversation()
    app = TimelineStage(records)
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.press("left_square_bracket")
        records += [UserMessage("And now?"), AssistantMessage("Done too.")]
        app.timeline.append(UserBlock("And now?"))
        app.timeline.append(AssistantBlock("Done too."))
        app.timeline.settle()
        await pilot.pause()
        assert "▎▌ Please fix it." in app.text
        await pilot.press("G", "k")
        assert app.timeline._cursor == len(records) - 1
        records += [UsageRecord(5), UserMessage("More."), AssistantMessage("Much more.")]
        at = app.timeline.append(UserBlock("More."))
        app.timeline.append(AssistantBlock("Much more."))
        app.timeline._cursor = at
        app.timeline.settle()
        await pilot.pause()
        assert "▎▌ More." in app.text


async def test_opening_what_ends_in_view_goes_on_following_once_it_is_folded() -> None:
    app = TimelineStage(conversation())
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.pause()
        app.timeline.append(ShellBlock("ls", "line\n" * 400, "ok", 0))
        await pilot.pause()
        await pilot.press("up", "space")
        await pilot.pause()
        assert not app.timeline.at_end
        await pilot.press("space")
        await pilot.pause()
        assert app.timeline.at_end


async def test_a_resize_keeps_the_words_of_a_long_block_at_the_top() -> None:
    app = TimelineStage(numbered(3))
    async with app.run_test(size=(100, 20)) as pilot:
        text = "\n\n".join(f"part {n} " + "and on " * 16 for n in range(60))
        app.timeline.append(AssistantBlock(text))
        app.timeline.append(AssistantBlock("last\n" * 40))
        await pilot.pause()
        app.timeline.place((len(app.timeline._blocks) - 2, 120))
        await pilot.pause()
        seen = int(app.text.split("part ")[1].split()[0])
        await pilot.resize_terminal(50, 20)
        await pilot.pause()
        assert abs(int(app.text.split("part ")[1].split()[0]) - seen) <= 2


async def test_a_resize_keeps_the_reader_within_an_answer_that_takes_more_than_a_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(open_answer, "_FRAME_SECONDS", 0.0)
    app = TimelineStage(numbered(3))
    async with app.run_test(size=(100, 20)) as pilot:
        app.timeline.stream_text("\n\n".join(f"part {n} " + "and on " * 16 for n in range(90)))
        await until(pilot, lambda: "part 89" in app.text)
        app.timeline.place((len(app.timeline._blocks) - 1, 180))
        await pilot.pause()
        seen = int(app.text.split("part ")[1].split()[0])
        for width in (50, 100):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            assert abs(int(app.text.split("part ")[1].split()[0]) - seen) <= 2


async def test_every_row_is_whole_before_a_wider_window_is_laid_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = TimelineStage(numbered(200))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        monkeypatch.setattr(BlockView, "on_resize", lambda _: None)  # it comes later
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.timeline.size == (120, 40))
        whole = app.timeline.render_lines(Region(0, 0, 120, 40))
        assert [strip.cell_length for strip in whole] == [120] * 40
        app.screen._compositor.render_full_update().render_segments(app.console)


async def test_many_resizes_leave_the_row_at_the_top_where_it_was() -> None:
    app = TimelineStage(numbered(3))
    async with app.run_test(size=(80, 24)) as pilot:
        text = "\n\n".join(f"part {n} " + "and on " * (n * 5 % 31) for n in range(60))
        app.timeline.append(AssistantBlock(text))
        await pilot.pause()
        for offset in (41, 52, 67):
            app.timeline.place((len(app.timeline._blocks) - 1, offset))
            await pilot.pause()
            before = app.lines
            for width, height in ((100, 60), (72, 15), (61, 40), (43, 12), (90, 50), (80, 24)):
                await pilot.resize_terminal(width, height)
                await pilot.pause()
            assert app.lines == before


async def test_dragging_the_bar_goes_far_and_stays_consistent() -> None:
    app = TimelineStage(numbered(5_000))
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        timeline = app.timeline
        for share in (0.5, 0.1, 0.9):
            timeline.scroll_to(y=timeline.max_scroll_y * share, animate=False, immediate=True)
            await pilot.pause()
            numbers = [int(line.split()[2]) for line in app.lines if "▌ message" in line]
            assert numbers
            assert abs(numbers[0] / 5_000 - share) < 0.1
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_the_cursor_presses_markers_and_opens_blocks() -> None:
    app = TimelineStage(conversation())
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.pause()
        await pilot.press("home", "enter")
        await pilot.press("j", "j", "j")
        await pilot.pause()
        assert "Then change." not in app.text
        await pilot.press("enter")
        await pilot.pause()
        assert "Then change." in app.text
        await pilot.press("j", "enter")
        await pilot.pause()
        assert "line 10" in app.text
        await pilot.press("enter")
        await pilot.pause()
        assert "line 10" not in app.text
        await pilot.press("G")
        await pilot.press("k", "k", "k", "enter")
        await pilot.press("j", "enter")
        await pilot.pause()
    assert [type(message) for message in app.pressed] == [
        Timeline.CheckpointPressed,
        Timeline.ArchivePressed,
        Timeline.CompactionPressed,
    ]


async def test_a_click_on_a_marker_presses_it_and_the_pointer_names_the_deed() -> None:
    app = TimelineStage(conversation())
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.pause()
        row = next(y for y, line in enumerate(app.lines) if "◇ 0" in line)
        await pilot.hover(Timeline, offset=(20, row))
        await pilot.pause()
        assert "revert here" in app.lines[row]
        await pilot.click(Timeline, offset=(20, row))
        await pilot.pause()
        row = next(y for y, line in enumerate(app.lines) if "read_file" in line)
        await pilot.click(Timeline, offset=(20, row))
        await pilot.pause()
        assert "line 10" in app.text
    assert isinstance(app.pressed[0], Timeline.CheckpointPressed)
    assert app.pressed[0].checkpoint == 0
    assert len(app.pressed) == 1


@pytest.mark.parametrize(
    ("columns", "note"), [(40, r"─ \d+:\d+ ─"), (100, r"─ 12.3k tokens · \d+:\d+ ─")]
)
async def test_what_a_click_does_is_told_whole_however_narrow(columns: int, note: str) -> None:
    app = TimelineStage()
    async with app.run_test(size=(columns, 12)) as pilot:
        app.timeline.append(CheckpointBlock(107, 1, "2026-03-21T09:40:00Z", 12_345))
        await pilot.pause()
        await pilot.hover(Timeline, offset=(columns - 8, 0))
        await pilot.pause()
        (row,) = (line for line in app.lines if "107" in line)
        assert "◆ 107 revert here ─" in row
        assert re.search(note, row)


@pytest.mark.parametrize("size", SIZES)
async def test_the_row_of_a_branch_leads_to_the_one_that_was_left(size: tuple[int, int]) -> None:
    records: list[Record] = [UserMessage("a"), HeadRecord("u", source="left"), UserMessage("b")]
    records += [HeadRecord("v", "undo", "w"), HeadRecord("w", "redo", "v")]
    records.append(HeadRecord("x", "retry", "y"))
    app = TimelineStage(records)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for words in ("switched branch", "branch undone", "branch redone", "retried"):
            assert f"↳ {words} ─" in app.text
        await pilot.press("home", "j")
        await pilot.pause()
        assert "see it in the tree" in app.text
        await pilot.press("enter")
        await pilot.pause()
        row = next(y for y, line in enumerate(app.lines) if "undone" in line)
        await pilot.click(Timeline, offset=(20, row))
        await pilot.pause()
    assert [type(message) for message in app.pressed] == [Timeline.EntryPressed] * 2
    assert [message.entry for message in app.pressed if hasattr(message, "entry")] == ["left", "w"]


async def test_a_row_says_how_often_it_was_undone_and_redone() -> None:
    redone = RevertRecord(3, "redo", of="revert")
    undone = RevertRecord(8, "undo", of="clear")
    records: list[Record] = [UserMessage("a"), RevertRecord(1, "user", 4), redone]
    records += [UserMessage("b"), HeadRecord("u", source="v"), *[HeadRecord("u", "redo", "w")] * 2]
    records += [UserMessage("c"), undone, undone]
    app = TimelineStage(records)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        rows = [line.replace("─", "").strip() for line in app.lines if "─" in line]
    assert [" ".join(row.split()) for row in rows] == [
        "↶ reverted to checkpoint 4 undone and redone · archive 1",
        "↳ switched branch undone and redone 2 times",
        "↶ clear undone 2 times · archive 8",
    ]


async def test_a_label_is_a_note_that_leads_to_what_it_names() -> None:
    records: list[Record] = [
        UserMessage("a"),
        LabelRecord("u", "the [b]plan", ""),
        LabelRecord("w", "", "old"),
        LabelRecord("x", "x" * 80, ""),
    ]
    app = TimelineStage(records)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert "labelled “xxxx" in app.text
        row = next(y for y, line in enumerate(app.lines) if line.endswith("labelled “the [b]plan”"))
        assert app.lines[row + 1].endswith("label removed")
        await pilot.hover(Timeline, offset=(20, row))
        await pilot.pause()
        assert "see it in the tree" in app.lines[row]
        await pilot.click(Timeline, offset=(20, row))
        await pilot.pause()
    assert [message.entry for message in app.pressed if hasattr(message, "entry")] == ["u"]


async def test_all_blocks_open_and_fold_at_once() -> None:
    app = TimelineStage(conversation())
    async with app.run_test(size=(100, 80)) as pilot:
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert "line 10" in app.text
        assert "Then change." in app.text
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert "line 10" not in app.text


async def test_prompts_are_jumped_between_and_blocks_copied() -> None:
    records: list[Record] = [AssistantMessage("text " * 50), UserMessage("one")]
    records += [AssistantMessage("t " * 800), UserMessage("two"), AssistantMessage("end " * 200)]
    app = TimelineStage(records)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("end", "left_square_bracket", "y")
        assert app.clipboard == "two"
        await pilot.press("left_square_bracket", "y")
        assert app.clipboard == "one"
        await pilot.press("right_square_bracket", "y")
        assert app.clipboard == "two"


async def test_a_block_taller_than_the_screen_is_read_through() -> None:
    text = "\n\n".join(f"paragraph {number}" for number in range(60))
    app = TimelineStage([UserMessage("before"), AssistantMessage(text), UserMessage("after")])
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("home", "j")
        seen = ""
        for _ in range(40):
            await pilot.pause()
            seen += app.text
            await pilot.press("j")
        assert all(f"paragraph {number}\n" in seen + "\n" for number in range(60))


async def test_markup_and_escapes_in_a_session_are_only_text() -> None:
    app = TimelineStage([UserMessage("[@click=app.quit]x[/] \x1b[31mred\x1b]0;t\x07")])
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        assert "[@click=app.quit]x[/] ␛[31mred␛]0;t␇" in app.text


async def test_a_word_that_streams_in_draws_its_own_row_alone() -> None:
    app = TimelineStage()
    async with app.run_test(size=(40, 20)) as pilot:
        app.timeline.stream_text("one two three four five six seven eight nine ten " * 5)
        await pilot.pause(0.1)
        rows = [y for y, line in enumerate(app.lines) if line.strip()]
        assert len(rows) > 5
        app.timeline.stream_text("eleven")
        app.timeline._draw_frame()
        assert {region.y for region in app.timeline._repaint_regions} == {rows[-1]}
        await pilot.pause(0.1)
        assert "ten eleven" in app.text


async def test_streamed_code_gets_its_colours_when_the_language_is_there() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 12)) as pilot:
        app.timeline.stream_text("```python\ndef f(): pass\n```\n")
        for _ in range(50):
            await pilot.pause(0.05)
            row = next(y for y, line in enumerate(app.lines) if "def f" in line)
            styles = {segment.text: segment.style for segment in app.timeline._painted[row]}
            if "def" in styles:
                break
        assert any(text.startswith("def") for text in styles)


async def test_a_long_block_of_code_is_there_at_once_and_coloured_later() -> None:
    code = "\n".join(f"def function_{number}(): return {number}" for number in range(400))
    app = TimelineStage([AssistantMessage(f"```python\n{code}\n```")])
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        lines = app.lines
        assert "function_399" in app.text
        for _ in range(80):
            await pilot.pause(0.05)
            segments = [segment.text for row in app.timeline._painted for segment in row]
            if "def " in segments:
                break
        assert "def " in segments
        assert app.lines == lines


async def test_nothing_is_shown_of_nothing() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("j", "k", "enter", "y", "pagedown", "pageup", "home", "end", "ctrl+o")
        await pilot.press("left_square_bracket", "right_square_bracket")
        app.timeline.clear()
        app.timeline.go_to_record(5)
        await pilot.pause()
        assert app.text.strip() == ""


async def test_text_is_selected_by_the_mouse_without_the_gutter() -> None:
    app = TimelineStage([UserMessage("first line\nsecond line")])
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        row = next(y for y, line in enumerate(app.lines) if "first" in line)
        await pilot.mouse_down(Timeline, offset=(9, row))
        await pilot.hover(Timeline, offset=(8, row + 1))
        await pilot.mouse_up(Timeline, offset=(9, row + 1))
        await pilot.pause()
        assert app.screen.get_selected_text() == "line\nsecond"
        assert app.timeline.render_lines(app.timeline.size.region)[row].text.strip()


async def test_the_reading_column_stands_in_the_middle_of_a_wide_screen() -> None:
    app = TimelineStage([UserMessage("word " * 200), AssistantMessage("answer " * 200)])
    async with app.run_test(size=(200, 30)) as pilot:
        await rest(pilot, 0.1)
        rows = [row for row in app.text.splitlines() if row.strip(" ▎▌█▁▂▃▄▅▆▇")]
        assert min(len(row) - len(row.lstrip()) for row in rows) >= 40
        assert max(len(row.rstrip()) for row in rows) <= 44 + 112
        assert any("word word" in row for row in rows)


async def test_the_bar_of_the_block_under_the_cursor_comes_and_goes_with_the_focus() -> None:
    app = TimelineStage([UserMessage("one thing"), AssistantMessage("another thing")])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for _ in range(2):
            app.screen.set_focus(None)
            await pilot.pause()
            assert "▎" not in app.text
            app.timeline.focus()
            await pilot.pause()
            assert "▎" in app.text
