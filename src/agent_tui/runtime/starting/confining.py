"""What the agent is kept from: limits on commands, and folders too wide to be a project."""

from __future__ import annotations

from pathlib import Path

from agent_tui.config import Settings
from agent_tui.core.modes import SANDBOX_ON
from agent_tui.tools.confinement import Confinement
from agent_tui.tools.sandbox import SandboxKind, sandbox_of

_SYSTEM_FOLDERS = frozenset(
    {"/boot", "/dev", "/etc", "/home", "/opt", "/proc", "/run", "/sys", "/usr", "/var", "/Users"}
)

_SANDBOXES: dict[SandboxKind, str] = {
    "bwrap": SANDBOX_ON,
    "landlock": "Landlock, .git writable",
    "none": "no sandbox",
}


def confinement_of(settings: Settings) -> Confinement:
    """The limits on commands, from the settings."""
    chosen = settings.commands
    return Confinement(
        chosen.sandbox,
        chosen.network,
        chosen.memory_mb * 1_000_000,
        chosen.processes,
        chosen.writable,
    )


def describe_sandbox(settings: Settings) -> str:
    """Whether commands run in a sandbox here, in two words; may start a program to find out."""
    kind = sandbox_of(confinement_of(settings))
    is_off = kind == "none" and settings.commands.sandbox == "strict"
    return "strict: no commands" if is_off else _SANDBOXES[kind]


def is_too_wide(folder: Path, workspace: Path) -> bool:
    """Whether a folder is too wide to be a project: the root, or one that holds home folders."""
    if not folder.is_absolute() or folder == workspace:
        return False
    if folder == folder.parent or str(folder) in _SYSTEM_FOLDERS:
        return True
    return Path.home().is_relative_to(folder)
