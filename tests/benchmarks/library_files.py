"""Sessions of many agents, of any size, written by chance: what the library is measured on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

WORDS = [f"{a}{b}" for a in ("tide", "rain", "harbour", "parser", "datum") for b in range(99)]
CWD = "/home/ada/tide"

Line: TypeAlias = dict[str, Any]


@dataclass
class Turn:
    """One prompt with the answer's thinking, its call of a tool and the result."""

    number: int
    chance: random.Random
    prompt: str = field(init=False)
    code: str = field(init=False)
    output: str = field(init=False)

    def __post_init__(self) -> None:
        self.prompt = " ".join(self.chance.choices(WORDS, k=self.chance.choice((8, 20, 40))))
        words = self.chance.choices(WORDS, k=self.chance.choice((20, 60, 400)))
        self.code = "\n".join(
            f'    {a}_{n} = self.{b}("{c}", {n})  # {c}'
            for n, (a, b, c) in enumerate(zip(words[::3], words[1::3], words[2::3], strict=False))
        )
        self.output = "\n".join(f"src/{word}.py:{n}: {word}" for n, word in enumerate(words))

    @property
    def at(self) -> str:
        """When it was said."""
        day, second = 1 + self.number // 3600 % 28, self.number % 3600
        return f"2026-01-{day:02}T03:{second // 60:02}:{second % 60:02}Z"

    @property
    def path(self) -> str:
        """The file that the call writes."""
        return f"src/f{self.number % 97}.py"


def claude_lines(turn: Turn, name: str) -> Iterator[Line]:
    """Four lines of Claude Code: a prompt, thinking, a call, the result."""
    n = turn.number
    about: Line = {"sessionId": name, "cwd": CWD, "version": "2.1.39", "gitBranch": "main"}
    about |= {"timestamp": turn.at, "isSidechain": False, "userType": "external"}
    given = {"file_path": turn.path, "new_string": turn.code}
    call = {"type": "tool_use", "id": f"t{n}", "name": "Edit", "input": given}
    thought = {"type": "thinking", "thinking": turn.prompt, "signature": "ErUB" * 60}
    usage = {"input_tokens": 3, "cache_read_input_tokens": 900 + n, "output_tokens": 31}
    answer = {"id": f"m{n}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": turn.output}
    patch = [{"oldStart": 1, "newStart": 1, "lines": turn.code.split("\n")}]
    parent = f"{name}-{n - 1}-r" if n else None  # as each has ids of its own: it is no copy
    for key, kind, more in (
        ("p", "user", {"message": {"role": "user", "content": turn.prompt}}),
        ("t", "assistant", {"message": answer | {"content": [thought]}}),
        ("c", "assistant", {"message": answer | {"content": [call]}}),
        (
            "r",
            "user",
            {
                "message": {"role": "user", "content": [result]},
                "toolUseResult": {"filePath": turn.path, "structuredPatch": patch},
            },
        ),
    ):
        yield {"type": kind, "uuid": f"{name}-{n}-{key}", "parentUuid": parent} | about | more
        parent = f"{name}-{n}-{key}"


def codex_lines(turn: Turn, name: str) -> Iterator[Line]:
    """What Codex logs of a turn: most of it twice."""
    n = turn.number

    def line(kind: str, **payload: Any) -> Line:
        return {"timestamp": turn.at, "type": kind, "payload": payload}

    if n == 0:
        yield line("session_meta", id=name, cwd=CWD, cli_version="0.140.0")
    yield line("turn_context", cwd=CWD, model="gpt-5-codex", summary="auto")
    text = [{"type": "input_text", "text": turn.prompt}]
    yield line("response_item", type="message", role="user", content=text)
    yield line("event_msg", type="user_message", message=turn.prompt)
    summary = [{"type": "summary_text", "text": turn.prompt}]
    yield line("response_item", type="reasoning", summary=summary, encrypted_content="gAAA" * 90)
    patch = f"*** Begin Patch\n*** Update File: {turn.path}\n{turn.code}\n*** End Patch"
    call = {"name": "apply_patch", "input": patch, "call_id": f"c{n}"}
    yield line("response_item", type="custom_tool_call", **call)
    told = {"call_id": f"c{n}", "output": turn.output}
    yield line("response_item", type="custom_tool_call_output", **told)
    counts = {"input_tokens": 900 + n, "cached_input_tokens": 400, "output_tokens": 10}
    yield line("event_msg", type="token_count", info={"last_token_usage": counts})


def gemini_lines(turn: Turn, name: str) -> Iterator[Line]:
    """What Gemini's journal says of a turn: the answer is written twice."""
    n = turn.number
    if n == 0:
        yield {"sessionId": name, "projectHash": "ab", "startTime": turn.at, "kind": "main"}
    yield {"id": f"u{n}", "timestamp": turn.at, "type": "user", "content": [{"text": turn.prompt}]}
    answer = {"id": f"g{n}", "timestamp": turn.at, "type": "gemini", "content": turn.prompt}
    answer["model"] = "gemini-2.5-pro"
    yield answer
    response = {"functionResponse": {"response": {"output": turn.output}}}
    given = {"file_path": turn.path, "content": turn.code}
    call = {"id": f"t{n}", "name": "write_file", "args": given, "status": "success"}
    tokens = {"input": 900 + n, "output": 81, "total": 981 + n}
    yield answer | {"toolCalls": [call | {"result": [response]}], "tokens": tokens}


def pi_lines(turn: Turn, name: str) -> Iterator[Line]:
    """pi's entries of a turn."""
    n = turn.number

    def entry(key: str, parent: str | None, message: Line) -> Line:
        about = {"id": f"{n}{key}", "parentId": parent, "timestamp": turn.at}
        return {"type": "message"} | about | {"message": message}

    if n == 0:
        yield {"type": "session", "version": 3, "id": name, "timestamp": turn.at, "cwd": CWD}
    asked = {"role": "user", "content": [{"type": "text", "text": turn.prompt}]}
    yield entry("u", f"{n - 1}r" if n else None, asked)
    given = {"path": turn.path, "newText": turn.code}
    call = {"type": "toolCall", "id": f"c{n}", "name": "edit", "arguments": given}
    usage = {"input": 900 + n, "output": 81, "cacheRead": 2, "totalTokens": 983 + n}
    thought = {"type": "thinking", "thinking": turn.prompt, "thinkingSignature": "sig" * 40}
    answer = {"role": "assistant", "content": [thought, call], "model": "gpt-5", "usage": usage}
    yield entry("a", f"{n}u", answer)
    told = {"role": "toolResult", "toolCallId": f"c{n}", "toolName": "edit", "isError": False}
    yield entry("r", f"{n}a", told | {"content": [{"type": "text", "text": turn.output}]})


def plain_lines(turn: Turn, name: str) -> Iterator[Line]:
    """Messages as kimi and Mistral Vibe keep them, like those of the OpenAI interface."""
    n = turn.number
    yield {"role": "user", "content": turn.prompt}
    arguments = json.dumps({"path": turn.path, "content": turn.code})
    call = {"name": "WriteFile", "arguments": arguments}
    calls = [{"type": "function", "id": f"c{n}", "function": call}]
    yield {"role": "assistant", "content": turn.prompt, "tool_calls": calls}
    yield {"role": "tool", "content": turn.output, "tool_call_id": f"c{n}"}
    yield {"role": "_usage", "token_count": 900 + n}


def our_lines(turn: Turn, name: str) -> Iterator[Line]:
    """Our own records."""
    n = turn.number
    if n == 0:
        yield {"role": "_session", "format": 1, "session_id": name, "cwd": CWD, "at": turn.at}
    parent = f"{n - 1}-3" if n else None
    for number, line in enumerate(plain_lines(turn, name)):
        uuid = f"{n}-{number}"
        yield line | {"uuid": uuid, "parent_uuid": parent, "at": turn.at, "turn": n}
        parent = uuid


Speak: TypeAlias = Callable[[Turn, str], Iterator[Line]]

AGENTS: dict[str, tuple[int, str, Speak]] = {
    "claude-code": (40, ".claude/projects/-home-ada-tide/{}.jsonl", claude_lines),
    "codex": (25, ".codex/sessions/2026/01/02/rollout-{}.jsonl", codex_lines),
    "gemini": (8, ".gemini/tmp/tide/chats/session-{}.jsonl", gemini_lines),
    "pi": (8, ".pi/agent/sessions/--home-ada-tide--/{}.jsonl", pi_lines),
    "kimi": (6, ".kimi/sessions/ab/{}/context.jsonl", plain_lines),
    "vibe": (3, ".vibe/logs/session/session_{}/messages.jsonl", plain_lines),
    "agent-tui": (10, "{}/context.jsonl", our_lines),
}
"""By source: its share in a hundred, where a session of a name is kept, and what it writes."""


def write_session(path: Path, speak: Speak, size: int, seed: int) -> None:
    """A session of about that many bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chance, number, name = random.Random(seed), 0, f"{seed:08x}"
    with path.open("w") as file:
        while file.tell() < size:
            for line in speak(Turn(number, chance), name):
                file.write(json.dumps(line) + "\n")
            number += 1


def write_mixture(home: Path, data: Path, megabytes: int, each: int = 4) -> list[Path]:
    """Sessions of all agents, that many megabytes in files of up to ``each``."""
    paths = []
    for source, (share, pattern, speak) in AGENTS.items():
        left, number = megabytes * share * 10_000, 0
        while left > 0:
            seed = number << 8 | len(source)
            place = pattern.format(f"{seed:08x}")
            ours = data / "projects" / "-home-ada-tide"
            path = (ours if source == "agent-tui" else home) / place
            write_session(path, speak, min(left, each << 20), seed)
            paths.append(path)
            left -= each << 20
            number += 1
    return paths
