"""What can go wrong with the files of a workspace, each a sentence for people."""

from __future__ import annotations

import errno

from agent_tui.core.errors import AgentTuiError, StorageError


class NotCovered(AgentTuiError):
    """Files cannot be captured here or now; nothing was recorded."""


class PathChanged(AgentTuiError):
    """A path is not as it was when the revert was planned; nothing was changed."""


class ContentMissing(AgentTuiError):
    """The store no longer holds a content, or holds it damaged."""


def explain(error: OSError, failed: str) -> StorageError:
    """One sentence for an OSError: what cannot be done, why, and what to do."""
    return StorageError(f"{failed}: {reason(error)}")


def reason(error: OSError) -> str:
    """Why the system refused, and what to do."""
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"the disk is full ({why}). Free some space first."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{why}. Check the permissions."
    return f"{why}. Try again."
