"""What of a project may be used: the folders of one that the user trusts, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui.config.trust import project_root


def trusted_folders(workspace: Path, *, trusted: bool) -> tuple[Path, ...]:
    """The folders from a trusted project's root down to the workspace; none without trust."""
    if not trusted:
        return ()
    root = project_root(workspace)
    parts = Path(os.path.realpath(workspace)).relative_to(root).parts
    return tuple(root.joinpath(*parts[:count]) for count in range(len(parts) + 1))
