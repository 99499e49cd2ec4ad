"""Reading the JSON text of a tool call's arguments, also while it is still being written."""

from __future__ import annotations

import json
import re
from typing import Any

_FIELD = re.compile(
    r'"([^"\\]+)"\s*:\s*(?:"((?:[^"\\]|\\.)*)"?|(-?\d[\d.]*|true|false|null))', re.DOTALL
)


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments as an object, or None where the text is not one (never raises on content)."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def glance_arguments(text: str) -> dict[str, str]:
    """The plain fields that can be seen in arguments, complete or not, as text for people."""
    found: dict[str, str] = {}
    for name, quoted, bare in _FIELD.findall(text[:4_000]):
        value = bare
        if not bare:
            try:
                value = json.loads(f'"{quoted}"', strict=False)
            except ValueError:
                value = quoted
        found.setdefault(name, value)
    return found
