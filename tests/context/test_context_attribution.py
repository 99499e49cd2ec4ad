from __future__ import annotations

from collections import defaultdict

from agent_tui.context.compaction.attribution import UNKNOWN, attribute_context
from agent_tui.context.compaction.filling import Filling
from agent_tui.context.context import Context
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import AssistantMessage, SystemPrompt, UsageRecord, UserMessage
from agent_tui.core.usage import Share
from agent_tui.providers.base import ToolSchema
from tests.context.conftest import add_turn

TOOLS = (ToolSchema("read_file", "Reads a file.", {"type": "object"}),)


def by_kind(shares: tuple[Share, ...]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for share in shares:
        sums[share.kind] += share.tokens
    return sums


async def test_shares_sum_up_to_the_token_count(talk: Context) -> None:
    talk.tools = TOOLS
    shares = attribute_context(talk)
    assert sum(share.tokens for share in shares) == talk.token_count
    await talk.note(UsageRecord(talk.token_count * 5 // 4))
    assert sum(share.tokens for share in attribute_context(talk)) == talk.token_count


async def test_every_source_has_its_row(talk: Context) -> None:
    thought = (ThinkPart("let me think about it"), TextPart("so"))
    await talk.append(
        UserMessage((TextPart("see"), MediaPart("image_url", "https://x.y/z.png")), "human"),
        AssistantMessage(thought, (ToolCall("x", "run_command", '{"command": "ls"}'),)),
        UserMessage("what came before", "compaction"),
    )
    await talk.note(
        SystemPrompt("Be careful.\n\n# Project instructions (/w/AGENTS.md)\n\nUse tabs, always.")
    )
    talk.tools = TOOLS
    kinds = by_kind(attribute_context(talk))
    assert set(kinds) == {
        "system prompt", "tools", "project files", "summary", "user", "agent", "thinking",
        "tool calls", "tool results", "pictures",
    }  # fmt: skip
    assert kinds["pictures"] == 765


async def test_results_are_told_apart_by_tool_and_file(talk: Context) -> None:
    results = [share for share in attribute_context(talk) if share.kind == "tool results"]
    assert {share.detail for share in results} == {
        f"read_file: src/module_{turn}.py" for turn in range(1, 7)
    }


async def test_each_share_says_what_would_be_freed(talk: Context) -> None:
    shares = attribute_context(talk, checkpoint=5)
    last = next(share for share in shares if share.detail == "read_file: src/module_6.py")
    first = next(share for share in shares if share.detail == "read_file: src/module_1.py")
    prompt = next(share for share in shares if share.kind == "system prompt")
    assert (first.compaction_frees, first.revert_frees) == (first.tokens, 0)
    assert last.revert_frees == last.tokens
    assert (prompt.compaction_frees, prompt.revert_frees) == (0, 0)


async def test_what_we_cannot_explain_is_said_to_be_so(talk: Context) -> None:
    await talk.note(UsageRecord(90_000))
    kinds = by_kind(attribute_context(talk))
    assert kinds[UNKNOWN] > 50_000
    assert sum(kinds.values()) == 90_000


async def test_the_filling_is_the_attribution_without_details_however_the_context_came_about(
    talk: Context,
) -> None:
    talk.tools = TOOLS
    filling = Filling(talk)

    def check() -> None:
        total = talk.token_count
        shares = filling.shares(total)
        assert {share.kind: share.tokens for share in shares} == by_kind(attribute_context(talk))

    check()
    await add_turn(talk, 7)
    check()
    await talk.revert_to(3)
    check()
    await add_turn(talk, 8)
    check()


async def test_the_filling_counts_only_what_came(talk: Context) -> None:
    filling = Filling(talk)
    filling.shares(1_000)
    asked = talk.counter.statistics.hits + talk.counter.statistics.misses
    filling.shares(1_000)
    again = talk.counter.statistics.hits + talk.counter.statistics.misses - asked
    await add_turn(talk, 7)
    filling.shares(1_000)
    after = talk.counter.statistics.hits + talk.counter.statistics.misses - asked - again
    assert again <= 2  # the system prompt
    assert after <= 2 + 6
