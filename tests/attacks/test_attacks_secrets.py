"""A key in the wrong place: no error message repeats it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import load_settings
from agent_tui.core.errors import ConfigError
from agent_tui.providers.failures import Server
from agent_tui.providers.secret import Secret
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui

KEY = "sk-canary-0123456789abcdefghijklmnop"
PLACES = [
    f'[providers.openai]\ntimeout_seconds = "{KEY}"',
    f'[providers.openai]\napi_key_env = "{KEY}"',
    f'[providers.openai]\nkind = "{KEY}"',
    f'[context]\nwindow = "{KEY}"',
    f'[context]\nratio = "https://user:{KEY[:12]}@host/"',
    f'[ui]\ntheme = ["{KEY}"]',
]


@pytest.mark.parametrize("text", PLACES)
def test_a_key_in_the_wrong_field_is_not_repeated(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "https", "ftp", "ws", "socks5", "foo+bar"])
def test_a_password_in_an_address_of_any_scheme_is_not_repeated(scheme: str) -> None:
    url = f"{scheme}://user:hunter2hunter2@host/v1"
    server = Server(url, "m", Secret(""), "X")
    assert "hunter2" not in server.quote(f"It is at {url}.")
    assert "hunter2" not in server.shown_url


async def test_a_crash_prints_its_traceback_without_the_value_of_any_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    app = AgentTui(Launch(tmp_path))
    async with app.run_test():
        held = KEY.upper()  # a variable of the frame that fails
        try:
            int("a bug")
        except ValueError:
            app._fatal_error()
    told = "".join(capfd.readouterr())
    assert "ValueError" in told
    assert held not in told
