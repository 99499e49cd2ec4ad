"""Rules that allow more than one action: written so that a person can read, keep and revoke them.

write_file                        every call of a tool
edits(src/app.py)  edits(src/)    edits of a file, or of all files in a folder; edits: of all
run_command(git diff *)           commands that begin so, by tools.command_rules
run_command(make all)             one command, word for word

What reads commands is loaded with the first of them, for no answer has to wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import UsageError
from agent_tui.tools.base import Subject

EDITS = "edits"
_MORE_TOOLS = ("present_plan", "recall", "search_web", "send_dmail", "task")
_RULE = re.compile(r"([A-Za-z_][\w-]*)(?:\((.*)\))?", re.DOTALL)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RISKY = _names(
    "AGENTS.md CLAUDE.md CLAUDE.local.md GEMINI.md HEAD .agents .agent-tui .aider.conf.yml "
    ".bash_login .bash_logout .bash_profile .bashrc .claude .cargo .circleci .clinerules .codex "
    ".cursor .cursorrules .devcontainer .direnv .envrc .exrc .fleet .gdbinit .gemini "
    ".gitattributes .gitconfig .github .gitlab-ci.yml .gitmodules .husky .idea .inputrc .kimi "
    ".lldbinit .mcp.json .mise.toml .npmrc .nvim.lua .nvimrc .opencode .pdbrc .pnpmfile.cjs "
    ".pre-commit-config.yaml .profile .pypirc .roo .venv .vibe .vimrc .vscode .windsurfrules "
    ".yarnrc .yarnrc.yml .zed .zlogin .zlogout .zprofile .zshenv .zshrc lefthook.yml mise.toml "
    "node_modules opencode.json sitecustomize.py usercustomize.py"
)
"""Names whose content is run or obeyed by other programs: accept-edits asks for these.

A folder with a HEAD is taken for a repository by git, which runs what its config names.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is allowed; ``str`` and ``parse`` are each other's inverse."""

    tool: str
    pattern: str = ""

    def __str__(self) -> str:
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule as written in the settings or on the command line.

        Raises:
            UsageError: it is no rule, or one that could never allow anything.
        """
        found = _RULE.fullmatch(text.strip())
        if found is None:
            raise UsageError(
                f"{text!r} is not a rule. Write a tool's name, edits(PATH), or "
                "run_command(git diff *)."
            )
        rule = cls(found[1], (found[2] or "").strip())
        if mistake := rule.mistake():
            raise UsageError(f"{rule} can never allow anything: {mistake}")
        return rule

    def mistake(self) -> str:
        """Why the rule can never allow anything, and what would; empty when it can."""
        match self.tool:
            case "edits":
                return _edits_mistake(self.pattern)
            case "run_command":
                return _pattern_mistake(self.pattern) if self.pattern else ""
            case "edit_file" | "write_file" if self.pattern:
                return _edits_mistake(self.pattern) or (
                    f"a folder is allowed by edits({self.pattern})."
                    if self.pattern.endswith("/")
                    else ""
                )
            case tool if "__" not in tool and tool not in (known := _tool_names()):
                return f"there is no such tool. There are {', '.join(known)}."
            case _:
                return ""

    def covers(self, tool: str, subject: Subject) -> bool:
        """Whether the rule by itself allows a call; commands are judged with all rules together."""
        if self.tool == EDITS:
            return subject.kind == "edit" and _is_at_or_in(subject.text, self.pattern)
        if self.tool != tool or subject.kind == "command":
            return False
        return not self.pattern or self.pattern == subject.text


def rules_allow(rules: Iterable[Rule], tool: str, subject: Subject) -> bool:
    """Whether rules allow a call of a tool on a subject."""
    from agent_tui.tools.commands.command_rules import command_is_allowed

    rules = tuple(rules)
    if subject.kind != "command":
        return any(rule.covers(tool, subject) for rule in rules)
    patterns = [rule.pattern for rule in rules if rule.tool == tool]
    narrow = [each for each in patterns if each]
    return "" in patterns or command_is_allowed(narrow, subject.text, subject.places)


def allowing_rules(rules: Iterable[Rule], tool: str, subject: Subject) -> tuple[Rule, ...]:
    """The rules that together allow a call, none of them needlessly; empty where it is not."""
    rules = tuple(dict.fromkeys(rules))
    if not rules_allow(rules, tool, subject):
        return ()
    for rule in rules:
        if rules_allow((rule,), tool, subject):
            return (rule,)
    for rule in rules:
        others = tuple(each for each in rules if each != rule)
        if rules_allow(others, tool, subject):
            rules = others
    return rules


def offers_for(tool: str, subject: Subject) -> tuple[Rule, ...]:
    """What a person may allow for the session beyond this one call, the likeliest first."""
    match subject.kind:
        case "command":
            from agent_tui.tools.commands.command_rules import offer_patterns

            patterns = offer_patterns(subject.text, subject.places)
            return tuple(Rule(tool, pattern) for pattern in patterns)
        case "edit":
            folder = str(PurePosixPath(subject.text).parent)
            whole = Rule(EDITS, "" if folder == "." else f"{folder}/")
            every = [Rule(EDITS)] if folder != "." else []
            rules = (whole, Rule(EDITS, subject.text), *every)
            return tuple(rule for rule in rules if rule.covers(tool, subject))
        case "web":
            return (Rule(tool, subject.text), Rule(tool))
        case "other":
            return (Rule(tool),)


def is_risky_edit(path: str) -> bool:
    """Whether other programs run or obey what stands in a file."""
    return any(part in _RISKY for part in PurePosixPath(path.casefold()).parts) or any(
        part in _RISKY for part in PurePosixPath(path).parts
    )


def _tool_names() -> tuple[str, ...]:
    """What a rule may begin with; the tools of servers are called ``server__tool``."""
    from agent_tui.tools.catalogue import builtin_tools

    return (EDITS, *(tool.name for tool in builtin_tools()), *_MORE_TOOLS)


def _pattern_mistake(pattern: str) -> str:
    from agent_tui.tools.commands.command_rules import pattern_mistake

    return pattern_mistake(pattern)


def _edits_mistake(pattern: str) -> str:
    place = PurePosixPath(pattern)
    if place.is_absolute() or ".." in place.parts or pattern.startswith("~"):
        return "write a path from the workspace, such as edits(src/)."
    if "*" in pattern:
        return "expected a file or a folder, not a pattern: edits(src/app.py) or edits(src/)."
    if pattern.endswith("/") and is_risky_edit(pattern):
        return "other programs run files from there. Allow them one by one, by path."
    return ""


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
