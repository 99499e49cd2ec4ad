"""The schema of the settings tells an editor what each of them means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_tui.config.schema import settings_schema


def settings_of(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    sections = {"": schema, **schema["$defs"]}
    for section, body in sections.items():
        for name, field in body["properties"].items():
            yield f"{section}.{name}".strip("."), field


def test_every_setting_says_what_it_means_in_a_sentence() -> None:
    schema = settings_schema()
    found = dict(settings_of(schema))
    assert len(found) > 60
    told = {
        name: field.get("description")
        or schema["$defs"][field["$ref"].rpartition("/")[2]].get("description", "")
        if "$ref" in field
        else field.get("description", "")
        for name, field in found.items()
    }
    assert not [name for name, text in told.items() if not text.strip().endswith((".", "…"))]
