"""Which servers there are, how they and their tools may be named, and what projects may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.config import McpServerSettings, McpSettings, Settings
from agent_tui.core.errors import ConfigError
from agent_tui.mcp.names import check_server_name, public_name
from agent_tui.mcp.pins import Pins
from agent_tui.mcp.specs import find_servers, read_mcp_json


def write(folder: Path, servers: Any) -> Path:
    path = folder / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def test_the_common_file_is_read_with_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", "7")
    path = write(
        tmp_path,
        {
            "files": {"command": "npx", "args": ["-y", "${PACKAGE:-server}"], "env": {"A": "1"}},
            "web": {"type": "http", "url": "http://127.0.0.1:${PORT}/mcp", "headers": {"X": "y"}},
            "off": {"command": "x", "disabled": True},
        },
    )
    found = read_mcp_json(path)
    assert found["files"].args == ("-y", "server")
    assert found["files"].env == {"A": "1"}
    assert found["web"].url == "http://127.0.0.1:7/mcp"
    assert not found["off"].enabled


@pytest.mark.parametrize(
    ("servers", "told"),
    [
        ([], "expected"),
        ({"a": 1}, "is not an object"),
        ({"a": {"command": 3}}, "field command"),
        ({"a": {"command": "${NOT_SET_ANYWHERE}"}}, "needs the variable NOT_SET_ANYWHERE"),
        ({"a": {"type": "sse", "url": "http://x"}}, "old SSE transport"),
        (
            {"a": {"command": "x", "env": {"K": "${OPENAI_API_KEY}"}}},
            "projects do not get your",
        ),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(tmp_path: Path, servers: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        read_mcp_json(write(tmp_path, servers), {"OPENAI_API_KEY"})


def test_a_project_is_read_only_when_it_is_given_and_the_users_servers_win(tmp_path: Path) -> None:
    write(tmp_path, {"a": {"command": "theirs"}, "b": {"command": "theirs"}})
    settings = Settings(mcp=McpSettings(servers={"a": McpServerSettings(command="mine")}))
    assert [spec.name for spec in find_servers(settings).specs] == ["a"]
    found = find_servers(settings, tmp_path).specs
    assert [(spec.name, spec.settings.command) for spec in found] == [
        ("a", "mine"),
        ("b", "theirs"),
    ]
    assert found[0].pin_name != found[1].pin_name.partition("@")[0]
    assert found[1].folder == tmp_path


def test_a_server_that_makes_no_sense_does_not_hide_the_others() -> None:
    servers = {
        "neither": McpServerSettings(),
        "both": McpServerSettings(command="x", url="http://x"),
        "odd": McpServerSettings(url="file:///etc/passwd"),
        "mcp": McpServerSettings(command="x"),
        "a__b": McpServerSettings(command="x"),
        "good": McpServerSettings(command="x"),
    }
    found = find_servers(Settings(mcp=McpSettings(servers=servers)))
    assert [spec.name for spec in found.specs] == ["good"]
    assert len(found.troubles) == 5


@pytest.mark.parametrize("name", ["github", "my-server", "my_server", "A1", "x" * 31])
def test_ordinary_server_names_are_taken(name: str) -> None:
    assert check_server_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "a__b", "_a", "a_", "a b", "a/b", "mcp", "Functions", "x" * 70, "é", "a\n"]
)
def test_names_that_would_mislead_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be named"):
        check_server_name(name)


@given(tool=st.text(max_size=200))
def test_every_tool_has_a_name_that_models_accept(tool: str) -> None:
    name = public_name("server", tool)
    assert name.startswith("server__")
    assert len(name) <= 64
    assert all(c.isascii() and (c.isalnum() or c in "_-") for c in name)


@given(st.text(min_size=60, max_size=80), st.text(min_size=60, max_size=80))
def test_long_names_that_differ_stay_different(one: str, other: str) -> None:
    if one != other:
        assert public_name("server", one) != public_name("server", other)


def test_a_damaged_file_of_pins_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    from agent_tui.core.errors import StorageError

    (tmp_path / "pins.json").write_text("{")
    with pytest.raises(StorageError, match="cannot be read"):
        Pins(tmp_path / "pins.json").changed("a", ())
