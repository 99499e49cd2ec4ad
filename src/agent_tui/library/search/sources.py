"""What there is to index: our own logs with their archives, and other agents' sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from agent_tui.core.errors import AgentTuiError
from agent_tui.importers.importer import Places, SessionRef
from agent_tui.importers.listing import list_folder, stamp_of
from agent_tui.importers.registry import discover

OURS = "agent-tui"
_LOG = re.compile(r"context\.jsonl(\.[0-9]+)?")


def refs_to_index(data: Path, places: Places) -> Iterator[SessionRef]:
    """Every file that holds a session, or a part of one, of every agent."""
    yield from own_refs(data)
    yield from discover(places)


def own_refs(data: Path) -> Iterator[SessionRef]:
    """Our logs: archives before the live log, so that what both say is found in the older one."""
    for project in list_folder(data / "projects"):
        for session in list_folder(project):
            yield from folder_refs(session)


def folder_refs(session: Path) -> Iterator[SessionRef]:
    """The logs of one session's folder, oldest first."""
    logs = [path for path in list_folder(session) if _LOG.fullmatch(path.name)]
    for path in sorted(logs, key=_age):
        yield SessionRef(OURS, path, stamp=stamp_of(path))


def _age(log: Path) -> tuple[bool, int]:
    number = log.suffix[1:]
    return (not number.isdigit(), int(number) if number.isdigit() else 0)


def tell_trouble(ref: SessionRef, error: AgentTuiError | OSError) -> str:
    """Why a file cannot be read, in a sentence that names it."""
    why = str(error) if isinstance(error, AgentTuiError) else error.strerror or str(error)
    path = str(ref.path)
    return why if why.startswith(path) else f"{path}: {why}"


def is_ours(ref: SessionRef) -> bool:
    """Whether it is a log of a session of ours."""
    return ref.source == OURS


def is_lined(ref: SessionRef) -> bool:
    """Whether the session is lines of JSON that are only ever appended to."""
    return not ref.key and (ref.path.suffix == ".jsonl" or bool(_LOG.fullmatch(ref.path.name)))
