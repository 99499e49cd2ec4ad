"""A session whose log holds what servers refuse continues: only the request is put right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage
from agent_tui.providers.chat_request import write_message
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage, sendable


def asked(*calls: tuple[str, str]) -> dict[str, Any]:
    """An answer with calls, each an id and its arguments."""
    written = [
        {"type": "function", "id": key, "function": {"name": "read_file", "arguments": arguments}}
        for key, arguments in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": written}


def told(key: str, text: str = "1\tx") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": text}


POISONS: dict[str, list[dict[str, Any]]] = {
    "a call without a result": [asked(("c1", '{"path": "a"}'))],
    "one of two calls without a result": [asked(("c1", "{}"), ("c2", "{}")), told("c1")],
    "a result without a call": [told("c9")],
    "two results of one call": [asked(("c1", "{}")), told("c1"), told("c1")],
    "arguments that are no JSON": [asked(("c1", '{"path": "a')), told("c1")],
    "arguments that are no object": [asked(("c1", "[1, 2]")), told("c1")],
    "an empty answer": [{"role": "assistant", "content": ""}],
    "an answer of nothing but thinking": [
        {"role": "assistant", "content": [{"type": "think", "think": "Hm."}]}
    ],
    "control characters": [
        asked(("c1", '{"path": "\u0000\u001b]0;t\u0007"}')),
        told("c1", "\u0000\u001b[31m\u009b\u202e"),
    ],
    "half a surrogate pair": [{"role": "user", "content": "\ud800", "origin": "human"}],
}


def poison(folder: Path, lines: list[dict[str, Any]]) -> None:
    """Put lines at the end of the one log that there is."""
    (log,) = folder.glob("home/projects/*/*/context.jsonl")
    with log.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize("kind", POISONS)
async def test_a_poisoned_session_continues(tmp_path: Path, kind: str) -> None:
    async with Stage(tmp_path, Reply(text="Hello.")) as stage:
        await stage.say("Hi")
        session_id = stage.session.session_id
    poison(tmp_path, POISONS[kind])
    async with Stage(tmp_path, Reply(text="On it."), resume=session_id) as stage:
        assert await stage.say("And now?") == "done"
        assert stage.on_disk("assistant")[-1]["content"] == "On it."
        assert sendable(stage.session._log.state)
        assert isinstance(stage.provider, Scripted)
        sent = stage.provider.requests[-1].messages
        assert text_of(sent[-1].content) == "And now?"
        for message in sent:
            json.dumps(write_message(message, with_reasoning=False), ensure_ascii=False).encode()
            if isinstance(message, AssistantMessage):
                for call in message.tool_calls:
                    assert isinstance(json.loads(call.arguments), dict)
