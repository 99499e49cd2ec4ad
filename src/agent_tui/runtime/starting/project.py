"""The folder that a run works in, and what of it may be used."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.config import config_path
from agent_tui.config.trust import project_root, shipped_files, trust_folder

if TYPE_CHECKING:
    from agent_tui.agent.prompt_files import PromptFiles


class Project:
    """A workspace, and whether the user trusts what it ships for agents.

    Attributes:
        trusted: whether that is used in this run.
    """

    def __init__(self, folder: Path, *, trusted: bool) -> None:
        self.trusted = trusted
        self._folder = folder

    def trusted_folders(self) -> tuple[Path, ...]:
        """The folders from a trusted project's root down to the workspace; none without trust."""
        if not self.trusted:
            return ()
        root = project_root(self._folder)
        parts = Path(os.path.realpath(self._folder)).relative_to(root).parts
        return tuple(root.joinpath(*parts[:count]) for count in range(len(parts) + 1))

    async def prompt_files(self) -> PromptFiles:
        """Skills and commands that are kept in files; a project's only where it is trusted."""
        return await asyncio.to_thread(self._find_prompt_files)

    def _find_prompt_files(self) -> PromptFiles:
        from agent_tui.agent.prompt_files import find_prompt_files

        return find_prompt_files(config_path().parent, self.trusted_folders())

    async def untrusted_files(self) -> tuple[str, ...]:
        """What the workspace ships for agents and is not used, because nobody trusts it yet."""
        return () if self.trusted else await asyncio.to_thread(shipped_files, self._folder)

    async def trust(self) -> None:
        """Remember that what the workspace ships may be used, from the next start on."""
        await asyncio.to_thread(trust_folder, self._folder)
