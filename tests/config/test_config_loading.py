"""Settings: layers with origins, and mistakes told with file, line and field, never with a key."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.config import (
    Settings,
    config_path,
    data_root,
    load_settings,
    project_config_path,
    resolve_settings,
)
from agent_tui.core.errors import ConfigError

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "AGENT_TUI_MODEL", "AGENT_TUI_HOME"):
        monkeypatch.delenv(name, raising=False)


def complain(tmp_path: Path, text: str) -> str:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert "\n" not in sentence
    return sentence.removeprefix(str(path))


def write_project(project: Path, text: str) -> None:
    path = project_config_path(project)
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "config.toml") == Settings()


def test_flags_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        'model = "a"\n[providers.openai]\nbase_url = "http://file/v1"\n[context]\nratio = 0.5\n'
    )
    settings = load_settings(path)
    assert (settings.model, settings.providers["openai"].base_url) == ("a", "http://file/v1")
    monkeypatch.setenv("AGENT_TUI_MODEL", "b")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment/v1")
    settings = load_settings(path)
    assert settings.model == "b"
    assert settings.providers["openai"].base_url == "http://environment/v1"
    assert settings.context.ratio == 0.5
    assert load_settings(path, model="c").model == "c"


def test_each_value_tells_which_layer_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, project = tmp_path / "config.toml", tmp_path / "project"
    path.write_text('model = "user"\n\n[context]\nratio = 0.5\nreserved = 1\n')
    write_project(project, "[context]\nratio = 0.6\n")
    monkeypatch.setenv("AGENT_TUI_MODEL", "environment")
    resolved = resolve_settings(
        path, flags={("agent", "max_steps"): 7}, project=project, trusts=lambda _: True
    )
    found = {".".join(names): (value, str(o)) for names, (value, o) in resolved.origins().items()}
    assert found["model"] == ("environment", "environment (AGENT_TUI_MODEL)")
    assert found["context.ratio"] == (0.6, f"project ({project_config_path(project)}:2)")
    assert found["context.reserved"] == (1, f"user ({path}:5)")
    assert found["agent.max_steps"] == (7, "flag (--max-steps)")
    assert found["context.auto_compact"] == (True, "default")


def test_a_project_counts_only_when_its_folder_is_trusted(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    write_project(tmp_path, "[context]\nratio = 0.6\n")
    asked: list[Path] = []

    def refuse(folder: Path) -> bool:
        asked.append(folder)
        return False

    assert load_settings(path, project=tmp_path, trusts=refuse) == Settings()
    assert asked == [tmp_path]
    assert load_settings(path, project=tmp_path) == Settings()
    trusted = load_settings(path, project=tmp_path, trusts=lambda _: True)
    assert trusted.context.ratio == 0.6


@pytest.mark.parametrize(
    "text",
    [
        "[providers.openai]\nbase_url = 'http://evil.example/v1'\n",
        "[providers.openai]\napi_key_command = 'touch owned'\n",
        "provider = 'openai'\n",
        "[mcp.servers.x]\ncommand = 'touch'\n",
    ],
)
def test_a_project_never_gives_keys_addresses_or_programs(tmp_path: Path, text: str) -> None:
    write_project(tmp_path, f"# ours\n{text}")
    with pytest.raises(ConfigError, match=r"config.toml, line 2: \w+ cannot be set by a project"):
        load_settings(tmp_path / "none.toml", project=tmp_path, trusts=lambda _: True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[agent]\n\nmax_steps = 0\n", ", line 3, field agent.max_steps: Input should be greater"),
        ("agent.max_steps = 'x'\n", ", line 1, field agent.max_steps: Input should be a valid"),
        ("agent = { max_steps = 0 }\n", ", line 1, field agent.max_steps: Input"),
        ("model = 3\n", ", line 1, field model: Input should be a valid string, but it is 3."),
        ("[context]\nstrategy = 'x'\n", ", line 2, field context.strategy: Input should be 'last-"),
        (
            "[contxt]\nratio = 1\n",
            ", line 1: there is no setting contxt; did you mean context? Known here: model, prov",
        ),
        (
            "\n[context]\nration = 1\n",
            ", line 3: there is no setting context.ration; did you mean context.ratio? Known here",
        ),
        (
            '[models."gpt-4.1"]\nwindwo = 1\n',
            ", line 2: there is no setting models.gpt-4.1.windwo; "
            "did you mean models.gpt-4.1.window?",
        ),
        ("zzz = 1\n", ", line 1: there is no setting zzz; known here: model"),
        ("[provider]\nbase_url = 'x'\n", ", line 1: [provider] is now [providers.NAME]"),
        ("context = 1\n", ", line 1, field context: Input should be a valid dictionary"),
        ("[context\n", " is not valid TOML"),
        ("a = 1\na = 2\n", " is not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_field(tmp_path: Path, text: str, told: str) -> None:
    assert complain(tmp_path, text).startswith(told)


@pytest.mark.parametrize(
    "text",
    [
        f"[providers.x]\napi_key = '{KEY}'\n",
        f"[providers.x]\napi_key_env = '{KEY}'\n",
        f"[providers.x]\nheaders = ['{KEY}']\n",
        f"[providers.x]\nkey = ['{KEY}']\n",
        f"openai_api_key = '{KEY}'\n",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    assert KEY not in complain(tmp_path, text)


def test_a_mistake_in_a_variable_is_told_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1")
    path = tmp_path / "config.toml"
    with pytest.raises(ConfigError, match=r"^--max-steps, field agent\.max_steps"):
        load_settings(path, flags={("agent", "max_steps"): 0})


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = '\xe9'"])
def test_a_file_that_is_no_text_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be read as a UTF-8 text file"):
        load_settings(path)


def test_a_folder_or_a_pipe_in_its_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="expected a regular file"):
        load_settings(tmp_path / "pipe")


@given(text=st.text(max_size=60))
def test_any_text_loads_or_is_told_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-config.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    with suppress(ConfigError):
        load_settings(path)


def test_everything_of_ours_is_under_one_home_when_it_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    assert data_root() == tmp_path
    assert config_path() == tmp_path / "config.toml"
