"""Where settings and sessions are kept."""

from __future__ import annotations

import os
from pathlib import Path

FILE_NAME = "config.toml"
PROJECT_FOLDER = ".agent-tui"


def config_path() -> Path:
    """Where the user's config file is expected: AGENT_TUI_HOME, or the platform's config folder."""
    home = os.environ.get("AGENT_TUI_HOME")
    if home:
        return Path(home) / FILE_NAME
    from platformdirs import user_config_path

    return user_config_path("agent-tui") / FILE_NAME


def project_config_path(project: Path) -> Path:
    """Where a project keeps its own settings; they count only once the folder is trusted."""
    return project / PROJECT_FOLDER / FILE_NAME


def data_root() -> Path:
    """Where sessions are kept: AGENT_TUI_HOME, or the platform's data folder."""
    home = os.environ.get("AGENT_TUI_HOME")
    if home:
        return Path(home).absolute()
    from platformdirs import user_data_path

    return user_data_path("agent-tui")
