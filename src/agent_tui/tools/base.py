"""What a tool is: a name, a described parameter model, a preview for people, and a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from agent_tui.core.messages import Display, ToolResult

Parameters = TypeVar("Parameters", bound=BaseModel)


@dataclass(slots=True)
class FileMemory:
    """Which files the agent has read, and how they looked: edits of a changed file are refused."""

    seen: dict[Path, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool is given: the workspace it must stay in, and the session's file memory."""

    workspace: Path
    files: FileMemory
    output_limit: int = 30_000


class Tool(Generic[Parameters]):
    """One thing the agent can do.

    Subclasses set the class attributes and implement ``run``; a tool with side effects sets
    ``needs_approval`` and implements ``preview``, which must show in full what will happen.
    """

    name: str
    description: str
    parameters: type[Parameters]
    needs_approval: bool = False

    def title(self, arguments: Parameters) -> str:
        """One line for people: what this call is about."""
        return self.name

    async def preview(self, arguments: Parameters, context: ToolContext) -> Display | None:
        """What will happen, whole: a command or a diff.

        Raises:
            ToolError: the call cannot work as it stands; the model is told and nobody is asked.
        """
        return None

    async def run(self, arguments: Parameters, context: ToolContext) -> ToolResult:
        """Do it. Cancellation must leave nothing running.

        Raises:
            ToolError: it could not be done; the text is what the model is told.
        """
        raise NotImplementedError


AnyTool = Tool[Any]
