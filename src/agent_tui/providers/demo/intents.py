"""The plain sentences that the scripted stand-in understands, and the tool call each becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent_tui.providers.demo.scenario import Reply, ScriptedCall

_PATH = (
    r"[`'\"“]?(?P<path>(?:[\w@.-]+/)*[\w@-]+\.\w+|(?:[\w@.-]+/)+[\w@.-]*"
    r"|(?-i:\b[A-Z]{4,}\b))[`'\"”]?"
)
_FOLDER = r"[`'\"“]?(?P<path>(?:[\w@.-]+/)+)[`'\"”]?"
_PROGRAMS = "python3?|ls|cat|echo|git|head|tail|wc|pwd|make|sleep"
_READ = (
    r"\b(?:read|open|show|print|cat|view|display|see|look\s+at|what\s+is\s+in|what's\s+in)\b"
    r"(?:\s+(?:me|the|file|contents?|of|in))*\s+"
)


def _quoted(name: str) -> str:
    """A pattern for a quoted text, whichever quotes it has."""
    quote = f"(?P={name}_quote)"
    return rf"(?P<{name}_quote>[\"'`“])(?P<{name}>(?:(?!{quote}|”).)+)(?:{quote}|”)"


@dataclass(frozen=True, slots=True)
class Wish:
    """One plain sentence that is understood, and the call that grants it.

    Attributes:
        name: what the improvisation is called; part of its calls' ids.
        text: what is said with the call. It and the arguments are filled in with what matched;
            arguments that stay empty are left out.
        patterns: find the sentence in a prompt.
        is_explicit: it names what to do to what, so that no scene may take it over.
    """

    name: str
    text: str
    tool: str
    arguments: Mapping[str, str]
    patterns: tuple[str, ...]
    is_explicit: bool = True
    think: str = ""

    def match(self, prompt: str) -> dict[str, str] | None:
        """What a prompt says where it speaks this wish; else None."""
        for pattern in self.patterns:
            if match := re.search(pattern, prompt.strip(), re.IGNORECASE | re.DOTALL):
                said = {name: text or "" for name, text in match.groupdict().items()}
                what = (said.get("text") or said.get("what", "")).strip()
                return {
                    **said,
                    "path": said.get("path", "").rstrip("/"),
                    "pattern": said.get("pattern") or "**/*",
                    "what": what,
                    "literally": re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", what),
                }
        return None

    def grant(self, said: Mapping[str, str]) -> Reply:
        """The reply that does it."""
        filled = {name: value.format_map(said) for name, value in self.arguments.items()}
        call = ScriptedCall(self.tool, {name: value for name, value in filled.items() if value})
        return Reply(self.think.format_map(said), self.text.format_map(said), (call,))


def find_wish(prompt: str, *, explicit_only: bool = False) -> tuple[Wish, dict[str, str]] | None:
    """The first wish that the prompt speaks, with what it says."""
    for wish in _WISHES:
        if wish.is_explicit or not explicit_only:
            said = wish.match(prompt)
            if said is not None:
                return wish, said
    return None


def make_edit(prompt: str) -> Reply | None:
    """The edit that a prompt asks for, once its file has been read."""
    said = _EDIT.match(prompt)
    return _CHANGE.grant(said) if said is not None else None


def read_path(path: str) -> Reply:
    """A reply that reads a file."""
    return _READ_FILE.grant({"path": path})


_EDIT = Wish(
    "do-edit",
    "I read `{path}` before I change it.",
    "read_file",
    {"path": "{path}"},
    (
        rf"\b(?:replace|change|rename)\s+{_quoted('old')}\s+(?:with|by|to|into)\s+"
        rf"{_quoted('new')}\s+(?:in|of)\s+(?:the\s+)?(?:file\s+)?{_PATH}",
        rf"\bin\s+(?:the\s+)?(?:file\s+)?{_PATH},?\s+(?:replace|change|rename)\s+{_quoted('old')}"
        rf"\s+(?:with|by|to|into)\s+{_quoted('new')}",
    ),
    think="An edit of {path}. Read it first, so that the edit fits what is there.",
)
_CHANGE = Wish(
    "do-edit",
    "Now the change: you see it as a diff before it is made.",
    "edit_file",
    {"path": "{path}", "old_text": "{old}", "new_text": "{new}"},
    (),
)
_READ_FILE = Wish(
    "do-read", "Reading `{path}`.", "read_file", {"path": "{path}"}, (rf"{_READ}{_PATH}\W*$",)
)
_WISHES = (
    _EDIT,
    Wish(
        "do-write",
        "I write `{path}`, if you allow it.",
        "write_file",
        {"path": "{path}", "content": "{text}\n"},
        (
            rf"\b(?:create|write|make|add)\b.*?{_PATH}\s+"
            rf"(?:with|containing|that\s+says|saying)\b.*?{_quoted('text')}",
        ),
    ),
    Wish(
        "do-run",
        "This runs only if you allow it.",
        "run_command",
        {"command": "{what}"},
        (
            rf"^(?:please\s+)?(?:run|execute)\s+(?:the\s+)?(?:command\s+)?{_quoted('text')}",
            rf"^(?:please\s+)?(?:run|execute)\s+(?P<what>(?:{_PROGRAMS})\b.*)$",
            r"^!\s*(?P<what>\S.*)$",
        ),
    ),
    Wish(
        "do-search",
        "Searching for `{what}`.",
        "search_files",
        {"pattern": "{literally}", "path": "{path}"},
        (
            rf"\b(?:search|find|grep|look|where)\b[^\"'`“]*{_quoted('text')}(?:\s+in\s+{_PATH})?",
            r"\b(?:search(?:\s+for)?|grep(?:\s+for)?|look\s+for|find|where\s+(?:is|are))\s+"
            r"(?:(?:the|all|every|any|word|text|uses?|of)\s+)*"
            rf"(?!files?\b|bugs?\b|\*)(?P<what>[\w()-]+)(?:\s+in\s+{_PATH})?\W*$",
        ),
    ),
    Wish(
        "do-read",
        "Listing `{path}/`.",
        "find_files",
        {"pattern": "**/*", "path": "{path}"},
        (rf"{_READ}{_FOLDER}\W*$",),
    ),
    _READ_FILE,
    Wish(
        "do-list",
        "Let me look at what is in the workspace.",
        "find_files",
        {"pattern": "{pattern}"},
        (
            r"\b(?:list|show|find|which|what)\b.*?(?P<pattern>(?:[\w/*]+/)?\*\.\w+|\*\*/\S+)",
            r"^(?:please\s+)?(?:ls|dir|tree)\b",
            r"\b(?:list|show|see|find|which|what)\b.*"
            r"\b(?:files?|folders?|director(?:y|ies)|workspace)\b",
            r"\bwhat(?:'s|\s+is)\s+here\b",
        ),
        is_explicit=False,
        think="They want to see what is there. find_files lists it.",
    ),
    Wish(
        "do-look",
        "I do not know where `{what}` is; let me look for it.",
        "find_files",
        {"pattern": "**/*{what}*"},
        (r"^(?:please\s+)?(?:read|open|cat|view)\s+(?:the\s+)?(?P<what>\w[\w-]+)\W*$",),
        is_explicit=False,
    ),
)
