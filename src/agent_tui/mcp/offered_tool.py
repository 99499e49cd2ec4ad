"""A tool as its server describes it: bounded, cleaned, and known by a hash of the whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from agent_tui.core.text import clean, format_count, reveal
from agent_tui.mcp.names import public_name

_LONGEST_NAME = 200
_LONGEST_DESCRIPTION = 4_000
_LONGEST_SCHEMA = 64_000
MOST_TOOLS = 1_000


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """One tool of a server.

    Attributes:
        name: the name under which a model calls it.
        own_name: the name that the server gave it.
        digest: a hash of name, description and schema as the server sent them.
    """

    server: str
    name: str
    own_name: str
    description: str
    schema: dict[str, Any]
    digest: str


@dataclass(frozen=True, slots=True)
class ToolList:
    """What can be offered of a server's tools, and a sentence for each that cannot."""

    tools: tuple[OfferedTool, ...]
    refused: tuple[str, ...]


def read_tools(server: str, listed: Iterable[Any], reserved: Collection[str]) -> ToolList:
    """The tools of a server's list.

    Two tools that would have one name are both refused: nobody could say which is called.
    """
    tools: dict[str, OfferedTool] = {}
    collisions: set[str] = set()
    refused: list[str] = []
    for number, each in enumerate(listed):
        if number == MOST_TOOLS:
            refused.append(f"it lists more than {MOST_TOOLS:,} tools; the rest are ignored")
            break
        tool, trouble = _read_tool(server, each, reserved)
        if tool is None:
            refused.append(trouble)
        elif tool.name in tools:
            collisions.add(tool.name)
            refused.append(f"two of its tools would both be named {tool.name}")
        else:
            tools[tool.name] = tool
    kept = tuple(tool for name, tool in tools.items() if name not in collisions)
    return ToolList(kept, tuple(refused))


def _read_tool(
    server: str, listed: Any, reserved: Collection[str]
) -> tuple[OfferedTool | None, str]:
    shown = reveal(str(listed.name))[:80]
    if not str(listed.name).strip():
        return None, "a tool has no name"
    if len(listed.name) > _LONGEST_NAME:
        return (
            None,
            f"its tool {shown}… has a name of {format_count(len(listed.name), 'character')}",
        )
    name = public_name(server, listed.name)
    if name in reserved:
        return None, f"its tool {shown} asks for the reserved name {name}"
    schema = listed.input_schema if isinstance(listed.input_schema, dict) else {}
    text = _canonical([listed.name, listed.description or "", schema])
    if text is None or len(text) > _LONGEST_SCHEMA:
        return None, f"its tool {shown} has a description that is too long"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    description = clean(listed.description or "").strip()
    if len(description) > _LONGEST_DESCRIPTION:
        description = description[: _LONGEST_DESCRIPTION - 1] + "…"
    return OfferedTool(server, name, listed.name, description, _as_object(schema), digest), ""


def _as_object(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that every API takes: of an object, with properties, without its dialect."""
    kept = {key: value for key, value in schema.items() if key not in ("$schema", "title")}
    return kept | {"type": "object", "properties": kept.get("properties") or {}}


def _canonical(value: Any) -> str | None:
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
