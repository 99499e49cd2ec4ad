"""Which provider is asked, and where its key comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import ProviderSettings, Settings
from agent_tui.core.errors import ConfigError
from agent_tui.providers.keys import find_key
from agent_tui.providers.presets import PRESETS, describe_provider
from agent_tui.providers.registry import choose_model

KEY = "sk-canary-0123456789abcdef"
OWN = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset in PRESETS.values():
        if preset.key_env:
            monkeypatch.delenv(preset.key_env, raising=False)


def choose(settings: Settings) -> tuple[str, str] | None:
    choice = choose_model(settings)
    return (choice.provider.name, choice.model) if choice else None


def test_without_a_key_nobody_is_asked() -> None:
    assert choose(Settings()) is None
    assert choose(Settings(model="anthropic/claude-sonnet-4")) is None


def test_the_provider_whose_key_is_there_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert choose(Settings()) == ("anthropic", "")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert choose(Settings(model="gpt-5")) == ("openai", "gpt-5")
    assert choose(Settings(model="anthropic/claude-x")) == ("anthropic", "claude-x")
    assert choose(Settings(model="openai/gpt-5")) == ("openai", "gpt-5")
    assert choose(Settings(model="kimi/kimi-k2")) == ("openai", "kimi/kimi-k2")


def test_a_server_of_ones_own_needs_no_key_and_keeps_slashes_in_names() -> None:
    own = {"openai": ProviderSettings(base_url=OWN)}
    assert choose(Settings(providers=own)) == ("openai", "")
    assert choose(Settings(providers=own, model="openai/gpt-oss-20b")) == (
        "openai",
        "openai/gpt-oss-20b",
    )


def test_a_server_under_a_name_of_ones_own_is_named_before_its_model() -> None:
    mine = {"local": ProviderSettings(base_url=OWN), "other": ProviderSettings(base_url=OWN)}
    for model in ("local/qwen3", "other/qwen3"):
        assert choose(Settings(providers=mine, model=model)) == (model.partition("/")[0], "qwen3")
    assert choose(Settings(providers=mine, model="qwen/qwen3")) == ("local", "qwen/qwen3")
    assert choose(Settings(providers=mine, model="local/qwen/qwen3")) == ("local", "qwen/qwen3")


def test_a_named_provider_is_asked_and_a_wrong_name_tells_the_nearest() -> None:
    mine = {"mine": ProviderSettings(base_url=OWN, model="m"), "other": ProviderSettings()}
    assert choose(Settings(provider="mine", providers=mine)) == ("mine", "m")
    assert choose(Settings(provider="mine", providers=mine, model="openai/x")) == (
        "mine",
        "openai/x",
    )
    with pytest.raises(ConfigError, match="Did you mean mine"):
        choose(Settings(provider="mien", providers=mine))


def test_a_key_comes_from_a_command(tmp_path: Path) -> None:
    spec = describe_provider("x", ProviderSettings(api_key_command=f"printf '{KEY}\\n'"))
    found = find_key(spec)
    assert found.secret.reveal() == KEY
    assert found.source == "api_key_command"


@pytest.mark.parametrize(
    ("command", "told"),
    [("false", "exit code 1"), ("true", "printed nothing"), ("/no/such", "cannot be run")],
)
def test_a_command_without_a_key_is_told(command: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        find_key(describe_provider("x", ProviderSettings(api_key_command=command)))


def test_a_key_comes_from_a_file_that_nobody_else_can_read(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    spec = describe_provider("x", ProviderSettings(api_key_file=str(path)))
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        find_key(spec)
    path.chmod(0o600)
    assert find_key(spec).secret.reveal() == KEY
