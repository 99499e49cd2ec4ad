"""Saving settings: one after another, so that the last that was chosen is the one that is kept."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from agent_tui.config import writing
from tests.agent.stage import Stage


async def test_settings_are_written_in_the_order_in_which_they_were_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str | bool] = []
    overtaken = threading.Event()

    def write(_path: Path, _key: str, value: str | bool) -> None:
        if value == "first":
            overtaken.wait(0.3)
        else:
            overtaken.set()
        written.append(value)

    monkeypatch.setattr(writing, "set_value", write)
    async with Stage(tmp_path) as stage:
        save = stage.engine.setting_files.save
        await asyncio.gather(save("ui.theme", "first"), save("ui.theme", "second"))
    assert written == ["first", "second"]
