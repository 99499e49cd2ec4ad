"""Events of Anthropic's Messages API for the scripted server."""

from __future__ import annotations

import json
from typing import Any

from tests.providers.sse_server import Answer, Step, stream


def start(sent: int = 10, **usage: int) -> dict[str, Any]:
    """The first event, with what was sent."""
    return {
        "type": "message_start",
        "message": {"role": "assistant", "usage": {"input_tokens": sent, **usage}},
    }


def block(place: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """One content block: its start, its deltas, its end."""
    return [
        {"type": "content_block_start", "index": place, "content_block": content},
        *({"type": "content_block_delta", "index": place, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": place},
    ]


def text_block(place: int, *pieces: str) -> list[dict[str, Any]]:
    """A block of text."""
    deltas = ({"type": "text_delta", "text": piece} for piece in pieces)
    return block(place, {"type": "text", "text": ""}, *deltas)


def thought_block(place: int, signature: str, *pieces: str) -> list[dict[str, Any]]:
    """A block of thinking with its signature."""
    deltas = ({"type": "thinking_delta", "thinking": piece} for piece in pieces)
    signed = {"type": "signature_delta", "signature": signature}
    return block(place, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, signed)


def call_block(place: int, call_id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    """A block that calls a tool."""
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block(place, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, *deltas)


def end(reason: str = "end_turn", answered: int = 5) -> list[dict[str, Any]]:
    """The last two events."""
    usage = {"output_tokens": answered}
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


def reply(*events: dict[str, Any] | list[dict[str, Any]] | Step) -> Answer:
    """A stream of events, each with its name as the real server sends it."""
    steps: list[Step] = []
    for each in events:
        for event in each if isinstance(each, list) else [each]:
            if isinstance(event, dict):
                data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                steps.append(data.encode())
            else:
                steps.append(event)
    return stream(*steps, done=False)


def hello(**usage: int) -> Answer:
    """A short answer."""
    return reply(start(**usage), {"type": "ping"}, text_block(0, "Hel", "lo."), end())
