"""Tools of servers in the hands of an agent: checked, searched for, asked about and called."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.mcp.borrowed_tool import BorrowedTool
from agent_tui.mcp.offered_tool import OfferedTool
from agent_tui.mcp.search_tools import BorrowedTools, find_tools
from agent_tui.tools.arguments import parse_arguments, schema_of
from agent_tui.tools.base import AnyTool, ToolContext
from tests.headless.command_line import CommandLine
from tests.mcp.stage import ODD, McpStage, odd
from tests.providers.sse_server import SseServer, call_chunk, finish_chunk, stream


def offered(name: str, description: str = "", **properties: Any) -> OfferedTool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return OfferedTool("s", f"s__{name}", name, description, schema, name + description)


async def nothing(tool: OfferedTool, arguments: dict[str, Any], limit: int) -> ToolResult:
    return ToolResult(f"{tool.own_name} {arguments}"[:limit])


async def run(tool: AnyTool, arguments: str, folder: Path) -> ToolResult:
    context = ToolContext(folder)
    parsed = parse_arguments(tool, arguments)
    await tool.preview(parsed, context)
    return await tool.run(parsed, context)


async def test_a_borrowed_tool_is_called_under_its_own_name(tmp_path: Path) -> None:
    tool = BorrowedTool(offered("add", "Adds.", a={"type": "integer"}), nothing)
    assert schema_of(tool) == {
        "name": "s__add",
        "description": "Adds.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
        },
    }
    assert (await run(tool, '{"a": 1}', tmp_path)).output == "add {'a': 1}"
    assert tool.needs_approval(parse_arguments(tool, "{}"))
    assert tool.changes_files, "what it changes on disk is captured around its calls"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{}", "'a' is a required property"),
        ('{"a": "x"}', "a: 'x' is not of type 'integer'"),
        ("[1]", "should be one JSON object"),
    ],
)
async def test_wrong_arguments_are_told_before_anybody_is_asked(
    tmp_path: Path, arguments: str, told: str
) -> None:
    tool = BorrowedTool(offered("add", a={"type": "integer"}), nothing)
    with pytest.raises(ToolError, match=told):
        await run(tool, arguments, tmp_path)


def fanned_out(keyword: str, kind: str) -> dict[str, Any]:
    """A schema that grows by two with each of its references."""
    here = "#/properties/a/$defs"
    defs: dict[str, Any] = {"0": {"type": kind}}
    for number in range(60):
        defs[str(number + 1)] = {keyword: [{"$ref": f"{here}/{number}"}] * 2}
    return {"$defs": defs, "$ref": f"{here}/60"}


def repeated(long: dict[str, Any]) -> dict[str, Any]:
    """A schema with few keywords, each of which takes long."""
    return {"$defs": {"long": long}, "anyOf": [{"$ref": "#/properties/a/$defs/long"}] * 500}


@pytest.mark.parametrize(
    "field",
    [
        fanned_out("allOf", "string"),
        fanned_out("anyOf", "integer"),
        {"$schema": "http://json-schema.org/draft-07/schema#", **fanned_out("anyOf", "integer")},
        {"items": {"$ref": "#/properties/a"}, "allOf": [{"$ref": "#/properties/a"}] * 2},
        {"uniqueItems": True},
        {"type": "nonsense"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/nowhere"},
        {"type": "string", "pattern": "(a+)+$"},
        repeated({"enum": list(range(1_000))}),
        repeated({"const": list(range(1_000))}),
    ],
)
async def test_a_schema_that_cannot_be_checked_safely_is_left_to_the_server(
    tmp_path: Path, field: dict[str, Any]
) -> None:
    tool = BorrowedTool(offered("add", a=field), nothing)
    assert (await run(tool, json.dumps({"a": "a" * 40 + "!"}), tmp_path)).output


@pytest.mark.parametrize(
    ("long", "argument"),
    [
        ({"required": [f"n{number}" for number in range(1_000)]}, {}),
        ({"dependentRequired": {"n": [f"n{number}" for number in range(1_000)]}}, {"n": 1}),
        ({"items": True, "maxItems": 0}, [1] * 5_000),
        ({"maxProperties": 0}, {"n": [1] * 5_000}),
    ],
)
async def test_arguments_that_take_long_to_check_are_left_to_the_server(
    tmp_path: Path, long: dict[str, Any], argument: Any
) -> None:
    tool = BorrowedTool(offered("add", a=repeated(long)), nothing)
    assert (await run(tool, json.dumps({"a": argument}), tmp_path)).output


def test_few_tools_are_described_whole_and_are_the_same_at_each_step() -> None:
    tools = BorrowedTools(lambda: (offered("a"), offered("b")), nothing, described=2)
    assert [tool.name for tool in tools()] == ["s__a", "s__b"]
    assert tools() == tools()


async def test_many_tools_are_found_by_a_search_and_then_callable(tmp_path: Path) -> None:
    many = tuple(offered(f"thing_{n}", f"Does thing number {n}.") for n in range(200))
    wanted = offered("create_issue", "Opens a new issue in a repository.")
    tools = BorrowedTools(lambda: (*many, wanted), nothing, described=24)
    (search,) = tools()
    assert len(json.dumps(schema_of(search))) < 1_000
    assert "s (201 tools)" in search.description
    found = await run(search, '{"query": "open an issue"}', tmp_path)
    assert "s__create_issue: Opens a new issue" in found.output
    assert "s__create_issue" in [tool.name for tool in tools()]
    assert len(tools()) <= 10
    nothing_found = await run(search, '{"query": "zzz"}', tmp_path)
    assert nothing_found.output.startswith("Nothing found.")


async def test_a_tool_without_a_description_is_found_by_its_name(tmp_path: Path) -> None:
    tools = BorrowedTools(lambda: (offered("bare"), offered("b")), nothing, described=1)
    (search,) = tools()
    found = await run(search, json.dumps({"query": "bare"}), tmp_path)
    assert "s__bare" in found.output


def test_a_name_finds_its_tool_first() -> None:
    tools = [offered("read_file", "Reads."), offered("x", "read file read file"), offered("read")]
    assert next(tool.own_name for tool in find_tools(tools, "read")) == "read"


async def test_two_hundred_tools_of_a_server_do_not_fill_the_context(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("many")) as stage:
        assert len(stage.status().tools) == 200
        tools = BorrowedTools(lambda: stage.servers.tools, stage.servers.call, 24)
        assert sum(len(json.dumps(schema_of(tool))) for tool in tools()) < 1_000


# From the command line to the server and back


def set_up(run: CommandLine, way: str, *more: str) -> None:
    ran = run("mcp", "add", "odd", sys.executable, str(ODD), way, *more)
    assert ran.code == 0, ran.err


def test_an_agent_calls_a_tool_of_a_server_and_reads_its_answer(run: CommandLine) -> None:
    set_up(run, "fine")
    call = call_chunk(call_id="c1", name="odd__echo", arguments='{"text": "marco"}')
    with SseServer([stream(call, finish_chunk("tool_calls"))]) as server:
        run.set("OPENAI_BASE_URL", server.url)
        ran = run("-p", "Say it", "--yolo")
        assert ran.code == 0, ran.err
        names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
        assert "odd__echo" in names
    assert run.records("tool")[0]["content"] == "marco"


def test_a_tool_of_a_server_is_asked_for_first(run: CommandLine) -> None:
    set_up(run, "fine")
    call = call_chunk(call_id="c1", name="odd__echo", arguments='{"text": "marco"}')
    with SseServer([stream(call, finish_chunk("tool_calls"))]) as server:
        run.set("OPENAI_BASE_URL", server.url)
        ran = run("-p", "Say it")
    assert ran.code == 5
    assert "echo of the MCP server odd" in ran.err


def test_a_server_that_fails_does_not_stop_the_turn(run: CommandLine) -> None:
    set_up(run, "dies at once")
    with SseServer() as server:
        run.set("OPENAI_BASE_URL", server.url)
        ran = run("-p", "Hi")
    assert ran.code == 0
    assert "MCP server odd: It ended with exit code 2" in ran.err


def test_servers_are_listed_tried_accepted_and_removed(run: CommandLine) -> None:
    state = run.home.parent / "state"
    set_up(run, "changes", str(state))
    assert run("mcp", "list").out.startswith("odd              ready, 1 tool ")
    assert run("mcp", "test", "odd", "echo", '{"text": "polo"}').out.endswith("\npolo\n")
    state.write_text("Something else.")
    assert "new or changed: echo" in run("mcp", "test", "odd").out
    shown = run("mcp", "get", "odd")
    assert "odd__echo (changed)\n  Something else." in shown.out
    assert run("mcp", "accept", "odd").out == "Accepted: odd__echo.\n"
    (status,) = run("mcp", "list", "--json").json
    assert (status["state"], status["tools"]) == ("ready", ["odd__echo"])
    assert run("mcp", "remove", "odd").code == 0
    assert run("mcp", "list").out.startswith("No MCP servers.")
    assert run("mcp", "remove", "odd").code == 2


def test_a_server_with_a_bad_name_or_a_wrong_option_is_refused(run: CommandLine) -> None:
    assert "cannot be named 'a__b'" in run("mcp", "add", "a__b", "x").sentence
    assert run("mcp", "add", "--env", "X", "a", "cmd").code == 2
    assert run("mcp", "add", "a", "--env", "X=1", "cmd").code == 2
    assert run("mcp", "get", "nobody").code == 2
    assert "nobody; none is set up." in run("mcp", "get", "nobody").sentence
    assert not (run.home / "config.toml").exists()


def test_a_project_starts_nothing_before_it_is_trusted(run: CommandLine) -> None:
    touched = run.workspace / "touched"
    servers = {"evil": {"command": "touch", "args": [str(touched)]}}
    (run.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    with SseServer() as server:
        run.set("OPENAI_BASE_URL", server.url)
        assert run("-p", "Hi").code == 0
    assert run("mcp", "list").code == 0
    assert not touched.exists()
    assert "evil" in run("mcp", "list", "--trust").out
    assert touched.exists()
