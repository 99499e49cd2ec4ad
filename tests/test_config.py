"""Settings: layers, and mistakes told with file, line and field, but never with a key."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.config import Settings, config_path, data_root, load_settings
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


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "config.toml") == Settings()


def test_flags_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        'model = "a"\n[provider]\nbase_url = "http://file/v1"\n[context]\nratio = 0.5\n'
    )
    settings = load_settings(path)
    assert (settings.model, settings.provider.base_url) == ("a", "http://file/v1")
    monkeypatch.setenv("AGENT_TUI_MODEL", "b")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment/v1")
    settings = load_settings(path)
    assert (settings.model, settings.provider.base_url) == ("b", "http://environment/v1")
    assert settings.context.ratio == 0.5
    assert load_settings(path, model="c").model == "c"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[agent]\n\nmax_steps = 0\n", ", line 3, field agent.max_steps: Input should be greater"),
        ("agent.max_steps = 'x'\n", ", line 1, field agent.max_steps: Input should be a valid"),
        ("agent = { max_steps = 0 }\n", ", line 1, field agent.max_steps: Input"),
        ("model = 3\n", ", line 1, field model: Input should be a valid string, but it is 3."),
        ("[context]\nstrategy = 'x'\n", ", line 2, field context.strategy: Input should be 'last-"),
        ("[contxt]\nratio = 1\n", ", line 1: there is no setting contxt; known here: model, prov"),
        (
            "\n[context]\nration = 1\n",
            ", line 3: there is no setting context.ration; known here: w",
        ),
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
        f"[provider]\napi_key = '{KEY}'\n",
        f"[provider]\napi_key_env = '{KEY}'\n",
        f"[provider]\nkey = ['{KEY}']\n",
        f"openai_api_key = '{KEY}'\n",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    assert KEY not in complain(tmp_path, text)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = '\xe9'"])
def test_a_file_that_is_no_text_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be read as a UTF-8 text file"):
        load_settings(path)


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path)


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
