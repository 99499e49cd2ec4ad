"""What an importer declares: how its agent's sessions are told, found, listed and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.summary import SessionSummary
from agent_tui.importers.imported import ImportedSession, ImportedTail


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, by which its agent is told.

    Attributes:
        path: the file, or the folder.
        start: its first bytes, decompressed where it is compressed; empty for a folder.
        objects: the JSON objects of its first lines.
        document: the whole file where it is one JSON object.
    """

    path: Path
    start: bytes = b""
    objects: tuple[dict[str, Any], ...] = ()
    document: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Places:
    """Where agents keep their sessions.

    Attributes:
        home: the user's home folder.
        environ: the environment, whose variables move some agents' folders.
        chosen: folders that the settings name, by source; they win.
    """

    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, Path] = field(default_factory=dict)

    def folder(self, source: str, default: str, variable: str = "", below: str = "") -> Path:
        """The folder of one agent: chosen, named by its variable, or its default below home.

        ``below`` is what follows the variable's value, which may name a folder further up.
        """
        if source in self.chosen:
            return self.chosen[source]
        if value := self.environ.get(variable, ""):
            return Path(value).expanduser() / below
        return self.home / default


@dataclass(frozen=True, slots=True)
class SessionRef:
    """A session that was found, unread.

    Attributes:
        source: the importer that reads it.
        path: its file or folder.
        key: names the session in a file that holds several.
        stamp: size, modification time in ns and inode: while it stays, so does the session.
    """

    source: str
    path: Path
    key: str = ""
    stamp: tuple[int, int, int] = (0, 0, 0)


def _find_nothing(places: Places) -> Iterator[SessionRef]:
    return iter(())


def _no_command(session_id: str, cwd: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Importer:
    """One agent's sessions. All functions only read, and raise AgentTuiError with a sentence.

    Attributes:
        source: names the importer in commands, settings and JSON.
        name: the agent's name for people.
        recognise: whether a file was written by the agent, by its content.
        read: a whole session.
        summarise: a row of the session list, from the ends of the file.
        discover: the sessions where the agent keeps them; what cannot be listed is left out.
        read_tail: the last records of a session, without reading it whole.
        resume: the command that resumes a session, by id and folder, in its own agent.
    """

    source: str
    name: str
    recognise: Callable[[Head], bool]
    read: Callable[[SessionRef], ImportedSession]
    summarise: Callable[[SessionRef], SessionSummary]
    discover: Callable[[Places], Iterator[SessionRef]] = _find_nothing
    read_tail: Callable[[SessionRef, int], ImportedTail] | None = None
    resume: Callable[[str, str], str] = _no_command
