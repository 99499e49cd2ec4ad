"""What one line of a session log says, for a search: its words, who spoke, tools, files, errors.

The lines of all agents are JSON objects that say the same few things under much the same names, so
one walk reads them all; what an agent logs twice, and what is no text, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent_tui.core.errors import BadRecord
from agent_tui.core.jsonl import bulk_decoder
from agent_tui.core.summary_format import opens_summary, told_in_summary
from agent_tui.core.times import known_time
from agent_tui.importers.codex_items import is_failed

MAX_TEXT = 200_000
"""Characters of one line that are indexed; of a longer one its beginning and its end."""

TITLE = "title"
"""The role of a line that only names the session."""
_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "gemini": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "toolResult": "tool",
    "tool_result": "tool",
    "tool_use": "assistant",
    "function_call": "assistant",
    "custom_tool_call": "assistant",
    "local_shell_call": "assistant",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
    "bashExecution": "tool",
    "reasoning": "assistant",
    "system": "system",
    "developer": "system",
    "_title": TITLE,
    "custom-title": TITLE,
    "ai-title": TITLE,
}
_COMPACTIONS = {"_compaction", "compact_boundary", "compacted", "compaction"}
_TWICE = {"event_msg", "progress", "file-history-snapshot", "turn_context", "last-prompt"}
"""Lines that repeat what other lines of the same log say, or that hold no talk."""
_MUTE = {"_session", "_usage", "_head", "_checkpoint", "_system_prompt", "_workspace"}
"""Roles of our lines that nobody said: what every session begins with is no find."""
_SILENT = frozenset(
    (
        *("id", "uuid", "parentUuid", "parent_uuid", "parentId", "sessionId", "session_id"),
        *("requestId", "signature", "encrypted", "encrypted_content", "usage", "timestamp", "at"),
        *("version", "cwd", "gitBranch", "git_branch", "type", "role", "model", "tool_use_id"),
        *("tool_call_id", "toolCallId", "call_id", "callId", "data", "url", "toolUseResult"),
        *("thoughtSignature", "replacement_history", "tokens", "stop_reason", "finish_reason"),
        *("status", "level", "logicalParentUuid", "leafUuid", "message_id", "provider", "api"),
        *("responseId", "media_type", "mimeType", "origin", "subtype", "userType", "slug"),
        *("entrypoint", "permissionMode", "promptId", "promptSource", "sourceToolAssistantUUID"),
        *("thinkingSignature", "stopReason", "created_at"),
        *("sourceToolUseID", "agentId", "interruptedMessageId", "sessionKind"),
    )
)
"""Names whose values nobody would search for, or that are read by name."""
_NOT_GIVEN = (_SILENT - {"data"}) | {"name", "type", "tool"}
"""Names within a call that are no argument of it."""
_PATHS = frozenset(
    (
        *("file_path", "path", "filePath", "absolute_path", "notebook_path", "filename"),
        *("target_file", "dir_path"),
    )
)
_WRITES = re.compile(r"write|edit|patch|replace|create|insert|delete|remove|move", re.IGNORECASE)
_PATCHED = re.compile(r"\*\*\* (?:Update|Add|Delete) File: (.+)")
"""Without a ``^``: a pattern that begins with plain characters is looked for much faster."""
_LONGEST_WORD = 2_000
"""Characters: what begins with a longer one is a picture, or another encoding of bytes."""
_BLANK = re.compile(r"\s")
_INNER = ("message", "payload")
_TIMES = ("at", "timestamp", "time", "created_at")
_CALL_IDS = ("id", "call_id", "callID", "toolCallId")
_ANSWERED = ("tool_use_id", "tool_call_id", "toolCallId", "call_id")
_TOLD = frozenset(("model", "status", *_ANSWERED))
"""Of the silent names, those whose values say something of the line."""
_ERRORS = ("is_error", "isError")
_CALLS = {"tool_use", "toolCall", "function_call", "custom_tool_call", "tool"}


@dataclass(slots=True)
class LineText:
    """What a line says.

    Attributes:
        calls: the calls of tools in it, by id and name.
        call_paths: the files that each of them names.
        answers: the ids of the calls whose results it holds, in their order and with no value:
            Claude Code logs several in one line.
        failed: those of them that the line says failed.
        touched: the files that a call in it writes.
        is_summary: it stands for what was compacted: nobody said it, whatever its role was.
    """

    role: str = ""
    at: str = ""
    model: str = ""
    texts: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    call_paths: list[set[str]] = field(default_factory=list)
    answers: dict[str, None] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    is_error: bool = False
    is_compaction: bool = False
    is_summary: bool = False

    @property
    def tools(self) -> set[str]:
        """The names of the tools that are called."""
        return {name for _, name in self.calls}

    def has_failed(self, call: str) -> bool:
        """Whether one of the calls that it answers failed."""
        return self.is_error and (call in self.failed or not self.failed)

    @property
    def text(self) -> str:
        """Everything that is said, cut to what is indexed."""
        text = "\n".join(self.texts)
        if len(text) <= MAX_TEXT:
            return text
        return f"{text[: MAX_TEXT * 3 // 4]}\n{text[-MAX_TEXT // 4 :]}"


def read_line(line: bytes) -> LineText | None:
    """What a line says; None for one that is damaged, that another one repeats, or that is mute."""
    value = decode(line)
    return read_object(value) if value is not None else None


def decode(line: bytes) -> dict[str, Any] | None:
    """The object of a line, whose texts are all UTF-8; None for one that is damaged."""
    try:
        value = bulk_decoder()(line)
    except BadRecord:
        return None
    if b"\\ud" in line or b"\\uD" in line:
        value = encodable(value)
    return value


_Value = TypeVar("_Value")


def encodable(value: _Value) -> _Value:
    """The same with all texts as UTF-8: JSON can escape half a character, no database takes it."""
    found: Any = value
    if type(found) is str:
        found = found.encode("utf-8", "replace").decode()
    elif type(found) is dict:
        found = {encodable(key): encodable(each) for key, each in found.items()}
    elif type(found) is list:
        found = [encodable(each) for each in found]
    result: _Value = found
    return result


def read_object(value: dict[str, Any]) -> LineText | None:
    """What an object of a log says, as read_line does."""
    kind, role = _word(value, "type"), _word(value, "role")
    if kind in _TWICE or role in _MUTE:
        return None
    found = LineText(_role_of(value, kind, role), time_of(value))
    if (
        kind in _COMPACTIONS
        or role in _COMPACTIONS
        or ("subtype" in value and _word(value, "subtype") in _COMPACTIONS)
        or value.get("isCompactSummary") is True
    ):
        found.is_compaction = True
    _walk(value, found)
    if not (found.texts or found.calls or found.is_compaction):
        return None
    if found.role == "user" and found.texts:
        found.is_summary = found.is_compaction or opens_summary(found.texts[0])
    if found.is_summary:  # what it tells was said in lines that are searched as well
        found.role, found.texts = "system", told_in_summary(found.texts)
    if found.role == "tool" and not found.is_error:
        found.is_error = _is_failed(value)
    return found


def _is_failed(value: dict[str, Any]) -> bool:
    """Whether a line is the result of a call that failed, which Codex says within its text."""
    payload = value.get("payload")
    return is_failed(payload if type(payload) is dict else value)


def _word(value: dict[str, Any], name: str) -> str:
    """What stands under a name, where it is a text: anything else may stand there as well."""
    word = value.get(name)
    return word if type(word) is str else ""


def _role_of(value: dict[str, Any], kind: str, role: str) -> str:
    """Who spoke: the outermost object that says it counts; ``kind`` and ``role`` are its own."""
    found = _ROLES.get(role) or _ROLES.get(kind)
    if found is not None:
        return "tool" if found == "user" and _holds_result(value) else found
    for name in _INNER:
        inner = value.get(name)
        if type(inner) is dict:
            found = _ROLES.get(_word(inner, "role")) or _ROLES.get(_word(inner, "type"))
            if found is not None:
                return "tool" if found == "user" and _holds_result(inner) else found
    return ""


def _holds_result(message: dict[str, Any]) -> bool:
    content = message.get("content")
    if not isinstance(content, list) or not content:
        inner = message.get("message")
        content = inner.get("content") if isinstance(inner, dict) else None
    if not isinstance(content, list) or not content:
        return False
    first = content[0]
    return isinstance(first, dict) and first.get("type") == "tool_result"


def time_of(value: dict[str, Any]) -> str:
    """When an object of a log was written; empty where it does not say."""
    for name in _TIMES:
        at = value.get(name)
        if type(at) is str and (known := known_time(at)):
            return known
    return ""


def _walk(value: dict[str, Any], found: LineText) -> None:
    if ("name" in value or "function" in value or "tool" in value) and _is_call(value, found):
        return
    for key, each in value.items():
        sort = type(each)
        if key in _SILENT:
            if sort is str and key in _TOLD:
                _read_told(key, each, found)
        elif sort is str:
            if key in _PATHS and each:
                found.paths.add(each)
            if len(each) > _LONGEST_WORD:
                _add_text(each, found)
            elif each:
                found.texts.append(each)
        elif sort is dict:
            _walk(each, found)
        elif sort is list:
            _walk_list(each, found)
        elif each is True and key in _ERRORS:
            found.is_error = True
            if call := next(filter(None, (_word(value, name) for name in _ANSWERED)), ""):
                found.failed.add(call)


def _is_call(value: dict[str, Any], found: LineText) -> bool:
    """Read a call of a tool; False where the object is none."""
    function, name = value.get("function"), value.get("name")
    if type(function) is dict and type(function.get("name")) is str:
        _read_call(function["name"], {**function, "id": value.get("id")}, found)
        return True
    kind = _word(value, "type")
    if type(name) is str and (kind in _CALLS or "args" in value or "arguments" in value):
        _read_call(name, value, found)
        return True
    if kind == "tool" and (tool := _word(value, "tool")):
        _read_call(tool, value, found)
        return True
    return False


def _read_told(key: str, told: str, found: LineText) -> None:
    """What is read by its name and is no text to be searched."""
    if key == "model":
        found.model = told or found.model
    elif key == "status":
        found.is_error |= told in ("error", "failed")
    elif told:
        found.answers[told] = None


def _walk_list(values: list[Any], found: LineText) -> None:
    for each in values:
        if type(each) is dict:
            _walk(each, found)
        elif type(each) is str:
            _add_text(each, found)
        elif type(each) is list:
            _walk_list(each, found)


def _add_text(text: str, found: LineText) -> None:
    if len(text) > _LONGEST_WORD and not _BLANK.search(text, 0, 1_000):
        return
    if text:
        found.texts.append(text)


def _read_call(name: str, value: dict[str, Any], found: LineText) -> None:
    """A call of a tool: its name, the files it names, and every argument as text."""
    call = next((value[key] for key in _CALL_IDS if isinstance(value.get(key), str)), "")
    found.calls.append((call, name))
    around, own = found.paths, set[str]()
    found.call_paths.append(own)
    found.paths = own  # so that a line with many calls is not compared with itself for each
    for key, each in value.items():
        if key in _NOT_GIVEN:
            continue
        if type(each) is str:
            inner = _inner_object(each) if key in ("arguments", "input") else None
            if inner is None:
                _add_text(each, found)
            else:
                _walk(inner, found)
        elif type(each) is dict:
            if each.get("status") == "error":
                found.is_error = True
            _walk(each, found)
        elif type(each) is list:
            _walk_list(each, found)
    found.paths = around
    if _WRITES.search(name):
        found.touched |= own
    for path in _patched(value):
        found.touched.add(path)
        own.add(path)
    found.paths |= own


def _inner_object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        return bulk_decoder()(text.encode())
    except BadRecord:
        return None


def _patched(value: dict[str, Any]) -> Iterator[str]:
    for key in ("input", "arguments"):
        text = value.get(key)
        if isinstance(text, str) and "*** " in text:
            text = text.replace("\\n", "\n")
            for found in _PATCHED.finditer(text):
                if found.start() == 0 or text[found.start() - 1] == "\n":
                    yield found[1]
