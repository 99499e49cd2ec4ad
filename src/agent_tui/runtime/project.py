"""What of a project may be used: the folders of one that the user trusts, and nothing else."""

from __future__ import annotations

from pathlib import Path


def trusted_folders(workspace: Path) -> tuple[Path, ...]:
    """The folders from a trusted project's root down to the workspace; none without trust."""
    del workspace
    return ()
