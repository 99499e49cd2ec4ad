"""The settings as a JSON schema, which editors use to complete and check them."""

from __future__ import annotations

import json
from typing import Any

from agent_tui.config.settings import Settings


def settings_schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of ``config.toml``."""
    schema = Settings.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "agent-tui",
    }


def schema_text() -> str:
    """The schema as a file holds it."""
    return json.dumps(settings_schema(), indent=2) + "\n"
