"""What the scripted stand-in says when it is asked what was done: what its context still holds."""

from __future__ import annotations

import re

from agent_tui.core.arguments import read_arguments
from agent_tui.core.messages import ToolCall, text_of
from agent_tui.core.records import AssistantMessage, UserMessage, is_prompt
from agent_tui.core.text import first_line
from agent_tui.providers.base import ModelRequest

_BULLETS = re.compile(r"^## Completed work\n((?:- .*\n?)+)", re.MULTILINE)
_CHANGES = {"edit_file", "write_file"}


def recall(request: ModelRequest) -> str:
    """The prompts, changes and commands in the request, after what its summary says was done."""
    summary, prompts, changed, commands = "", [], [], []
    for message in request.messages[:-1]:
        if isinstance(message, UserMessage):
            if message.origin == "compaction":
                match = _BULLETS.search(text_of(message.content))
                summary = match[1].strip() if match else first_line(text_of(message.content))
            elif is_prompt(message):
                prompts.append(f"“{first_line(text_of(message.content), 70)}”")
        elif isinstance(message, AssistantMessage):
            changed += [
                _target(call, "path") for call in message.tool_calls if call.name in _CHANGES
            ]
            commands += [
                _target(call, "command")
                for call in message.tool_calls
                if call.name == "run_command"
            ]
    parts = ["## What I can still see of our conversation"]
    if summary:
        parts.append(
            f"From the summary, because the messages themselves were compacted:\n\n{summary}"
        )
    for title, lines in (("Asked", prompts), ("Changed", changed), ("Ran", commands)):
        if lines:
            parts.append(f"{title}:\n\n" + "\n".join(f"- {line}" for line in dict.fromkeys(lines)))
    if len(parts) == 1:
        parts.append("Nothing: this is the first thing that you ask.")
    return "\n\n".join(parts)


def _target(call: ToolCall, name: str) -> str:
    return f"`{read_arguments(call.arguments).get(name, '?')}`"
