"""The first screen offers to go on where its folder was left; a key opens that session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, quit_by_command, say
from tests.providers.sse_server import SseServer


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with SseServer() as server:
        yield Stage(tmp_path, server)


def test_the_last_session_of_the_folder_is_chosen_by_keys(stage: Stage) -> None:
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        terminal.wait_for("● ready")
        terminal.pump(0.5)
        assert "Continue" not in terminal.text
        say(terminal, "Which tide is the highest?")
        terminal.wait_for("loopback")
        terminal.wait_for("● ready")
        quit_by_command(terminal)
    session = stage.disk.session_id
    with stage.open() as terminal:
        terminal.wait_for("Continue “Which tide is the highest?”")
        terminal.press("down", "down", "down", "down")
        terminal.wait_for("\u276f Continue “Which tide is the highest?”")
        terminal.wait_for(" tokens")  # how much of it there is
        terminal.press("enter")
        terminal.wait_for("loopback")
        say(terminal, "And the lowest?")
        terminal.wait_for(lambda text: text.count("loopback") > 1)
        terminal.wait_for("● ready")
        say(terminal, "/new")
        terminal.wait_for("Continue “Which tide is the highest?”")
        quit_by_command(terminal)
    assert stage.disk.of(session).records()
    assert stage.disk.sessions() == [session]


def test_the_session_of_another_folder_is_not_offered(stage: Stage, tmp_path: Path) -> None:
    assert stage.run("-p", "Which tide is the highest?").returncode == 0
    stage.workspace = tmp_path / "elsewhere"
    stage.workspace.mkdir()
    with stage.open() as terminal:
        terminal.wait_for("● ready")
        terminal.pump(1)
        assert "Browse all sessions" in terminal.text
        assert "Continue" not in terminal.text
