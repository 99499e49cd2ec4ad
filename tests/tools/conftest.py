"""A workspace on disk and a context over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.tools.base import ToolContext


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def context(workspace: Path) -> ToolContext:
    return ToolContext(workspace)
