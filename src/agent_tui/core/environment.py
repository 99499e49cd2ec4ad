"""Where a session runs, in words for people."""

from __future__ import annotations

from agent_tui.core.records import EnvironmentRecord


def describe_environment(record: EnvironmentRecord) -> str:
    """Where the session runs from a record on, in one line."""
    branch = f" on branch {record.git_branch}" if record.git_branch else ""
    version = f" (agent-tui {record.version})" if record.version else ""
    return f"Working in {record.cwd}{branch}{version}"
