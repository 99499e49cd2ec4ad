"""The plain sentences that the scripted stand-in understands, and the tool call each becomes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent_tui.providers.demo.scenario import Reply, ScriptedCall

_PATH = (
    r"[`'\"“]?(?P<path>(?:[\w@.-]+/)*[\w@-]+\.\w+|(?:[\w@.-]+/)+[\w@.-]*"
    r"|(?-i:\b[A-Z]{4,}\b))[`'\"”]?"
)
_PROGRAMS = "python3?|ls|cat|echo|git|head|tail|wc|pwd|make|sleep"


@dataclass(frozen=True, slots=True)
class Wish:
    """One plain sentence that is understood.

    Attributes:
        name: what the improvisation is called; part of its calls' ids.
        pattern: finds the sentence in a prompt.
        answer: makes the reply from what matched.
        is_explicit: it names what to do to what, so that no scene may take it over.
    """

    name: str
    pattern: re.Pattern[str]
    answer: Callable[[re.Match[str]], Reply]
    is_explicit: bool = False


def find_wish(prompt: str, *, explicit_only: bool = False) -> tuple[Wish, re.Match[str]] | None:
    """The first wish that the prompt speaks, with what matched."""
    for wish in _WISHES:
        match = wish.pattern.search(prompt.strip())
        if match and (wish.is_explicit or not explicit_only):
            return wish, match
    return None


def make_edit(prompt: str) -> Reply | None:
    """The edit that a prompt asks for, once its file has been read."""
    found = find_wish(prompt)
    if found is None or found[0].name != "do-edit":
        return None
    match = found[1]
    arguments = {
        "path": match["path"],
        "old_text": _quoted_group(match, "old"),
        "new_text": _quoted_group(match, "new"),
    }
    return Reply(
        text="Now the change: you see it as a diff before it is made.",
        calls=(ScriptedCall("edit_file", arguments),),
    )


def read_path(path: str) -> Reply:
    """A reply that reads a file."""
    return Reply(text=f"Reading `{path}`.", calls=(ScriptedCall("read_file", {"path": path}),))


def _read(match: re.Match[str]) -> Reply:
    path = match["path"]
    return _list_folder(path) if path.endswith("/") else read_path(path)


def _list_folder(path: str) -> Reply:
    arguments = {"pattern": "**/*", "path": path.rstrip("/")}
    return Reply(text=f"Listing `{path}`.", calls=(ScriptedCall("find_files", arguments),))


def _list(match: re.Match[str]) -> Reply:
    pattern = match.groupdict().get("pattern") or "**/*"
    return Reply(
        think="They want to see what is there. find_files lists it.",
        text="Let me look at what is in the workspace.",
        calls=(ScriptedCall("find_files", {"pattern": pattern}),),
    )


def _look(match: re.Match[str]) -> Reply:
    wanted = match["what"]
    return Reply(
        text=f"I do not know where `{wanted}` is; let me look for it.",
        calls=(ScriptedCall("find_files", {"pattern": f"**/*{wanted}*"}),),
    )


def _search(match: re.Match[str]) -> Reply:
    wanted = match.groupdict().get("what") or _quoted_group(match, "text")
    arguments = {"pattern": re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", wanted)}
    path = match.groupdict().get("path")
    if path:
        arguments["path"] = path.rstrip("/")
    return Reply(
        text=f"Searching for `{wanted}`.", calls=(ScriptedCall("search_files", arguments),)
    )


def _read_before_edit(match: re.Match[str]) -> Reply:
    path = match["path"]
    return Reply(
        think=f"An edit of {path}. Read it first, so that the edit fits what is there.",
        text=f"I read `{path}` before I change it.",
        calls=(ScriptedCall("read_file", {"path": path}),),
    )


def _write(match: re.Match[str]) -> Reply:
    arguments = {"path": match["path"], "content": _quoted_group(match, "text") + "\n"}
    return Reply(
        text=f"I write `{match['path']}`, if you allow it.",
        calls=(ScriptedCall("write_file", arguments),),
    )


def _run(match: re.Match[str]) -> Reply:
    command = (match.groupdict().get("what") or _quoted_group(match, "text")).strip()
    return Reply(
        text="This runs only if you allow it.",
        calls=(ScriptedCall("run_command", {"command": command}),),
    )


def _quoted(name: str) -> str:
    """A pattern for a quoted text, whichever quotes it has: read it with _quoted_group."""
    return (
        rf"(?:\"(?P<{name}a>[^\"]+)\"|'(?P<{name}b>[^']+)'"
        rf"|`(?P<{name}c>[^`]+)`|“(?P<{name}d>[^”]+)”)"
    )


def _quoted_group(match: re.Match[str], name: str) -> str:
    groups = match.groupdict()
    return next((text for kind in "abcd" if (text := groups.get(name + kind))), "")


def _wish(
    name: str, answer: Callable[[re.Match[str]], Reply], *patterns: str, explicit: bool = False
) -> tuple[Wish, ...]:
    flags = re.IGNORECASE | re.DOTALL
    return tuple(Wish(name, re.compile(pattern, flags), answer, explicit) for pattern in patterns)


_WISHES = (
    *_wish(
        "do-edit",
        _read_before_edit,
        rf"\b(?:replace|change|rename)\s+{_quoted('old')}\s+(?:with|by|to|into)\s+"
        rf"{_quoted('new')}\s+(?:in|of)\s+(?:the\s+)?(?:file\s+)?{_PATH}",
        rf"\bin\s+(?:the\s+)?(?:file\s+)?{_PATH},?\s+(?:replace|change|rename)\s+{_quoted('old')}"
        rf"\s+(?:with|by|to|into)\s+{_quoted('new')}",
        explicit=True,
    ),
    *_wish(
        "do-write",
        _write,
        rf"\b(?:create|write|make|add)\b.*?{_PATH}\s+"
        rf"(?:with|containing|that\s+says|saying)\b.*?{_quoted('text')}",
        explicit=True,
    ),
    *_wish(
        "do-run",
        _run,
        rf"^(?:please\s+)?(?:run|execute)\s+(?:the\s+)?(?:command\s+)?{_quoted('text')}",
        rf"^(?:please\s+)?(?:run|execute)\s+(?P<what>(?:{_PROGRAMS})\b.*)$",
        r"^!\s*(?P<what>\S.*)$",
        explicit=True,
    ),
    *_wish(
        "do-search",
        _search,
        rf"\b(?:search|find|grep|look|where)\b[^\"'`“]*{_quoted('text')}(?:\s+in\s+{_PATH})?",
        r"\b(?:search(?:\s+for)?|grep(?:\s+for)?|look\s+for|find|where\s+(?:is|are))\s+"
        r"(?:(?:the|all|every|any|word|text|uses?|of)\s+)*"
        rf"(?!files?\b|bugs?\b|\*)(?P<what>[\w()-]+)(?:\s+in\s+{_PATH})?\W*$",
        explicit=True,
    ),
    *_wish(
        "do-read",
        _read,
        r"\b(?:read|open|show|print|cat|view|display|see|look\s+at|what\s+is\s+in|what's\s+in)\b"
        rf"(?:\s+(?:me|the|file|contents?|of|in))*\s+{_PATH}\W*$",
        explicit=True,
    ),
    *_wish(
        "do-list",
        _list,
        r"\b(?:list|show|find|which|what)\b.*?(?P<pattern>(?:[\w/*]+/)?\*\.\w+|\*\*/\S+)",
        r"^(?:please\s+)?(?:ls|dir|tree)\b",
        r"\b(?:list|show|see|find|which|what)\b.*\b(?:files?|folders?|director(?:y|ies)|workspace)\b",
        r"\bwhat(?:'s|\s+is)\s+here\b",
    ),
    *_wish(
        "do-look",
        _look,
        r"^(?:please\s+)?(?:read|open|cat|view)\s+(?:the\s+)?(?P<what>\w[\w-]+)\W*$",
    ),
)
