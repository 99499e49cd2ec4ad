"""Old tool output gives way to a line; what goes is indexed by name; pins stay for good."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_tui.context.compaction.compaction import apply_draft, draft_compaction
from agent_tui.context.compaction.masking import outputs_to_mask
from agent_tui.context.compaction.name_index import index_names
from agent_tui.context.context import Context
from agent_tui.core.errors import CompactionError, ProviderError
from agent_tui.core.messages import ToolCall, text_of
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Message,
    ToolMessage,
    UserMessage,
)
from agent_tui.core.summary import CompactionAmounts, CompactionRequest
from agent_tui.core.summary_format import read_summary, write_summary
from agent_tui.core.usage import Usage
from tests.context.conftest import add_turn
from tests.context.test_context_compaction import SUMMARY, says

WIDE = CompactionRequest(window=100_000)
SMALL = CompactionAmounts(unmasked_tokens=600, masked_from=100)


def asked(strategy: str, amounts: CompactionAmounts = SMALL) -> CompactionRequest:
    return CompactionRequest(strategy=strategy, amounts=amounts)


async def test_masking_keeps_every_message_and_checkpoint_and_asks_no_model(talk: Context) -> None:
    before = talk.token_count
    checkpoints = list(talk.state.checkpoints)
    draft = await draft_compaction(talk, asked("mask"), summarise=says("never asked"))
    assert draft.summary == ""
    assert (draft.report.kept, draft.report.summarised, draft.report.masked) == (24, 0, 5)
    assert draft.report.masked_tokens > 5 * 200
    await apply_draft(talk, draft)
    assert len(talk.history) == 24
    assert list(talk.state.checkpoints) == checkpoints
    assert talk.token_count == draft.report.tokens_after < before
    counts = talk.counter.count_messages(talk.history)
    assert talk.token_count == talk.overhead_tokens + sum(counts)


async def test_a_mask_says_what_the_output_was_and_how_to_read_it(talk: Context) -> None:
    old = [entry.record for entry in talk.state.messages][2]
    await apply_draft(talk, await draft_compaction(talk, asked("mask"), summarise=says("")))
    masked = [m for m in talk.history if isinstance(m, ToolMessage) and m.masked]
    assert masked[0].stamp.uuid == old.stamp.uuid
    assert text_of(masked[0].content) == (
        "[Output of read_file src/module_1.py removed to save space: 61 lines, 930 characters. "
        f'Call recall with message "{old.stamp.uuid}" to read it.]'
    )
    newest = [m for m in talk.history if isinstance(m, ToolMessage)][-1]
    assert not newest.masked


async def test_what_was_masked_is_not_masked_again(talk: Context) -> None:
    await apply_draft(talk, await draft_compaction(talk, asked("mask"), summarise=says("")))
    with pytest.raises(CompactionError, match="Nothing to mask"):
        await draft_compaction(talk, asked("mask"), summarise=says(""))


async def test_a_masking_is_undone_like_any_compaction(talk: Context) -> None:
    before = talk.history
    report = await apply_draft(
        talk, await draft_compaction(talk, asked("mask"), summarise=says(""))
    )
    await talk.log.restore(report.archive, "undo")
    assert talk.history == before


def test_errors_pins_and_the_newest_outputs_are_not_masked() -> None:
    messages: list[Message] = []
    for n in range(6):
        messages.append(AssistantMessage("", (ToolCall(f"c{n}", "read_file", "{}"),)))
        messages.append(ToolMessage(f"c{n}", "long", is_error=n == 1, interrupted=n == 2))
    tokens = [10, 300] * 6
    amounts = CompactionAmounts(unmasked_tokens=400, masked_from=200)
    assert outputs_to_mask(messages, tokens, range(12), [1], amounts) == {7, 9}
    assert not outputs_to_mask(messages, tokens, range(12), [], CompactionAmounts(masked_from=0))


async def test_old_output_is_masked_before_the_rest_is_summarised(talk: Context) -> None:
    request = CompactionRequest(
        strategy="recent-tokens",
        window=9_000,
        amounts=CompactionAmounts(recent_tokens=1_500, unmasked_tokens=300, masked_from=100),
    )
    draft = await draft_compaction(talk, request, summarise=says(SUMMARY))
    fates = [fate.fate for fate in draft.view.before]
    assert {"kept", "masked", "summarised"} <= set(fates)
    await apply_draft(talk, draft)
    record = next(e.record for e in talk.state.entries if isinstance(e.record, CompactionRecord))
    assert record.masked == fates.count("masked") > 0
    assert record.kept == fates.count("kept") + record.masked


def test_an_index_names_files_identifiers_numbers_and_errors_once() -> None:
    messages: list[Message] = [
        UserMessage("Fix parse_header in src/wire.py, it must answer in 340 ms", "human"),
        AssistantMessage("HeaderReader calls parse_header at commit 3f2a91c", ()),
        ToolMessage("c", "ValueError: bad magic 0x17", is_error=True),
    ]
    index = index_names(messages, tokens=200, said="HeaderReader was mended.")
    assert index["Files"] == ["src/wire.py"]
    assert index["Names"] == ["parse_header", "3f2a91c"]
    assert index["Numbers"] == ["340 ms"]
    assert index["Errors"] == ["ValueError: bad magic 0x17"]


def test_an_index_stays_within_its_tokens_and_takes_an_earlier_one_over() -> None:
    earlier = UserMessage(
        write_summary("Done.", (), {"Names": ["first_name"], "Files": ["old.py"]}), "compaction"
    )
    many = UserMessage(" ".join(f"name_number_{n}" for n in range(500)), "human")
    index = index_names([earlier, many], tokens=100)
    assert sum(len(name) + 3 for names in index.values() for name in names) <= 300
    assert index_names([earlier], tokens=100) == {"Files": ["old.py"], "Names": ["first_name"]}


async def test_the_index_stands_beside_the_summary_and_survives_the_next_one(
    talk: Context,
) -> None:
    draft = await draft_compaction(talk, WIDE, summarise=says(SUMMARY))
    assert draft.report.index_tokens > 0
    await apply_draft(talk, draft)
    assert "src/module_1.py" in read_summary(talk.history[0].content).index["Files"]
    for turn in range(7, 10):
        await add_turn(talk, turn)
    await apply_draft(talk, await draft_compaction(talk, WIDE, summarise=says("Again.")))
    told = read_summary(talk.history[0].content)
    assert told.summary == "Again."
    assert {"src/module_1.py", "src/module_8.py"} <= set(told.index["Files"])


async def test_pins_survive_every_later_compaction_until_they_are_taken_away(
    talk: Context,
) -> None:
    first = talk.state.messages[0].record.stamp.uuid
    assert first is not None
    request = CompactionRequest(pins=frozenset({first}))
    await apply_draft(talk, await draft_compaction(talk, request, summarise=says(SUMMARY)))
    for round_ in range(2):
        for turn in range(7, 10):
            await add_turn(talk, turn + 3 * round_)
        await apply_draft(talk, await draft_compaction(talk, summarise=says(SUMMARY)))
        assert first in {message.stamp.uuid for message in talk.history}
    for turn in range(20, 24):
        await add_turn(talk, turn)
    none = CompactionRequest(pins=frozenset())
    await apply_draft(talk, await draft_compaction(talk, none, summarise=says(SUMMARY)))
    assert first not in {message.stamp.uuid for message in talk.history}


class Narrow:
    """A model that takes briefs of so many characters and says how many messages it saw."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.briefs: list[str] = []

    async def __call__(self, system: str, brief: str, tell: Callable[[str], None]) -> str:
        if len(brief) > self.most:
            raise ProviderError("too long", status=400, too_long=True)
        self.briefs.append(brief)
        return f"Summary {len(self.briefs)}."


async def test_a_brief_that_is_too_long_is_summarised_in_parts_and_then_as_one(
    talk: Context,
) -> None:
    model = Narrow(most=2_000)
    draft = await draft_compaction(talk, summarise=model, fall_back=False)
    assert len(model.briefs) > 1
    assert draft.summary == f"Summary {len(model.briefs)}."
    assert f"# Summary so far\n\nSummary {len(model.briefs) - 1}." in model.briefs[-1]
    for number in range(1, 6):
        assert sum(f"src/module_{number}.py and mend" in brief for brief in model.briefs) == 1


async def test_a_brief_that_is_too_long_in_every_part_falls_back(talk: Context) -> None:
    draft = await draft_compaction(talk, summarise=Narrow(most=10))
    assert draft.failure == "too long"
    assert draft.report.fallback


async def test_a_compaction_that_frees_less_than_is_set_is_refused(talk: Context) -> None:
    request = asked("last-messages", CompactionAmounts(minimum_saving=0.99))
    draft = await draft_compaction(talk, request, summarise=says(SUMMARY))
    assert "less than the 99% that context.minimum_saving asks for" in draft.refusal
    with pytest.raises(CompactionError, match="less than the 99%"):
        await apply_draft(talk, draft)


@pytest.mark.parametrize("strategy", ["last-messages", "last-share", "recent-tokens"])
async def test_the_model_is_shown_the_most_important_files_for_every_strategy(
    talk: Context, tmp_path: Path, strategy: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module_2.py").write_text("fixed = True\n")
    model = Narrow(most=1_000_000)
    amounts = CompactionAmounts(kept_messages=1, recent_tokens=100)
    request = CompactionRequest(
        strategy=strategy, workspace=str(tmp_path), window=100_000, amounts=amounts
    )
    await draft_compaction(talk, request, summarise=model)
    shown = model.briefs[0].partition("# Files as they are now")[2]
    assert '<file path="src/module_2.py">\nfixed = True' in shown


async def test_what_a_summary_took_is_in_the_log(talk: Context) -> None:
    from agent_tui.context.compaction.compaction import SummaryCost

    draft = await draft_compaction(
        talk, summarise=says(SUMMARY), cost=lambda: SummaryCost(0, Usage(900, 100))
    )
    await apply_draft(talk, draft)
    records = [entry.record for entry in talk.state.entries]
    (record,) = [record for record in records if isinstance(record, CompactionRecord)]
    assert record.usage == Usage(900, 100)
    assert not any(isinstance(record, Checkpoint) and record.id for record in records)
