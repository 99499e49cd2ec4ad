"""Rules that allow more than one action: written so that a person can read, keep and revoke them.

write_file                        every call of a tool
edits(src/app.py)  edits(src/)    edits of a file, or of all files in a folder; edits: of all
run_command(git diff *)           commands that begin so, by tools.command_rules
run_command(make all)             one command, word for word
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent_tui.core.errors import UsageError
from agent_tui.tools.base import Subject
from agent_tui.tools.command_rules import command_is_allowed, offer_patterns

EDITS = "edits"
COMMAND = "run_command"
_RULE = re.compile(r"([A-Za-z_][\w-]*)(?:\((.*)\))?", re.DOTALL)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RISKY = _names(
    "AGENTS.md CLAUDE.md .agents .agent-tui .bashrc .envrc .gitattributes .gitconfig "
    ".github .gitmodules .husky .idea .mcp.json .npmrc .pre-commit-config.yaml .profile "
    ".vscode .zshrc sitecustomize.py usercustomize.py"
)
"""Names whose content is run or obeyed by other programs: accept-edits asks for these."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is allowed; ``str`` and ``parse`` are each other's inverse."""

    tool: str
    pattern: str = ""

    def __str__(self) -> str:
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule as written in the settings or on the command line; raises UsageError."""
        found = _RULE.fullmatch(text.strip())
        if found is None:
            raise UsageError(
                f"{text!r} is no rule. Write a tool's name, edits(PATH), or "
                "run_command(git diff *)."
            )
        return cls(found[1], (found[2] or "").strip())

    def covers(self, tool: str, subject: Subject) -> bool:
        """Whether the rule by itself allows a call; commands are judged with all rules together."""
        if self.tool == EDITS:
            return subject.kind == "edit" and _is_at_or_in(subject.text, self.pattern)
        if self.tool != tool or subject.kind == "command":
            return False
        return not self.pattern or self.pattern == subject.text


def rules_allow(rules: Iterable[Rule], tool: str, subject: Subject) -> bool:
    """Whether rules allow a call of a tool on a subject."""
    rules = tuple(rules)
    if subject.kind != "command":
        return any(rule.covers(tool, subject) for rule in rules)
    patterns = [rule.pattern for rule in rules if rule.tool == tool]
    return "" in patterns or command_is_allowed([each for each in patterns if each], subject.text)


def offers_for(tool: str, subject: Subject) -> tuple[Rule, ...]:
    """What a person may allow for the session beside this one call, the likeliest first."""
    match subject.kind:
        case "command":
            return tuple(Rule(tool, pattern) for pattern in offer_patterns(subject.text))
        case "edit":
            folder = str(PurePosixPath(subject.text).parent)
            whole = Rule(EDITS, "" if folder == "." else f"{folder}/")
            return (whole, Rule(EDITS, subject.text), *([Rule(EDITS)] if folder != "." else []))
        case "web":
            return (Rule(tool, subject.text), Rule(tool))
        case "other":
            return (Rule(tool),)


def is_risky_edit(path: str) -> bool:
    """Whether other programs run or obey what stands in a file."""
    return any(part in _RISKY for part in PurePosixPath(path.casefold()).parts) or any(
        part in _RISKY for part in PurePosixPath(path).parts
    )


def _is_at_or_in(path: str, pattern: str) -> bool:
    """Whether a path is the pattern, or lies in the folder that it names."""
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts:
        return False
    if not pattern:
        return not is_risky_edit(path)
    if pattern.endswith("/"):
        return place.is_relative_to(PurePosixPath(pattern)) and not is_risky_edit(path)
    return place == PurePosixPath(pattern)
