from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agent_tui.context.compaction.compaction import (
    CompactionDraft,
    Summarise,
    SummaryCost,
    apply_draft,
    draft_compaction,
    plan_compaction,
    revise_draft,
)
from agent_tui.context.compaction.fallback_notes import write_fallback_notes
from agent_tui.context.compaction.strategies.registry import strategies
from agent_tui.context.compaction.strategies.strategy import Strategy
from agent_tui.context.compaction.summary_message import (
    is_summary,
    summary_text,
    write_summary_message,
)
from agent_tui.context.context import Context
from agent_tui.core.errors import CompactionError, LogChanged, ProviderError
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    LabelRecord,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.summary import CompactionAmounts, CompactionRequest, CompactionView
from agent_tui.core.usage import Usage
from agent_tui.sessions.log import Durability
from tests.context.conftest import add_turn

SUMMARY = "## Current focus\nMending modules; 1 to 4 are done."


def says(*pieces: str) -> Summarise:
    """A model that answers every brief with these pieces."""

    async def write(system: str, brief: str, tell: Callable[[str], None]) -> str:
        for piece in pieces:
            tell(piece)
        return "".join(pieces)

    return write


def fails(message: str) -> Summarise:
    """A model that cannot be reached."""

    async def write(system: str, brief: str, tell: Callable[[str], None]) -> str:
        raise ProviderError(message)

    return write


async def compacted(context: Context, summary: str = SUMMARY) -> CompactionDraft:
    draft = await draft_compaction(context, summarise=says(summary))
    await apply_draft(context, draft)
    return draft


async def test_a_draft_changes_nothing(talk: Context) -> None:
    before = talk.log.path.read_bytes()
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    assert talk.log.path.read_bytes() == before
    assert draft.report.archive == 0
    assert len(talk.history) == 24


async def test_the_new_log_begins_with_what_is_in_force_then_summary_then_kept(
    talk: Context,
) -> None:
    target = talk.state.messages[0].record.stamp.uuid or ""
    await talk.note(LabelRecord(target, "here"), LabelRecord("gone", "x"), LabelRecord("gone", ""))
    await compacted(talk)
    kinds = [type(entry.record).__name__ for entry in talk.state.entries]
    assert sorted(kinds[2:4]) == ["ModelRecord", "TitleRecord"]
    assert kinds[:2] + kinds[4:8] == [
        "SessionHeader", "SystemPrompt", "LabelRecord", "CompactionRecord", "Checkpoint",
        "UserMessage",
    ]  # fmt: skip
    assert kinds[-1] == "UsageRecord"
    assert talk.state.checkpoints.keys() == {0}
    assert talk.state.labels == {target: "here"}
    assert is_summary(talk.history[0])


async def test_what_is_kept_is_kept_byte_for_byte_and_the_archive_is_the_old_log(
    talk: Context,
) -> None:
    old = talk.log.path.read_bytes()
    draft = await compacted(talk)
    assert talk.log.path.with_name("context.jsonl.1").read_bytes() == old
    new = talk.log.path.read_bytes()
    entries = draft.plan.parts.messages
    for index in draft.plan.selection.kept:
        entry = entries[index]
        assert old[entry.offset : entry.offset + entry.length] in new


async def test_the_report_tells_what_was_done_and_the_log_remembers_it(talk: Context) -> None:
    draft = await draft_compaction(
        talk,
        CompactionRequest("auto", focus="module 3"),
        summarise=says(SUMMARY),
        cost=lambda: SummaryCost(2, Usage(900, 100)),
    )
    report = await apply_draft(talk, draft)
    record = next(e.record for e in talk.state.entries if isinstance(e.record, CompactionRecord))
    assert (record.trigger, record.strategy, record.focus) == ("auto", "last-messages", "module 3")
    assert (record.archive, record.retries) == (report.archive, 2) == (1, 2)
    assert (record.kept, record.summarised, record.dropped) == (
        report.kept, report.summarised, report.dropped,
    )  # fmt: skip
    assert report.kept + report.summarised + report.dropped == 24
    assert record.post_tokens == report.tokens_after < report.tokens_before
    assert 0 < report.saved_share < 1


async def test_the_count_is_right_at_once_after_compaction_and_undo(talk: Context) -> None:
    before = talk.token_count
    draft = await compacted(talk)
    assert talk.token_count == draft.report.tokens_after
    counts = talk.counter.count_messages(talk.history)
    assert talk.token_count == talk.overhead_tokens + sum(counts)
    assert talk.estimated
    await talk.log.restore(1, "undo")
    assert talk.token_count == before
    assert len(talk.history) == 24


@pytest.mark.parametrize("scale", [0.5, 1.2])
async def test_the_providers_measure_carries_over_to_the_sides_and_all_their_parts(
    talk: Context, scale: float
) -> None:
    ours = talk.token_count
    counted = {each.stamp.uuid: talk.count_message(each) for each in talk.history}
    await talk.note(UsageRecord(round(ours * scale), Usage(ours, 0)))
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    for each, message in zip(draft.view.before, talk.history, strict=True):
        assert each.tokens == pytest.approx(counted[message.stamp.uuid] * scale, abs=0.5)
    overhead, report = draft.plan.overhead * scale, draft.report
    before, after = (
        overhead + sum(row.tokens for row in rows) for rows in (draft.view.before, draft.view.after)
    )
    assert report.tokens_before == round(ours * scale) == pytest.approx(before, rel=0.01)
    assert report.tokens_after == pytest.approx(after, rel=0.01)


async def test_lines_appended_meanwhile_are_kept(talk: Context) -> None:
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    await talk.append(UserMessage("typed while you were busy", "human", 7))
    await apply_draft(talk, draft)
    assert text_of(talk.history[-1].content) == "typed while you were busy"
    assert is_summary(talk.history[0])
    assert talk.token_count > draft.report.tokens_after


async def test_a_usage_that_comes_between_draft_and_commit_does_not_make_the_gauge_lie(
    talk: Context,
) -> None:
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    await talk.append(UserMessage("said meanwhile", "human"), AssistantMessage("so it was"))
    await talk.note(UsageRecord(150_000))
    report = await apply_draft(talk, draft)
    late = sum(talk.count_message(message) for message in talk.messages[-2:])
    assert talk.token_count == report.tokens_after + late
    assert talk.estimated


async def test_a_log_that_went_back_meanwhile_is_not_compacted(talk: Context) -> None:
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    await talk.revert_to(3)
    before = talk.log.path.read_bytes()
    with pytest.raises(LogChanged):
        await apply_draft(talk, draft)
    assert talk.log.path.read_bytes() == before


async def test_a_compaction_that_does_not_help_says_why_and_changes_nothing(
    talk: Context,
) -> None:
    before = talk.log.path.read_bytes()
    draft = await draft_compaction(talk, summarise=says("word " * 20_000))
    assert "would not make the context smaller" in draft.refusal
    with pytest.raises(CompactionError, match="would not make the context smaller"):
        await apply_draft(talk, draft)
    assert talk.log.path.read_bytes() == before


async def test_an_empty_summary_changes_nothing(talk: Context) -> None:
    with pytest.raises(CompactionError, match="empty summary"):
        await draft_compaction(talk, summarise=says(" ", "\n"), fall_back=False)
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    with pytest.raises(CompactionError, match="summary is empty"):
        await apply_draft(talk, draft, summary="  ")
    assert len(talk.history) == 24


async def test_when_the_model_fails_the_fallback_keeps_the_newest_and_says_so(
    talk: Context,
) -> None:
    draft = await draft_compaction(
        talk, summarise=fails("The server said 503."), cost=lambda: SummaryCost(4)
    )
    report = await apply_draft(talk, draft)
    assert (report.strategy, report.fallback, report.retries) == ("fallback", True, 4)
    assert (report.summarised, draft.failure) == (0, "The server said 503.")
    assert report.dropped > 0
    notes = summary_text(talk.history[0])
    assert "The server said 503." in notes
    assert "src/module_1.py" in notes
    assert any(isinstance(e.record, CompactionRecord) and e.record.fallback
               for e in talk.state.entries)  # fmt: skip


async def test_one_fallback_after_another_keeps_the_models_summary_and_does_not_nest(
    talk: Context,
) -> None:
    await compacted(talk)
    for number in range(3):
        for turn in range(7 + 4 * number, 11 + 4 * number):
            await add_turn(talk, turn)
        draft = await draft_compaction(talk, summarise=fails("503"))
        if number == 1:
            draft = await revise_draft(draft, summary=f"{draft.summary}\n\nBy hand.")
        await apply_draft(talk, draft)
    notes = summary_text(talk.history[0])
    assert notes.count("No summary could be made: 503") == 1
    assert notes.count("older messages were cut off") == 1
    assert notes.endswith(f"{SUMMARY}\n\nBy hand.")
    assert "- Please look at src/module_12.py" in notes
    assert "src/module_12.py" in notes.split("Files they were about: ")[1]


def test_a_fallback_cuts_a_long_summary_only_where_the_window_is_small_and_says_so() -> None:
    messages = [write_summary_message("Port 8123. " * 900), UserMessage("Go on", "human")]
    roomy = write_fallback_notes(messages, range(2), "503", window=100_000)
    assert roomy.endswith("before them:\n" + ("Port 8123. " * 900).strip())
    narrow = write_fallback_notes(messages, range(2), "503", window=8_000)
    assert "characters left out" in narrow
    assert len(narrow) < 6_500


async def test_a_failure_without_fallback_is_raised(talk: Context) -> None:
    with pytest.raises(ProviderError, match="503"):
        await draft_compaction(talk, summarise=fails("503"), fall_back=False)


async def test_the_left_side_is_known_before_the_model_is_asked(talk: Context) -> None:
    heard: list[str] = []
    views: list[CompactionView] = []

    def see(view: CompactionView) -> None:
        views.append(view)
        heard.append("plan")

    await draft_compaction(talk, summarise=says("a", "b"), on_plan=see, on_text=heard.append)
    assert heard == ["plan", "a", "b"]
    assert [fate.fate for fate in views[0].before].count("kept") == len(views[0].after)
    assert views[0].summary == ""


async def test_the_view_aligns_both_sides(talk: Context) -> None:
    view = (await draft_compaction(talk, summarise=says(SUMMARY))).view
    assert view.after[0].before is None
    for row in view.after[1:]:
        assert row.before is not None
        old = view.before[row.before]
        assert (old.fate, old.text, old.tokens) == ("kept", row.text, row.tokens)
    assert view.summary == SUMMARY
    assert all(view.before[loss.message].fate != "kept" for loss in view.losses)


async def test_pinned_messages_stay(talk: Context) -> None:
    first = (await plan_compaction(talk)).view.before[1]
    draft = await draft_compaction(
        talk, CompactionRequest(pins=frozenset({first.key})), summarise=says(SUMMARY)
    )
    pinned = draft.view.before[1]
    assert (pinned.fate, pinned.pinned) == ("kept", True)
    assert draft.view.before[2].fate == "kept", "its result stays with it"
    await apply_draft(talk, draft)
    assert any(text_of(m.content) == text_of(talk.history[1].content) for m in talk.history)


async def test_a_draft_can_be_revised_without_asking_again(talk: Context) -> None:
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    key = draft.view.before[0].key
    revised = await revise_draft(draft, summary="Edited by hand.", pins=frozenset({key}))
    assert revised.view.before[0].fate == "kept"
    report = await apply_draft(talk, revised)
    assert report.kept == draft.report.kept + 1
    assert summary_text(talk.history[0]) == "Edited by hand."


async def test_an_edited_summary_is_what_is_written(talk: Context) -> None:
    draft = await draft_compaction(talk, summarise=says(SUMMARY))
    await apply_draft(talk, draft, summary="Mine.")
    assert summary_text(talk.history[0]) == "Mine."


async def test_a_second_compaction_updates_the_summary_of_the_first(talk: Context) -> None:
    await compacted(talk)
    for turn in range(7, 12):
        await add_turn(talk, turn)
    briefs: list[str] = []

    async def summarise(system: str, brief: str, tell: Callable[[str], None]) -> str:
        briefs.append(brief)
        return "Updated."

    await apply_draft(talk, await draft_compaction(talk, summarise=summarise))
    assert briefs[0].startswith(f"# Summary so far\n\n{SUMMARY}")
    assert [summary_text(m) for m in talk.history if is_summary(m)] == ["Updated."]


async def test_what_the_next_summary_forgets_of_the_last_one_is_reported(talk: Context) -> None:
    await compacted(talk, f"{SUMMARY}\nThe server listens on port 8123, see docs/ports.md.")
    for turn in range(7, 12):
        await add_turn(talk, turn)
    draft = await draft_compaction(talk, summarise=says("All modules are mended: docs/ports.md."))
    lost = [(loss.kind, loss.text) for loss in draft.view.losses if loss.message == 0]
    assert lost == [("number", "port 8123")]


async def test_the_last_share_adds_files_as_they_are_now(talk: Context, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module_2.py").write_text("fixed = True\n")
    draft = await draft_compaction(
        talk,
        CompactionRequest(strategy="last-share", workspace=str(tmp_path), window=100_000),
        summarise=says(SUMMARY),
    )
    report = await apply_draft(talk, draft)
    assert report.files == ("src/module_2.py",)
    assert "fixed = True" in text_of(talk.history[0].content)
    assert summary_text(talk.history[0]) == SUMMARY


@pytest.mark.parametrize("strategy", strategies().values(), ids=lambda strategy: strategy.name)
async def test_whoever_writes_a_summary_is_shown_the_files_whatever_the_strategy(
    talk: Context, tmp_path: Path, strategy: Strategy
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module_2.py").write_text("fixed = True\n")
    briefs: list[str] = []

    async def summarise(system: str, brief: str, tell: Callable[[str], None]) -> str:
        briefs.append(brief)
        return SUMMARY

    request = CompactionRequest(
        strategy=strategy.name,
        workspace=str(tmp_path),
        window=100_000,
        amounts=CompactionAmounts(recent_tokens=100),
    )
    with suppress(CompactionError):  # short outputs leave nothing to mask
        await draft_compaction(talk, request, summarise=summarise)
    assert len(briefs) == strategy.asks_model
    assert all("fixed = True" in brief for brief in briefs)


async def test_orphans_are_not_sent_and_stay_on_disk(talk: Context) -> None:
    await talk.append(ToolMessage("nobody asked", "lost result"), durability=Durability.D0)
    draft = await compacted(talk)
    assert draft.report.dropped == 1
    assert b"lost result" not in talk.log.path.read_bytes()
    assert b"lost result" in talk.log.path.with_name("context.jsonl.1").read_bytes()


async def test_the_written_usage_is_an_estimate(talk: Context) -> None:
    await compacted(talk)
    usage = talk.state.entries[-1].record
    assert isinstance(usage, UsageRecord)
    assert usage.estimated
