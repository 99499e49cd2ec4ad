"""Reading foreign JSON: a field of the wrong type is a missing one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

_SECONDS_IN_MS = 1e11  # beyond the year 5000 in seconds: such a number counts milliseconds


def text(value: Any, key: str) -> str:
    """A string field, or an empty string."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def number(value: Any, key: str) -> int:
    """A whole number that is not negative, or 0."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


def table(value: Any, key: str) -> dict[str, Any]:
    """An object field, or an empty object."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def array(value: Any, key: str) -> list[Any]:
    """A list field, or an empty list."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def iso_time(value: Any) -> str:
    """A time as RFC 3339: a string as it is, seconds or milliseconds since 1970; else empty."""
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ""
    seconds = value / 1000 if abs(value) > _SECONDS_IN_MS else value
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def arguments_text(value: Any) -> str:
    """The arguments of a tool call as the JSON text of an object."""
    if isinstance(value, str):
        return value
    return json.dumps(value if value is not None else {}, ensure_ascii=False)


def text_of_parts(content: Any) -> str:
    """The text of a content: a string, a part with a text, or a list of such parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text(content, "text")
    if isinstance(content, list):
        return "".join(part if isinstance(part, str) else text(part, "text") for part in content)
    return ""


def json_text(value: Any) -> str:
    """A value as text for people: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
