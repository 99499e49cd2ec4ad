"""What a new session's first record says: its id, its place and time, and where it came from."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agent_tui import __version__
from agent_tui.core.records import UNSTAMPED, EnvironmentRecord, SessionHeader
from agent_tui.workspace.where import git_branch


def new_header(workspace: Path) -> SessionHeader:
    """The header of a session that begins now; reads the branch from disk."""
    return SessionHeader(
        session_id=new_session_id(),
        cwd=str(workspace),
        created_at=utc_now(),
        version=__version__,
        git_branch=git_branch(workspace),
    )


def environment_change(
    header: SessionHeader | None, last: EnvironmentRecord | None, workspace: Path
) -> EnvironmentRecord | None:
    """Where a session runs now, if that is not what its log says; reads the branch from disk."""
    now = EnvironmentRecord(str(workspace), git_branch(workspace) or "", __version__)
    known = last
    if known is None and header is not None:
        known = EnvironmentRecord(header.cwd, header.git_branch or "", header.version)
    if known is None or replace(known, stamp=UNSTAMPED) == now:
        return None
    return now


def fork_header(header: SessionHeader | None, workspace: Path) -> SessionHeader:
    """The header of a fork: the original's, under an id and a time of its own."""
    if header is None:
        return new_header(workspace)
    return replace(
        header,
        session_id=new_session_id(),
        created_at=utc_now(),
        version=__version__,
        parent=None,
        stamp=UNSTAMPED,
    )


def new_session_id() -> str:
    """An id that sorts by time and is short enough to type."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def utc_now() -> str:
    """The time now, RFC 3339 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
