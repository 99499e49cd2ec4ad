"""What a tool is: a name, a described parameter model, a preview for people, and a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from agent_tui.core.dataclass import dataclass
from agent_tui.core.events import Event
from agent_tui.core.messages import Display, ToolResult
from agent_tui.tools.blobs import BlobFolder
from agent_tui.tools.commands.places import ANYWHERE, Places
from agent_tui.tools.confinement import Confinement

if TYPE_CHECKING:
    from agent_tui.tools.running_commands import RunningCommands

ABSENT = ""
"""The digest of a file that is not there."""


class Arguments(BaseModel):
    """What a model sends with a call: unknown fields are refused, so that typos are told."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class PlainArguments(Arguments):
    """The arguments of a tool that brings a JSON schema of its own: whatever fields came."""

    model_config = ConfigDict(extra="allow")


Parameters = TypeVar("Parameters", bound=Arguments)

Asks = Callable[[str, tuple[str, ...]], Awaitable[str]]
"""Puts a question with choices to the user and waits for the answer; empty where there is none."""
Spawns = Callable[[str, str], Awaitable[ToolResult]]
"""Has a subagent (by the name of its spec) work on a prompt, and waits for its result."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What an action is about, for rules that allow more than this one call.

    Attributes:
        kind: ``edit`` of the file ``text``, the shell ``command`` ``text``, a ``web`` address, or
            something ``other``, for which only the tool counts.
        places: where the words of a command lead.
    """

    kind: Literal["edit", "command", "web", "other"] = "other"
    text: str = ""
    places: Places = ANYWHERE


@dataclass(slots=True)
class FileMemory:
    """How each file looked when the agent, or a person in a preview, last saw it.

    Paths are relative to the workspace, with links resolved; values are digests of the content
    (ABSENT for a file that was not there). A file that looks different now is not written.
    """

    seen: dict[Path, str] = field(default_factory=dict)

    def remember(self, path: Path, digest: str) -> None:
        """The file has just been shown with this content."""
        self.seen[path] = digest

    def forget(self, path: Path) -> None:
        """Whatever was known of the file does not count any longer."""
        self.seen.pop(path, None)

    def has_changed(self, path: Path, digest: str) -> bool:
        """Whether the file was seen, and looked different then."""
        return self.seen.get(path, digest) != digest


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool is given.

    Attributes:
        workspace: the folder that file tools stay in and commands start in.
        files: the session's memory of files.
        protected: files and folders that tools may read but never write: our own data and config.
        output_limit: how many characters of output a model is given at most.
        confinement: what commands may not do.
        commands: the commands in the background; None where none may be left there.
        blobs: where output that is too long is kept whole; None keeps nothing.
        emit: tells the listeners of the session; None where nobody listens.
        ask: puts a question to the person; None where nobody is there.
        spawn: starts a subagent; None where none may be started.
        tell: takes the last rows that a running call has printed so far; None where nobody looks.
        leave: takes the result that stands where the call is interrupted, from any thread, and
            whether it is the whole: what ran to its end was not interrupted.
    """

    workspace: Path
    files: FileMemory = field(default_factory=FileMemory)
    protected: tuple[Path, ...] = ()
    output_limit: int = 30_000
    confinement: Confinement = field(default_factory=Confinement)
    commands: RunningCommands | None = None
    blobs: BlobFolder | None = None
    emit: Callable[[Event], None] | None = None
    ask: Asks | None = None
    spawn: Spawns | None = None
    tell: Callable[[str], None] | None = None
    leave: Callable[[ToolResult, bool], None] | None = None


@cache
def _schema_of(parameters: type[Arguments]) -> dict[str, Any]:
    return parameters.model_json_schema()


class Tool(ABC, Generic[Parameters]):
    """One thing the agent can do.

    Subclasses set the class attributes and implement ``run``; a tool with side effects sets
    ``acts`` and implements ``preview``, which must show in full what will happen.
    """

    name: str
    description: str
    parameters: type[Parameters]
    acts: bool = False
    """Whether a call may change the world: it is durable before it runs."""
    ends_plan: bool = False
    """Whether an approved call means that what was planned may be done."""

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments; a tool from elsewhere brings one of its own."""
        return _schema_of(self.parameters)

    def needs_approval(self, arguments: Parameters) -> bool:
        """Whether a person has to allow this call."""
        return self.acts

    @property
    def changes_files(self) -> bool:
        """Whether what changes in the files while a call runs is the agent's."""
        return self.acts

    def may_repeat(self, arguments: Parameters) -> bool:
        """Whether the same call again and again means that something still runs, not a circle."""
        return False

    def queue(self, arguments: Parameters) -> str:
        """Calls of one answer with the same queue run in the order written; empty: beside all."""
        return ""

    def subject(self, arguments: Parameters) -> Subject:
        """What a rule for more calls like this one would be about."""
        return Subject()

    def title(self, arguments: Parameters) -> str:
        """One line for people: what this call is about."""
        return self.name

    async def preview(self, arguments: Parameters, context: ToolContext) -> Display | None:
        """What will happen, whole: a command or a diff.

        Raises:
            ToolError: the call cannot work as it stands; the model is told and nobody is asked.
        """
        return None

    @abstractmethod
    async def run(self, arguments: Parameters, context: ToolContext) -> ToolResult:
        """Do it. Cancellation must leave nothing running.

        Raises:
            ToolError: it could not be done; the text is what the model is told.
        """


AnyTool = Tool[Any]
