"""From an empty home to a first answer, at a real terminal."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.stage import KEY, Stage, plain, quit_by_command, say
from tests.providers.sse_server import SseServer


@pytest.fixture
def server() -> Iterator[SseServer]:
    with SseServer() as server:
        server.models = ["qwen3:8b", "llama3.1:8b"]
        yield server


def test_six_key_presses_lead_from_nothing_to_an_answer(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path)
    stage.env["OLLAMA_HOST"] = urlsplit(server.url).netloc
    presses = 0
    with stage.open() as terminal:

        def press(*keys: str) -> None:
            nonlocal presses
            presses += len(keys)
            terminal.press(*keys)

        terminal.wait_for("Find servers on this computer")
        assert server.listings == []
        press("enter")
        terminal.wait_for("llama3.1:8b")
        press("enter")
        terminal.wait_for("Connected: qwen3:8b answered")
        press("h", "i", "enter")
        terminal.wait_for("loopback")
        quit_by_command(terminal)
    assert presses <= 6
    assert [seen.body["model"] for seen in server.requests] == ["qwen3:8b"] * 2
    config = tomllib.loads((stage.home / "config.toml").read_text())
    assert (config["provider"], config["model"]) == ("ollama", "qwen3:8b")
    ran = stage.run("-p", "again")
    assert ran.returncode == 0
    assert "loopback" in ran.stdout


def test_a_server_and_a_key_are_typed_and_the_key_is_kept_apart(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path)
    with stage.open() as terminal:
        terminal.wait_for("Another server")
        terminal.press("end", "enter")
        terminal.wait_for("Address of the server")
        say(terminal, server.url.removeprefix("http:"))
        terminal.wait_for("Expected an address such as")
        server.wants_key = KEY
        terminal.press("home")
        say(terminal, "http:")
        terminal.wait_for("a file that only you can")
        say(terminal, KEY)
        terminal.wait_for("llama3.1:8b")
        terminal.press("enter")
        terminal.wait_for("Connected: qwen3:8b answered")
        say(terminal, "hello")
        terminal.wait_for("loopback")
        quit_by_command(terminal)
    assert KEY.encode() not in terminal.raw
    text = (stage.home / "config.toml").read_text()
    assert KEY not in text
    (path,) = (stage.home / "keys").iterdir()
    assert path.read_text().strip() == KEY
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_where_nothing_answers_it_is_said_and_esc_leaves(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.env["OLLAMA_HOST"] = "127.0.0.1:9"
    with stage.open() as terminal:
        terminal.wait_for("Find servers on this computer")
        terminal.press("enter")
        terminal.wait_for(lambda text: "No server answered" in plain(text))
        terminal.press("escape")
        say(terminal, "hi")
        told = "No model is connected: connect a provider (/connect)"
        terminal.wait_for(lambda text: told in plain(text))
        say(terminal, "/connect")
        terminal.wait_for("Find servers on this computer")
        terminal.press("escape")
        quit_by_command(terminal)
    assert not (stage.home / "config.toml").exists()
