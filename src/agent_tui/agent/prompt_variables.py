"""What a system prompt may say of the place and time: the values of its ``${VARIABLES}``."""

from __future__ import annotations

import getpass
import os
import platform
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from string import Template

from agent_tui.core.text import reveal

_MOST_LISTED = 60
_LONGEST_NAME = 80


def prompt_variables(workspace: Path) -> dict[str, str]:
    """Every built-in variable by its name; reads the workspace's folder, nothing in it."""
    now = datetime.now().astimezone()
    return {
        "DATE": f"{now:%Y-%m-%d} ({now:%A})",
        "TIME_ZONE": f"{now.tzname()} (UTC{now:%z})",
        "SHELL": Path(os.environ.get("SHELL", "/bin/sh")).name,
        "USER": reveal(_user()),
        "PLATFORM": f"{platform.system()} {platform.machine()}",
        "WORKSPACE": reveal(str(workspace)),
        "LISTING": list_workspace(workspace),
    }


def fill_in(text: str, variables: Mapping[str, str]) -> str:
    """A prompt with its variables replaced; one that nobody knows stays as it is written."""
    return Template(text).safe_substitute(variables)


def list_workspace(workspace: Path) -> str:
    """The names at the top of a workspace, folders with a slash; cut where there are many."""
    try:
        with os.scandir(workspace) as entries:
            names = sorted(
                f"{reveal(entry.name)[:_LONGEST_NAME]}{'/' * entry.is_dir(follow_symlinks=False)}"
                for entry in entries
            )
    except OSError:
        return "(the folder cannot be read)"
    more = len(names) - _MOST_LISTED
    shown = ", ".join(names[:_MOST_LISTED]) or "(empty)"
    return f"{shown} and {more:,} more" if more > 0 else shown


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
