"""A model's JSON becomes typed arguments, or a sentence that the model can act on."""

from __future__ import annotations

import json

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.tools.arguments import parse_arguments, schema_of
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.read_file import ReadFile, ReadFileArguments


def test_every_tool_has_a_schema_whose_fields_are_described() -> None:
    for tool in builtin_tools():
        schema = schema_of(tool)
        assert schema["name"] == tool.name
        assert schema["description"]
        assert schema["parameters"]["type"] == "object"
        assert schema["parameters"]["additionalProperties"] is False
        for field in schema["parameters"]["properties"].values():
            assert field["description"]
            assert "title" not in field
        json.dumps(schema)


def test_only_tools_with_side_effects_need_approval() -> None:
    asking = {tool.name for tool in builtin_tools() if tool.needs_approval}
    assert asking == {"edit_file", "write_file", "run_command"}


def test_defaults_fill_what_the_model_left_out() -> None:
    parsed = parse_arguments(ReadFile(), '{"path": "a.py", "line_count": "7"}')
    assert parsed == ReadFileArguments(path="a.py", start_line=1, line_count=7)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"path": "a', "not valid JSON"),
        ("[1]", "not a list"),
        ("null", "not null"),
        ("", "'path' is missing"),
        ("{}", "'path' is missing"),
        ('{"path": "a", "lines": 3}', "'lines' is not a field"),
        ('{"path": "a", "start_line": "x"}', "'start_line'"),
        ('{"path": "a", "start_line": 0}', "greater than or equal to 1"),
        ('{"path": "a", "path": "b"}', "twice"),
        ("[" * 200_000, "nested too deeply"),
        ('{"path":' * 20_000, "nested too deeply"),
    ],
)
def test_wrong_arguments_are_told_in_words(text: str, told: str) -> None:
    with pytest.raises(ToolError, match=told) as caught:
        parse_arguments(ReadFile(), text)
    assert "read_file" in str(caught.value)
    assert len(str(caught.value)) < 600
