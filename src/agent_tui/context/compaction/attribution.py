"""What fills the context: every token laid at the door of what it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_tui.context.compaction.file_analysis import path_argument
from agent_tui.context.compaction.selection import Room, select
from agent_tui.context.compaction.strategies.registry import find_strategy
from agent_tui.context.compaction.summary_message import is_summary
from agent_tui.context.context import Context
from agent_tui.context.tokens.tokens import MESSAGE_TOKENS, TokenCounter
from agent_tui.core.errors import CompactionError
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.usage import Share

if TYPE_CHECKING:
    from agent_tui.providers.base import ToolSchema

SYSTEM, TOOLS, PROJECT = "system prompt", "tools", "project files"
SUMMARY, USER, AGENT = "summary", "user", "agent"
THINKING, CALLS, RESULTS, MEDIA = "thinking", "tool calls", "tool results", "pictures"
UNKNOWN = "not accounted for"
KINDS = (
    SYSTEM, TOOLS, PROJECT, SUMMARY, USER, AGENT, THINKING, CALLS, RESULTS, MEDIA, UNKNOWN,
)  # fmt: skip
"""Every kind of share, in the order in which a request sends them."""

MAX_SCALE = 1.5
_PROJECT_FILE = re.compile(r"^# Project instructions \((.+)\)$", re.MULTILINE)


@dataclass(slots=True)
class Pile:
    """The tokens of one kind and detail, and what of them would go."""

    tokens: int = 0
    compacted: int = 0
    reverted: int = 0


def attribute_context(
    context: Context,
    tools: Sequence[ToolSchema] | None = None,
    checkpoint: int | None = None,
    *,
    strategy: str = "",
    window: int = 0,
    total: int | None = None,
) -> tuple[Share, ...]:
    """What fills a context, largest kind first; its sum is the token count.

    Each share also says what a compaction now (by ``strategy``, in a ``window``) would free of
    it, and what a revert to ``checkpoint`` would. It counts every message: run it in a thread,
    with the ``total`` asked before: the token count belongs to the event loop.
    """
    messages = context.messages
    cut = len(messages)
    if checkpoint is not None and messages:
        target = context.state.checkpoints.get(checkpoint)
        if target is not None:
            cut = sum(entry.offset < target.offset for entry in context.state.messages)
    return attribute(
        messages,
        context.counter,
        system_prompt=context.system_prompt,
        tools=context.tools if tools is None else tools,
        total=context.token_count if total is None else total,
        revert_cut=cut,
        strategy=strategy,
        window=window,
    )


def attribute(
    messages: Sequence[Message],
    counter: TokenCounter,
    *,
    system_prompt: str,
    tools: Sequence[ToolSchema],
    total: int,
    revert_cut: int,
    strategy: str = "",
    window: int = 0,
) -> tuple[Share, ...]:
    """Shares with the sum ``total``, in the order of KINDS, larger details first.

    Args:
        messages: what the context holds.
        counter: counts them.
        system_prompt: the prompt with the project's instructions in it.
        tools: what requests declare.
        total: the token count of the context; where it is the provider's, shares are scaled to it.
        revert_cut: the index of the first message that a revert would take away.
        strategy: how a compaction would choose; empty for the default one.
        window: the model's window; 0 for what the messages take.
    """
    piles: dict[tuple[str, str], Pile] = {}
    going = _going(messages, counter, strategy, window)
    for kind, detail, tokens in tokens_of_fixed(system_prompt, tools, counter):
        piles.setdefault((kind, detail), Pile()).tokens += tokens
    calls: dict[str, str] = {}
    for index, message in enumerate(messages):
        for kind, detail, tokens in tokens_of_message(message, counter, calls):
            pile = piles.setdefault((kind, detail), Pile())
            pile.tokens += tokens
            pile.compacted += tokens * (index in going)
            pile.reverted += tokens * (index >= revert_cut)
    return scale_piles(piles, total)


def _going(
    messages: Sequence[Message], counter: TokenCounter, strategy: str, window: int
) -> frozenset[int]:
    """The messages that a compaction would take away."""
    tokens = counter.count_messages(messages)
    room = Room(messages, tokens, window or sum(tokens))
    try:
        selection = select(room, find_strategy(strategy).keep(room))
    except CompactionError:
        return frozenset()
    return frozenset(selection.summarised) | frozenset(selection.dropped)


def tokens_of_fixed(
    system_prompt: str, tools: Sequence[ToolSchema], counter: TokenCounter
) -> Iterator[tuple[str, str, int]]:
    """What every request sends beside its messages: (kind, detail, tokens)."""
    parts = _PROJECT_FILE.split(system_prompt)
    of_files = [counter.count_text(text) for text in parts[2::2]]
    yield SYSTEM, "", counter.count_text(system_prompt) - sum(of_files)
    for path, tokens in zip(parts[1::2], of_files, strict=True):
        yield PROJECT, path, tokens
    for tool in tools:
        yield TOOLS, tool.name, counter.count_tool(tool)


def tokens_of_message(
    message: Message, counter: TokenCounter, calls: dict[str, str]
) -> Iterator[tuple[str, str, int]]:
    """What a message adds: (kind, detail, tokens); ``calls`` remembers what its calls are about."""
    kind, detail = USER, ""
    match message:
        case UserMessage():
            kind = SUMMARY if is_summary(message) else USER
        case AssistantMessage():
            kind = AGENT
            for call in message.tool_calls:
                path = path_argument(call.arguments)
                calls[call.id] = f"{call.name}: {path}" if path else call.name
        case ToolMessage():
            kind, detail = RESULTS, calls.get(message.tool_call_id, "")
    yield kind, detail, MESSAGE_TOKENS
    for part, tokens in counter.count_parts(message):
        match part:
            case "thinking":
                yield THINKING, "", tokens
            case "calls":
                yield CALLS, "", tokens
            case "media":
                yield MEDIA, "", tokens
            case _:
                yield kind, detail, tokens


def scale_piles(piles: dict[tuple[str, str], Pile], total: int) -> tuple[Share, ...]:
    """Shares of the piles, scaled to the total within reason; the rest is not accounted for."""
    counted = sum(pile.tokens for pile in piles.values())
    near = abs(total - counted) <= max(16, counted // 100)
    scale = 1.0 if near or not (counted and total) else min(total / counted, MAX_SCALE)
    shares = [
        Share(
            kind,
            round(pile.tokens * scale),
            detail,
            compaction_frees=round(pile.compacted * scale),
            revert_frees=round(pile.reverted * scale),
        )
        for (kind, detail), pile in piles.items()
        if pile.tokens
    ]
    shares.sort(key=lambda share: (KINDS.index(share.kind), -share.tokens, share.detail))
    rest = total - sum(share.tokens for share in shares)
    if shares and abs(rest) > max(len(shares), total // 50):
        shares.append(Share(UNKNOWN, rest))
    elif shares and rest:
        largest = max(range(len(shares)), key=lambda i: shares[i].tokens)
        old = shares[largest]
        shares[largest] = Share(
            old.kind, old.tokens + rest, old.detail, old.compaction_frees, old.revert_frees
        )
    return tuple(shares)
