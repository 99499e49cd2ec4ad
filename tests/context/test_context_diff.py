from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.context.compaction.compaction import apply_draft, draft_compaction
from agent_tui.context.compaction.diff import view_past
from agent_tui.context.context import Context
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.messages import TextPart
from agent_tui.core.record_parsing import parse_record
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    UsageRecord,
    UserMessage,
    is_message,
)
from agent_tui.core.summary import CompactionAmounts, CompactionRequest
from agent_tui.core.usage import Usage
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


async def test_a_summary_is_listed_by_what_it_says(talk: Context) -> None:
    await apply_draft(talk, await draft_compaction(talk, summarise=says(SUMMARY)))
    await add_turn(talk, 7)
    again = await draft_compaction(talk, summarise=says(SUMMARY))
    (row,) = (each for each in again.view.before if each.role == "summary")
    assert row.text.startswith(SUMMARY.strip()[:40])


@pytest.mark.parametrize("scale", [0.5, 1.4])
async def test_what_another_count_measured_is_told_in_parts_of_that_measure(
    talk: Context, scale: float
) -> None:
    await talk.note(UsageRecord(round(talk.token_count * scale), Usage(1, 0)))
    masking = CompactionAmounts(unmasked_tokens=600, masked_from=100)
    request = CompactionRequest(strategy="mask", amounts=masking)
    draft = await draft_compaction(talk, request, summarise=says(""))
    assert draft.report.masked_tokens < draft.report.tokens_before
    report = await apply_draft(talk, draft)
    before = [entry.record for entry in talk.log.read_archive(report.archive).entries]
    view = view_past(before, [entry.record for entry in talk.state.entries], COUNT)
    assert view.report.masked_tokens == pytest.approx(draft.report.masked_tokens, rel=0.02)
    for row, told in zip(view.before, draft.view.before, strict=True):
        assert row.tokens == pytest.approx(told.tokens, rel=0.02, abs=1)
    masked = sum(each.tokens for each in view.before if each.fate == "masked")
    assert masked == pytest.approx(view.report.masked_tokens, abs=5)


def test_parts_are_never_more_than_a_whole_that_another_agent_counted() -> None:
    old: list[Record] = [UserMessage("do it " * 400), AssistantMessage("done " * 400)]
    view = view_past([*old, UsageRecord(500)], [KIMI_SUMMARY, UsageRecord(70)], COUNT)
    assert sum(COUNT(message) for message in old if is_message(message)) > 600
    assert 400 < sum(each.tokens for each in view.before) <= 500


async def test_the_log_tells_how_many_losses_a_compaction_has(talk: Context) -> None:
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    await apply_draft(talk, draft)
    (record,) = talk.state.compactions
    assert record.losses == len(draft.view.losses) > 0
    for known in (record, replace(record, losses=0), replace(record, losses=None)):
        assert parse_record(record_fields(known)) == known


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
