"""Answers a request for a summary without a model: picks out of the brief what it says.

The summary is extractive, so it claims nothing that the conversation did not say: what was asked,
which tools were called on what, which lines spoke of errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_tui.core.messages import text_of
from agent_tui.core.records import UserMessage
from agent_tui.core.text import first_line
from agent_tui.providers.base import ModelRequest

HEADINGS = (
    "Current focus",
    "Environment",
    "Completed work",
    "Open issues",
    "Code state",
    "Important context",
)
_ROLE = re.compile(
    r"^\W*(?:message\s+\d+\W*)?(?:role\W+)?(user|human|assistant|tool)\b[^\n]{0,40}$", re.IGNORECASE
)
_CALL = re.compile(
    r"\b(edit_file|write_file|run_command)\b.{0,20}?\\?\"(?:path|command)\\?\"\s*:\s*\\?\"(.+?)\\?\"[,}]"
)
_PATH = re.compile(
    r"(?<![\w/.-])((?:[\w@-]+/)+[\w@.-]+\.\w{1,5}|[\w@-]+\.(?:py|md|toml|json|txt))\b"
)
_TROUBLE = re.compile(r"\b(?:FAIL(?:ED)?|\w*Error|Traceback|Exception|rejected|cannot)\b")
_DECISION = re.compile(r"\b(?:must|never|always|decided|because|root cause|important|note)\b", re.I)
_MOST = 6
_DISCLOSURE = (
    "Picked out of the conversation by the scripted stand-in: a real model would write a summary."
)


def is_brief(request: ModelRequest) -> bool:
    """Whether the request asks for a summary of a conversation instead of carrying one on.

    It has no tools, and either its one message was written by the compaction, or most of the
    headings of a summary are named in it.
    """
    if request.tools or not request.messages:
        return False
    last = request.messages[-1]
    if not isinstance(last, UserMessage):
        return False
    if last.origin == "compaction" and len(request.messages) == 1:
        return True
    asked = f"{request.system_prompt}\n{text_of(last.content)}".lower()
    return sum(heading.lower() in asked for heading in HEADINGS) >= 4


@dataclass(slots=True)
class _Findings:
    """What was found in a brief, in order, without repeats."""

    prompts: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)


def summarise_brief(request: ModelRequest) -> str:
    """A summary with the six sections, made of the brief's own words."""
    found = _read_brief(text_of(request.messages[-1].content))
    focus = found.prompts[-1] if found.prompts else "Not said in what was summarised."
    sections = (
        [focus],
        [*(f"Command: `{command}`" for command in found.commands[-3:]), _files_line(found.files)],
        [*(f"Asked: {prompt}" for prompt in found.prompts[-_MOST:]), *found.actions[-_MOST:]],
        found.trouble[-_MOST:],
        [f"`{path}` was changed" for path in found.changed[-_MOST:]],
        [*found.decisions[-_MOST:], _DISCLOSURE],
    )
    return "\n\n".join(
        f"## {heading}\n{_bullets(lines)}"
        for heading, lines in zip(HEADINGS, sections, strict=True)
    )


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines if line) or "- None seen."


def _files_line(files: list[str]) -> str:
    return f"Files seen: {', '.join(f'`{path}`' for path in files[:12])}" if files else ""


def _read_brief(brief: str) -> _Findings:
    found = _Findings()
    role, asked = "", False
    for line in brief.splitlines():
        match = _ROLE.match(line)
        if match:
            role, asked = match[1].lower(), False
            continue
        for tool, target in _CALL.findall(line):
            _note_call(found, tool, target)
        for path in _PATH.findall(line):
            _add(found.files, path)
        said = first_line(line.strip().removeprefix("- "), 160)
        if not said or said.lower().rstrip(":") in {"content", "text"}:
            continue
        if role in {"user", "human"} and not asked:
            _add(found.prompts, said)
            asked = True
        elif role != "user" and _TROUBLE.search(line) and len(line) < 200:
            _add(found.trouble, said)
        elif role == "assistant" and _DECISION.search(line) and not _CALL.search(line):
            _add(found.decisions, said)
    return found


def _note_call(found: _Findings, tool: str, target: str) -> None:
    if tool == "run_command":
        _add(found.commands, target)
        _add(found.actions, f"Ran `{target}`")
    else:
        _add(found.changed, target)
        _add(found.actions, f"Changed `{target}`")


def _add(lines: list[str], line: str) -> None:
    if line not in lines:
        lines.append(line)
