"""Writing settings: comments stay, mistakes change nothing, and editors get a schema."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from agent_tui.config import load_settings
from agent_tui.config.settings import Settings
from agent_tui.config.writing import parse_value, set_value, unset_value, write_schema
from agent_tui.core.errors import ConfigError


def test_a_value_is_set_and_everything_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nmodel = "a" # best\n\n[context]\nratio = 0.5\n')
    set_value(path, "context.ratio", 0.7)
    set_value(path, 'models."gpt-4.1".window', 1000)
    text = path.read_text()
    assert text.startswith('# mine\nmodel = "a" # best\n')
    settings = load_settings(path)
    assert settings.context.ratio == 0.7
    assert settings.models["gpt-4.1"].window == 1000


def test_a_list_keeps_the_comments_of_what_stays_in_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    lines = ["  # reads only", '  "ls", # often', "  # the net", '  "fetch_url", # rarely']
    start, end = "[approvals]\nallow = [\n", "\n] # so far\n"
    path.write_text(start + "\n".join([*lines, '  "edits",']) + end)
    set_value(path, "approvals.allow", ["ls", "edits"])
    assert path.read_text() == start + "\n".join([*lines[:3], '  "edits",']) + end
    set_value(path, "approvals.allow", ["edits", "ls", "fetch_url"])
    rest = ["  # reads only", "  # the net", '  "edits",', '  "ls",', '  "fetch_url",']
    assert path.read_text() == start + "\n".join(rest) + end


def test_a_file_that_was_not_there_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    set_value(path, ["providers", "mine", "base_url"], "http://127.0.0.1:1/v1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_settings(path).providers["mine"].base_url == "http://127.0.0.1:1/v1"


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    real, path = tmp_path / "dotfiles.toml", tmp_path / "config.toml"
    real.write_text("")
    path.symlink_to(real)
    set_value(path, "model", "m")
    assert path.is_symlink()
    assert real.read_text() == 'model = "m"\n'


@pytest.mark.parametrize(
    ("key", "value"),
    [("context.ration", 1), ("context.ratio", 7), ("model.x", 1), ("", 1), ("agent", "x")],
)
def test_a_mistake_changes_nothing(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "a"\n')
    with pytest.raises(ConfigError):
        set_value(path, key, value)
    assert path.read_text() == 'model = "a"\n'
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


def test_a_value_that_is_unset_is_the_default_again(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    set_value(path, "context.ratio", 0.5)
    assert unset_value(path, "context.ratio")
    assert load_settings(path) == Settings()
    assert not unset_value(path, "context.ratio")


@pytest.mark.parametrize(
    ("typed", "value"),
    [("3", 3), ("true", True), ("gpt-5", "gpt-5"), ('"3"', "3"), ("[1]", [1]), ("", "")],
)
def test_a_typed_value_is_toml_or_text(typed: str, value: object) -> None:
    assert parse_value(typed) == value


def test_the_schema_knows_every_field(tmp_path: Path) -> None:
    schema = json.loads(write_schema(tmp_path).read_text())
    assert set(schema["properties"]) == set(Settings.model_fields)
    assert schema["$defs"]["ContextSettings"]["properties"]["ratio"]["maximum"] == 1
    assert schema["additionalProperties"] is False
