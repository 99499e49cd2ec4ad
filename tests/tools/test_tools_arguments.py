"""A model's JSON becomes typed arguments, or a sentence that the model can act on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.approval import Approvals
from agent_tui.agent.toolset import Toolset
from agent_tui.core.errors import ToolError
from agent_tui.core.events import ApprovalAnswer
from agent_tui.core.messages import ToolCall, ToolResult
from agent_tui.tools.arguments import parse_arguments, schema_of
from agent_tui.tools.base import AnyTool, PlainArguments, Tool, ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.read_file import ReadFile, ReadFileArguments
from agent_tui.tools.todo import Todo


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
    asking = {tool.name for tool in builtin_tools() if tool.acts}
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
        ('{"path": "a", "line_count": 0}', "greater than or equal to 1"),
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


def test_the_fields_of_objects_in_a_list_are_told_too() -> None:
    with pytest.raises(ToolError) as caught:
        parse_arguments(Todo(), '{"items": [{"text": "x", "status": "done"}]}')
    assert str(caught.value) == (
        "Wrong arguments for todo: 'items.0.status' is not a field. "
        "Its fields are: items (text, state)."
    )


class Remote(Tool[PlainArguments]):
    """A tool from elsewhere, with a schema of its own and an opinion on what must be asked."""

    name = "remote__lookup"
    description = "Looks something up."
    parameters = PlainArguments
    acts = True

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}

    def needs_approval(self, arguments: PlainArguments) -> bool:
        return bool((arguments.model_extra or {}).get("id", 0) > 9)

    async def run(self, arguments: PlainArguments, context: ToolContext) -> ToolResult:
        return ToolResult(json.dumps(arguments.model_extra))


def test_a_tool_may_bring_a_plain_json_schema() -> None:
    schema = schema_of(Remote())
    assert schema["parameters"]["required"] == ["id"]
    arguments = parse_arguments(Remote(), '{"id": 3, "model_dump": "odd name"}')
    assert arguments.model_extra == {"id": 3, "model_dump": "odd name"}


async def test_a_tool_decides_by_its_arguments_whether_somebody_is_asked(tmp_path: Path) -> None:
    asked = asyncio.Event()
    approvals = Approvals(lambda _: asked.set())
    toolset = Toolset(lambda: [Remote()], ToolContext(tmp_path))
    free = await toolset.carry_out(ToolCall("1", "remote__lookup", '{"id": 3}'), approvals)
    assert free.result.output == '{"id": 3}'
    held = asyncio.create_task(
        toolset.carry_out(ToolCall("2", "remote__lookup", '{"id": 10}'), approvals)
    )
    await asked.wait()
    approvals.answer("approval-1", ApprovalAnswer("reject"))
    assert (await held).result.rejected


def test_the_tools_may_change_between_steps(tmp_path: Path) -> None:
    tools: list[AnyTool] = [ReadFile()]
    toolset = Toolset(lambda: tools, ToolContext(tmp_path))
    before = toolset.schemas
    assert toolset.refresh() is before
    tools.append(Remote())
    assert [schema.name for schema in toolset.refresh()] == ["read_file", "remote__lookup"]
    assert toolset.has_side_effects(ToolCall("1", "remote__lookup", "{}"))
