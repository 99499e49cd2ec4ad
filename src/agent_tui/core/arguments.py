"""The arguments of a tool call: as an object, and as text for people while they are written."""

from __future__ import annotations

import json
import re
from typing import Any

_FIELD = re.compile(
    r'"([^"\\]+)"\s*:\s*(?:"((?:[^"\\]|\\.)*)"?|(-?\d[\d.]*|true|false|null))', re.DOTALL
)
_GLANCE = 4_000


def read_arguments(text: str) -> dict[str, Any]:
    """The arguments as an object; empty where the text is not one. Never raises on content."""
    if "{" not in text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def show_arguments(text: str) -> dict[str, str]:
    """The top-level fields as text: strings as they are, all else as JSON.

    Arguments that are not (yet) a JSON object give the fields that can be seen at their beginning.
    """
    if text.rstrip().endswith("}"):
        fields = read_arguments(text)
        if fields:
            return {
                str(key): field if isinstance(field, str) else json.dumps(field, ensure_ascii=False)
                for key, field in fields.items()
            }
    return _glance(text[:_GLANCE])


def _glance(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, quoted, bare in _FIELD.findall(text):
        value = bare
        if not bare:
            try:
                value = json.loads(f'"{quoted}"', strict=False)
            except ValueError:
                value = quoted
        found.setdefault(name, value)
    return found
