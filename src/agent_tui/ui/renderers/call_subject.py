"""What a call is about, in a few words for people: the sentence behind the name of its tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_tui.core.arguments import show_arguments
from agent_tui.core.text import first_line, format_count
from agent_tui.core.todo import TODO_TOOL, describe_todo, read_todo
from agent_tui.ui.renderers.long_text import MOST_CHARS

_FIELDS = ("command", "pattern", "query", "path", "file_path", "file", "url", "name", "title")
_LONGEST = 400

Fields = Mapping[str, str]


def describe_call(name: str, arguments: str) -> str:
    """What a call is about; ``arguments`` is JSON text, perhaps not complete yet."""
    if name == TODO_TOOL:
        items = read_todo(arguments[:MOST_CHARS])
        return describe_todo(items) if items else ""
    # Of megabytes only the beginning: nobody waits until all of it is parsed.
    fields = show_arguments(arguments[:MOST_CHARS])
    describe = _BY_TOOL.get(name)
    return (describe(fields) if describe is not None else "") or _field_that_says_most(fields)


def _field_that_says_most(fields: Fields) -> str:
    for key in _FIELDS:
        if fields.get(key):
            where = fields.get("path", "") if key in ("pattern", "query") else ""
            return f"{fields[key]}  in {where}" if where else fields[key]
    return " ".join(f"{key}={value}" for key, value in fields.items())


def _command(fields: Fields) -> str:
    behind = "  in the background" if fields.get("background") == "true" else ""
    return f"{first_line(fields.get('command', ''), _LONGEST)}{behind}"


def _background(fields: Fields) -> str:
    return f"{fields.get('action', '')} command {fields.get('number', '')}".strip()


def _lines(fields: Fields) -> str:
    path, start, count = (fields.get(key, "") for key in ("path", "start_line", "line_count"))
    if start.startswith("-") and start[1:].isdigit():
        return f"{path}  the last {format_count(int(start[1:]), 'line')}"
    if count.isdigit():
        first = int(start) if start.isdigit() else 1
        return f"{path}  lines {first}-{first + int(count) - 1}"
    return f"{path}  from line {start}" if start not in ("", "1") else path


def _append(fields: Fields) -> str:
    behind = "  appended to" if fields.get("append") == "true" else ""
    return f"{fields.get('path', '')}{behind}"


def _question(fields: Fields) -> str:
    return first_line(fields.get("question", ""), _LONGEST)


def _thought(fields: Fields) -> str:
    return first_line(fields.get("thought", ""), _LONGEST)


def _plan(fields: Fields) -> str:
    return first_line(fields.get("plan", "").lstrip("# \n"), _LONGEST)


def _task(fields: Fields) -> str:
    said = first_line(fields.get("prompt", ""), _LONGEST)
    return f"{fields.get('agent', '')}: {said}" if said else fields.get("agent", "")


def _dmail(fields: Fields) -> str:
    said = first_line(fields.get("message", ""), _LONGEST)
    return f"✉ to checkpoint {fields.get('checkpoint', '')}: {said}"


def _recall(fields: Fields) -> str:
    return fields.get("query", "") or f"message {fields.get('message', '')}"


_BY_TOOL: dict[str, Callable[[Fields], str]] = {
    "ask_user": _question,
    "background_command": _background,
    "present_plan": _plan,
    "read_file": _lines,
    "recall": _recall,
    "run_command": _command,
    "send_dmail": _dmail,
    "task": _task,
    "think": _thought,
    "write_file": _append,
}
