"""What one open session is made of, and how it is put together over its log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent_tui.agent.approval import Approvals
from agent_tui.agent.compactor import Compactor
from agent_tui.agent.loop import Agent
from agent_tui.agent.toolset import Toolset
from agent_tui.agent.wire import Wire
from agent_tui.agent.workspace_watch import WorkspaceWatch
from agent_tui.context.context import Context
from agent_tui.sessions.session_log import SessionLog


@dataclass(frozen=True, slots=True)
class SessionParts:
    """What the engine assembles for one session."""

    context: Context
    agent: Agent
    approvals: Approvals
    compactor: Compactor
    toolset: Toolset
    provider: str
    model: str
    workspace: Path
    watch: WorkspaceWatch


class BuildParts(Protocol):
    """Builds the parts of a session over its log and wire."""

    def __call__(
        self, log: SessionLog, wire: Wire, model: str = "", keep: SessionParts | None = None
    ) -> SessionParts:
        """The parts, not yet restored; an empty model means the one of this run.

        Given the parts before, what was allowed and which files were seen stay known.
        """
        ...
