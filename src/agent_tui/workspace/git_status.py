"""Whether a work tree differs from its last commit, as git says it; nothing of the user's is run.

The user's index is copied first: git may then note in it what it has looked at.
"""

from __future__ import annotations

import tempfile

from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.git import Git, Repository, git_program
from agent_tui.workspace.seed import UserSettings, copy_index, write_settings

_SECONDS = 5
_STATUS = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all")


def has_changes(repository: Repository) -> bool:
    """Whether files were changed, added or deleted; False where git cannot say. Blocks."""
    if not git_program() or not repository.commit():
        return False
    excludes = UserSettings(repository).excludes
    settings = [f"core.excludesFile={excludes}"] if excludes else []
    try:
        with tempfile.TemporaryDirectory(prefix="agent-tui-", ignore_cleanup_errors=True) as folder:
            write_settings(folder, repository, repository.object_format())
            git = Git(folder, repository.top, repository.top, _SECONDS)
            copy_index(repository, git)
            return bool(git.run(*_STATUS, settings=settings))
    except (OSError, NotCovered):
        return False
