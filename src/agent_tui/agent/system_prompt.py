"""The system prompt: who the agent is, where it works, and what the project asks of it."""

from __future__ import annotations

import platform
from pathlib import Path

from agent_tui.resources import prompt

PROJECT_FILE = "AGENTS.md"
PROJECT_HEADING = "# Project instructions"
_LIMIT_CHARS = 32_000


def write_system_prompt(workspace: Path) -> str:
    """The whole prompt for a workspace, with the AGENTS.md files that apply to it, nearest last."""
    parts = [prompt("system").strip(), f"Workspace: {workspace}\nPlatform: {platform.system()}"]
    parts += [
        f"{PROJECT_HEADING} ({path})\n\n{text}" for path, text in project_instructions(workspace)
    ]
    return "\n\n".join(parts)


def project_instructions(workspace: Path) -> list[tuple[Path, str]]:
    """The AGENTS.md files from the repository's root down to the workspace; unreadable ones not."""
    folders = [workspace]
    while not (folders[-1] / ".git").exists() and folders[-1] != folders[-1].parent:
        folders.append(folders[-1].parent)
    if not (folders[-1] / ".git").exists():
        folders = [workspace]
    found = []
    for folder in reversed(folders):
        path = folder / PROJECT_FILE
        try:
            text = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        found.append((path, text[:_LIMIT_CHARS]))
    return found
