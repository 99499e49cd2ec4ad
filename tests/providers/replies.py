"""Short words for what a provider's stream holds."""

from __future__ import annotations

from agent_tui.core.events import (
    ReplyEnded,
    StreamPart,
    TextDelta,
    ThinkDelta,
    ToolCallBegan,
    ToolCallDelta,
)
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Message, UserMessage
from agent_tui.providers.base import ModelRequest, Provider, ToolSchema

TOOL_NAMES = (
    "read_file",
    "write_file",
    "edit_file",
    "find_files",
    "search_files",
    "run_command",
)
TOOLS = tuple(
    ToolSchema(name, f"{name} does what it says.", {"type": "object", "properties": {}})
    for name in TOOL_NAMES
)


def ask(
    *messages: Message | str, tools: tuple[ToolSchema, ...] = TOOLS, model: str = "m"
) -> ModelRequest:
    """A request; plain strings are what a person said."""
    said = tuple(UserMessage(m, origin="human") if isinstance(m, str) else m for m in messages)
    return ModelRequest(model, "Be helpful.", said, tools)


async def play(provider: Provider, request: ModelRequest) -> list[StreamPart]:
    """The whole reply."""
    return [part async for part in provider.stream(request)]


def text(parts: list[StreamPart]) -> str:
    """The answer's text."""
    return "".join(part.text for part in parts if isinstance(part, TextDelta))


def thinking(parts: list[StreamPart]) -> str:
    """The answer's reasoning."""
    return "".join(part.text for part in parts if isinstance(part, ThinkDelta))


def calls(parts: list[StreamPart]) -> list[ToolCall]:
    """The answer's tool calls, put together as the agent does."""
    drafts = {p.index: [p.call_id, p.name, ""] for p in parts if isinstance(p, ToolCallBegan)}
    for part in parts:
        if isinstance(part, ToolCallDelta):
            drafts[part.index][2] += part.arguments
    return [ToolCall(*draft) for draft in drafts.values()]


def answer(parts: list[StreamPart]) -> AssistantMessage:
    """The message that the reply becomes."""
    return AssistantMessage(text(parts), tuple(calls(parts)))


def ended(parts: list[StreamPart]) -> ReplyEnded:
    """The end of the reply, of which there is exactly one."""
    assert isinstance(parts[-1], ReplyEnded)
    assert sum(isinstance(part, ReplyEnded) for part in parts) == 1
    return parts[-1]
