"""Tests of the runtime never wait between retries and never touch the user's own folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.agent import retry


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(retry, "back_off", lambda _state: 0.0)
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
