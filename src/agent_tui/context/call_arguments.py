"""The arguments of a tool call, as far as they are an object."""

from __future__ import annotations

import json
from typing import Any


def read_arguments(text: str) -> dict[str, Any]:
    """The arguments as an object; empty where the text is not one. Never raises on content."""
    if "{" not in text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
