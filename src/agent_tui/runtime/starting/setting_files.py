"""Where settings are written: which file or flag set one, and setting one for later runs."""

from __future__ import annotations

import asyncio

from agent_tui.config import config_path
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.starting.run_settings import places_of


class SettingFiles:
    """The config files of a run, and what is set beside them."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._writing = asyncio.Lock()

    async def places_of(self, section: str) -> dict[str, str]:
        """Where each setting of a section was set: file and line, variable or flag."""
        return await asyncio.to_thread(places_of, self._launch, section)

    async def save(self, key: str, value: str | bool) -> None:
        """Write a setting into the user's config file, for later runs; raises ConfigError."""
        from agent_tui.config.writing import set_value

        async with self._writing:  # each reads the file, changes it and writes it
            await asyncio.to_thread(set_value, config_path(), key, value)
