from __future__ import annotations

from pathlib import Path

from agent_tui.context.compaction.compaction import apply_draft, draft_compaction
from agent_tui.context.compaction.diff import view_past
from agent_tui.context.context import Context
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.messages import TextPart
from agent_tui.core.records import AssistantMessage, Checkpoint, Record, UsageRecord, UserMessage
from agent_tui.importers.registry import import_session
from tests.context.conftest import add_turn
from tests.context.test_context_compaction import SUMMARY, says
from tests.importers.session_files import (
    answer,
    checkpoint,
    result,
    system,
    usage,
    user,
    write_lines,
)

COUNT = TokenCounter().count_message


async def test_a_past_compaction_looks_as_its_preview_did(talk: Context) -> None:
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    report = await apply_draft(talk, draft)
    await add_turn(talk, 7)
    before = [entry.record for entry in talk.log.read_archive(report.archive).entries]
    view = view_past(before, [entry.record for entry in talk.state.entries], COUNT)
    assert view.report == report
    assert [fate.fate for fate in view.before] == [fate.fate for fate in draft.view.before]
    assert view.after == draft.view.after
    assert view.losses == draft.view.losses


PREFACE = "<system>Previous context has been compacted. Here is the compaction output:</system>"
KIMI_SUMMARY = UserMessage((TextPart(PREFACE), TextPart("All is well.")))


def test_a_log_without_uuids_is_aligned_by_what_it_says() -> None:
    old: list[Record] = [Checkpoint(0), UserMessage("do it"), *map(AssistantMessage, "abc")]
    new: list[Record] = [KIMI_SUMMARY, AssistantMessage("b"), AssistantMessage("c"),
                         UsageRecord(70), AssistantMessage("later")]  # fmt: skip
    view = view_past([*old, UsageRecord(900)], new, COUNT)
    assert [fate.fate for fate in view.before] == ["summarised", "summarised", "kept", "kept"]
    assert [row.before for row in view.after] == [None, 2, 3]
    assert view.summary == "All is well."
    assert (view.report.tokens_before, view.report.tokens_after) == (900, 70)


def test_an_empty_archive_has_an_empty_view() -> None:
    view = view_past([], [], COUNT)
    assert (view.before, view.after, view.losses) == ((), (), ())


def test_a_compaction_by_kimi_shows_both_sides(tmp_path: Path) -> None:
    steps = [answer("one", "r1"), result("r1"), answer("two", "r2"), result("r2")]
    archive = [system(), checkpoint(0), user("do it"), checkpoint(1), *steps, usage(90_020)]
    begin = [system(), checkpoint(0), user(PREFACE, "The focus."), *steps, usage(761)]
    write_lines(tmp_path / "context_1.jsonl", archive)
    write_lines(tmp_path / "context.jsonl", [*begin, checkpoint(1), answer("final"), usage(6_020)])
    made = import_session(tmp_path / "context.jsonl").compactions[0]
    view = view_past(made.before, made.after, COUNT)
    assert [fate.fate for fate in view.before] == ["summarised", "kept", "kept", "kept", "kept"]
    assert view.summary == "The focus."
    assert (view.report.tokens_before, view.report.tokens_after) == (90_020, 761)
