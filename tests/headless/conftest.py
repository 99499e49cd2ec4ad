"""The command line for the tests of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.agent import retry
from tests.headless.command_line import CommandLine


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    """``run("sessions", "list", "--json")``, with data of its own and no key."""
    monkeypatch.setattr(retry, "back_off", lambda _state: 0.0)
    return CommandLine(tmp_path, monkeypatch, capsys)
