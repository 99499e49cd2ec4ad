"""Each record is shown as what it is, and calls stand with their results."""

from agent_tui.core.file_changes import FileChange
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    Stamp,
    SystemPrompt,
    ToolMessage,
    TurnEndRecord,
    UsageRecord,
    UserMessage,
    WorkspaceRecord,
)
from agent_tui.ui.blocks import (
    AssistantBlock,
    BranchBlock,
    Changed,
    CheckpointBlock,
    LabelBlock,
    NoticeBlock,
    RevertBlock,
    ToolBlock,
    UserBlock,
)
from agent_tui.ui.renderers.message import draw_user
from agent_tui.ui.widgets.timeline.record_view import RecordBlocks
from tests.ui.test_timeline_markdown import canvas

ONE, TWO = ToolCall("1", "one", "{}"), ToolCall("2", "two", "{}")


def show(records: list[Record]) -> list[object]:
    blocks = RecordBlocks(records)
    for index in range(len(records)):
        shown = blocks.block(index) is not None
        assert (blocks.estimate(index, 80) > 0) is shown
    return [blocks.block(index) for index in range(len(records))]


def test_parallel_calls_stand_in_the_order_they_were_made() -> None:
    _, first, usage, second = show(
        [
            AssistantMessage("", (ONE, TWO)),
            ToolMessage("2", "of two"),
            UsageRecord(5),
            ToolMessage("1", "of one"),
        ]
    )
    assert first == ToolBlock("1", "one", "{}", "ok", "of one")
    assert usage is None
    assert second == ToolBlock("2", "two", "{}", "ok", "of two")


def test_what_each_of_many_calls_changed_is_found_behind_all_their_results() -> None:
    calls = tuple(ToolCall(str(number), "edit_file", "{}") for number in range(40))
    found = [
        WorkspaceRecord("tool_call", (FileChange(f"{n}.py", None, None, n, 1),), call=str(n))
        for n in range(40)
    ]
    results = [ToolMessage(call.id, "Done.") for call in calls]
    shown = show([AssistantMessage("", calls), *results, *found])
    assert [block.changed for block in shown if isinstance(block, ToolBlock)] == [
        Changed(1, n, 1) for n in range(40)
    ]


def test_a_call_without_a_result_stands_with_its_answer() -> None:
    answer, result = show([AssistantMessage("Hm.", (ONE, TWO)), ToolMessage("2", "x")])
    assert answer == AssistantBlock("Hm.", "", (ToolBlock("1", "one", "{}", "interrupted"),))
    assert result == ToolBlock("2", "two", "{}", "ok", "x")


def test_a_result_without_a_call_is_shown_too() -> None:
    (block,) = show([ToolMessage("9", "lost", is_error=True)])
    assert isinstance(block, ToolBlock)
    assert (block.state, block.output) == ("error", "lost")


def test_a_repeated_call_id_does_not_borrow_another_result() -> None:
    blocks = show(
        [
            AssistantMessage("", (ONE,)),
            ToolMessage("1", "first"),
            AssistantMessage("", (ONE,)),
            ToolMessage("1", "second"),
        ]
    )
    assert [block.output for block in blocks if isinstance(block, ToolBlock)] == ["first", "second"]


def test_a_plain_checkpoint_before_a_prompt_opens_a_turn() -> None:
    records: list[Record] = [
        SystemPrompt("s"),
        Checkpoint(0),
        UserMessage("hi"),
        UsageRecord(77, estimated=True),
        Checkpoint(1),
        AssistantMessage("hello"),
    ]
    blocks = show(records)
    assert blocks[1] == CheckpointBlock(0, 0)
    assert blocks[4] == CheckpointBlock(1, 1, tokens=77, estimated=True)


def test_a_branch_tells_where_the_one_that_was_left_ended() -> None:
    records: list[Record] = [
        UserMessage("a", stamp=Stamp("a")),
        HeadRecord("a", source="z", stamp=Stamp("h", at="2026-01-01T10:00:00Z")),
        HeadRecord("a", "undo"),
    ]
    _, branch, undone = show(records)
    assert branch == BranchBlock("", "z", "2026-01-01T10:00:00Z")
    assert undone == BranchBlock("undo", "a")


def test_redos_of_a_revert_are_told_in_its_row() -> None:
    redone = RevertRecord(3, "redo", of="revert")
    records: list[Record] = [RevertRecord(1, "user", 4), UsageRecord(5), redone, redone]
    assert show(records) == [RevertBlock(1, "user", 4, repeats=2), None, None, None]


def test_an_operation_behind_another_is_a_row_of_its_own() -> None:
    cleared, again = RevertRecord(1, "clear"), RevertRecord(2, "clear")
    back = RevertRecord(3, "undo", of="clear")
    assert show([cleared, again, back, RevertRecord(4, "user", 2)]) == [
        RevertBlock(1, "clear"),
        RevertBlock(2, "clear"),
        RevertBlock(3, "undo", of="clear"),
        RevertBlock(4, "user", 2),
    ]


def test_undos_of_different_things_are_rows_of_their_own() -> None:
    records: list[Record] = [
        RevertRecord(2, "undo", of="revert"),
        RevertRecord(4, "undo", of="revert"),
        RevertRecord(6, "undo", of="clear"),
        RevertRecord(7, "redo", of="revert"),
        RevertRecord(9, "redo", of="revert"),
        UserMessage("so"),
        RevertRecord(12, "redo", of="revert"),
    ]
    assert show(records) == [
        RevertBlock(2, "undo", of="revert", repeats=1),
        None,
        RevertBlock(6, "undo", of="clear"),
        RevertBlock(7, "redo", of="revert", repeats=1),
        None,
        UserBlock("so"),
        RevertBlock(12, "redo", of="revert"),
    ]


def test_redos_of_a_branch_are_told_in_its_row() -> None:
    redone = HeadRecord("b", "redo", "c")
    records: list[Record] = [HeadRecord("a", source="z"), redone, redone, redone]
    assert show(records) == [BranchBlock("", "z", repeats=3), None, None, None]


def test_a_label_is_told_where_a_person_gave_it() -> None:
    given, taken, said_again = show(
        [LabelRecord("u", "plan", ""), LabelRecord("u", "", "plan"), LabelRecord("u", "plan")]
    )
    assert given == LabelBlock("plan", "u")
    assert taken == LabelBlock("", "u")
    assert said_again is None


def test_the_end_of_a_turn_without_its_answer_is_told() -> None:
    assert show([TurnEndRecord("cancelled", "Interrupted."), TurnEndRecord("failed", "No.")]) == [
        NoticeBlock("Interrupted."),
        NoticeBlock("No.", "error"),
    ]


def test_parts_and_media_are_shown() -> None:
    picture = MediaPart("image_url", "data:image/png;base64,AAAA")
    content = (TextPart("look"), picture, TextPart("so"))
    assert show([UserMessage(content)]) == [UserBlock("look\nso", media=(picture,))]


def test_what_a_plain_log_says_in_tags_is_not_a_prompt() -> None:
    _, summary = show(
        [
            UserMessage("<system>CHECKPOINT 3</system>"),
            UserMessage("<system>Previous context has been compacted. Here it is:</system>\nSum"),
        ]
    )
    assert isinstance(summary, UserBlock)
    assert summary.origin == "compaction"


def test_a_dmail_says_where_it_went_and_nothing_that_was_written_for_the_model() -> None:
    letter = "<system>You just got a D-Mail: from your future.</system>\n\nLook in b.txt."
    blocks = show(
        [
            RevertRecord(1, "dmail", 3),
            Checkpoint(5, 1, 2),
            UserMessage("<system>CHECKPOINT 5</system>", origin="checkpoint"),
            UserMessage(letter, origin="dmail"),
            UserMessage("<system>The pictures that were just read:</system>", origin="reminder"),
        ]
    )
    assert blocks[0] == RevertBlock(1, "dmail", 3)
    assert blocks[-2:] == [
        UserBlock("Look in b.txt.", "dmail", checkpoint=3),
        UserBlock("The pictures that were just read:", "reminder"),
    ]


def test_a_summary_is_shown_without_what_was_written_around_it_for_the_model() -> None:
    preface = TextPart("<system>Earlier messages were compacted into this summary.</system>\n\n")
    files = TextPart('\n\n<files>\n<file path="a.py" lines="1-9">\nx = 1\n</file>\n</files>')
    summary = UserMessage((preface, TextPart("## Work\n\nDone."), files), origin="compaction")
    kimi = UserMessage(
        (
            TextPart("<system>Previous context has been compacted. Here it is:</system>"),
            TextPart("All of it."),
        )
    )
    assert show([summary, kimi]) == [
        UserBlock("## Work\n\nDone.\n\nWith the text of `a.py`.", "compaction"),
        UserBlock("All of it.", "compaction"),
    ]


def test_a_prompt_whose_answer_is_in_the_summary_says_so() -> None:
    summary = UserMessage("Done so far: all.", origin="compaction")
    asked = [UserMessage(text, "human") for text in ("One?", "Two?", "Three?")]
    _, *prompts, _ = show([summary, *asked, AssistantMessage("Three.")])
    assert prompts == [
        UserBlock("One?", lost_its_answer=True),
        UserBlock("Two?", lost_its_answer=True),
        UserBlock("Three?"),
    ]
    drawn = draw_user(UserBlock("One?", lost_its_answer=True), canvas(), expanded=False)
    assert "".join(segment.text for segment in drawn.rows[0]).endswith(" answer summarised")


def test_prompts_that_follow_each_other_without_a_summary_are_as_they_are() -> None:
    asked: list[Record] = [UserMessage(text, "human") for text in ("One?", "Two?")]
    assert show(asked) == [UserBlock("One?"), UserBlock("Two?")]


def test_a_summary_that_is_nothing_but_a_notice_is_shown_whole() -> None:
    notice = "<system>Earlier messages were cut off.</system>"
    (block,) = show([UserMessage((TextPart(notice),), origin="compaction")])
    assert block == UserBlock(notice, "compaction")


def test_an_automatic_compaction_that_was_refused_leaves_its_reason() -> None:
    reason = "The context is full and was not compacted. The summary came out empty."
    assert show([NoticeRecord(reason, "compaction")]) == [NoticeBlock(reason)]


def test_a_marker_behind_a_revert_shows_the_tokens_of_what_was_kept() -> None:
    kept: list[Record] = [UserMessage("a"), AssistantMessage("b"), UsageRecord(700)]
    *_, marker = show([*kept, RevertRecord(1, "user", 1), Checkpoint(1, 2, 0)])
    assert isinstance(marker, CheckpointBlock)
    assert marker.tokens == 700


def test_how_long_thinking_took_is_told_from_one_second_on() -> None:
    thought = (ThinkPart("Hm."), TextPart("So."))
    records: list[Record] = [
        AssistantMessage(thought, thinking_seconds=each) for each in (0, 0.4, 12.4)
    ]
    blocks = [block for block in show(records) if isinstance(block, AssistantBlock)]
    assert [block.thought_seconds for block in blocks] == [0, 0, 12]


def test_a_change_of_the_model_is_a_row_and_the_first_model_is_none() -> None:
    first, change = ModelRecord("local", "small"), ModelRecord("local", "big", "small")
    back = ModelRecord("local", "small", "big", "undo")
    assert show([first, change, UsageRecord(5)])[1] == NoticeBlock("Model: big")
    assert show([first, change, back]) == [None, None, NoticeBlock("Model: small")]
