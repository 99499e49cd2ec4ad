"""Answers a request for a summary without a model: picks out of the brief what it says.

The summary is extractive, so it claims nothing that the conversation did not say: what was asked,
which tools were called on what and how they ended, which lines spoke of trouble.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_tui.core.messages import text_of
from agent_tui.core.records import UserMessage
from agent_tui.core.summary_format import HEADINGS
from agent_tui.core.text import first_line
from agent_tui.providers.base import ModelRequest

_ROLE = re.compile(r"^(?:#+\s*message\s+\d+\W+|role\W+)(user|assistant|tool)\b", re.IGNORECASE)
_PREVIOUS, _TRANSCRIPT = "# summary so far", "# transcript"
_STAYS = "stays in the context"
_WISH = "above all, keep what matters for this:"
_CALL = re.compile(
    r"\b(edit_file|write_file|run_command)\b.{0,20}?\"(?:path|command)\"\s*:\s*"
    r"\"((?:[^\"\\]|\\.)+)"
)
_DEFINED = re.compile(r"\b(?:def|class) (\w+)")
_PATH = re.compile(r"(?<![\w/.-])((?:[\w@-]+/)*[\w@-]+\.(?:py|md|toml|json|txt|js|ts|rs|go|c))\b")
_EXIT = re.compile(r"\[exit code (\d+)")
_TROUBLE = re.compile(r"\b(?:FAIL(?:ED)?|\w*Error|Traceback|Exception|rejected|cannot)\b")
_REFUSED = ("This action was rejected", "Plan mode:")
_DECISION = re.compile(r"\b(?:must|never|always|decided|because|root cause|invented)\b", re.I)
_MOST, _MOST_FILES, _WIDTH = 8, 14, 160
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


def summarise_brief(request: ModelRequest) -> str:
    """A summary with the sections, made of the brief's own words."""
    reader = _BriefReader()
    for line in text_of(request.messages[-1].content).splitlines():
        reader.read(line)
    sections = reader.sections()
    return "\n\n".join(f"## {heading}\n{_bullets(sections[heading])}" for heading in HEADINGS)


@dataclass(slots=True)
class _BriefReader:
    """Goes through a brief line by line and notes what a summary needs, without repeats."""

    role: str = ""
    asked: bool = False
    stays: bool = False
    wish: str = ""
    command: str = ""
    edited: str = ""
    previous: dict[str, list[str]] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    changed: dict[str, set[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    trouble: list[tuple[str, str]] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)

    def read(self, line: str) -> None:
        """Take in one line of the brief."""
        lowered = line.strip().lower()
        match = _ROLE.match(line)
        if match:
            self.role, self.asked, self.stays = match[1].lower(), False, _STAYS in lowered
        elif lowered == _PREVIOUS:
            self.role = "previous"
        elif lowered.startswith((_TRANSCRIPT, "# end of", "# files as")):
            self.role = ""
        elif lowered.startswith(_WISH):
            self.wish = line.strip()[len(_WISH) :].strip()
        elif self.role == "previous":
            self._read_previous(line.strip())
        elif lowered:
            self._read_said(line)

    def sections(self) -> dict[str, list[str]]:
        """The lines of each section, the earlier summary's first."""
        focus = [f"Asked last: {self.prompts[-1]}"] if self.prompts else []
        if self.wish:
            focus.append(f"To be kept above all: {self.wish}")
        new = {
            "Current focus": focus,
            "Environment": [f"Command: `{command}`" for command in self.commands],
            "Completed work": self.actions,
            "Errors and how each was solved": [f"Not solved: {line}" for _, line in self.trouble],
            "Code state": [_describe_change(path, self.changed[path]) for path in self.changed],
            "Decisions": self.decisions,
            "Open issues": [],
        }
        merged = {heading: _merge(self.previous.get(heading, []), new[heading]) for heading in new}
        merged["Current focus"] = focus or merged["Current focus"]
        seen = [f"Files seen: {', '.join(f'`{path}`' for path in self.files[:_MOST_FILES])}"]
        merged["Environment"] += seen if self.files else []
        merged["Decisions"].append(_DISCLOSURE)
        return merged

    def _read_previous(self, line: str) -> None:
        """A line of the summary that this one takes further."""
        if line.startswith("## "):
            self.previous.setdefault(line[3:].strip(), [])
        elif line.startswith("- ") and self.previous:
            said = line[2:].strip()
            if said != _DISCLOSURE and not said.startswith(("None", "Files seen:")):
                self.previous[next(reversed(self.previous))].append(said)

    def _read_said(self, line: str) -> None:
        for path in _PATH.findall(line):
            _add(self.files, path)
        said = first_line(line.strip().removeprefix("- "), _WIDTH)
        if self.role == "user":
            if not self.asked:
                _add(self.prompts, said)
                if not self.stays:  # what stays need not be repeated
                    _add(self.actions, f"Asked: {said}")
            self.asked = True
        elif self.role == "assistant":
            calls = _CALL.findall(line)
            for tool, target in calls:
                self._note_call(tool, target, line)
            if not calls and not line.startswith(("call ", "|")) and _DECISION.search(said):
                _add(self.decisions, said)
        elif self.role == "tool":
            self._read_result(said)

    def _note_call(self, tool: str, target: str, line: str) -> None:
        self.edited = ""
        if tool == "run_command":
            self.command = target
            _add(self.commands, target)
        else:
            self.edited = "" if target in self.changed else target
            self.changed.setdefault(target, set()).update(_DEFINED.findall(line))
            _add(self.actions, f"Changed `{target}`")

    def _read_result(self, said: str) -> None:
        ended = _EXIT.search(said)
        if self.edited and said.startswith(_REFUSED):
            self.actions.remove(f"Changed `{self.edited}`")
            del self.changed[self.edited]
            _add(self.actions, f"Not changed: an edit of `{self.edited}` was not allowed")
            self.edited = ""
        elif ended and self.command:
            self.actions.append(f"Ran `{self.command}`: exit code {ended[1]}")
            if ended[1] == "0":
                self.trouble = [
                    (cause, line) for cause, line in self.trouble if cause != self.command
                ]
            self.command = ""
        elif _TROUBLE.search(said) and (self.command, said) not in self.trouble:
            self.trouble.append((self.command, said))


def _describe_change(path: str, names: set[str]) -> str:
    inside = f" ({', '.join(f'`{name}`' for name in sorted(names))})" if names else ""
    return f"`{path}` was changed{inside}"


def _merge(old: list[str], new: list[str]) -> list[str]:
    return [*(line for line in old if line not in new), *new][-_MOST:]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "None."


def _add(lines: list[str], line: str) -> None:
    if line not in lines:
        lines.append(line)
