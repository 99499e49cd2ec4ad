"""Sessions of ClawdCode: Claude Code's envelope, with calls and results on lines of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_tui.importers import fields
from agent_tui.importers.claude_code import session_of, summarise
from agent_tui.importers.imported import ImportedSession, ImportedTail
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.lines import read_entries, read_last_entries
from agent_tui.importers.listing import file_refs, shell_command

CLAWDCODE = "clawdcode"
_TYPES = frozenset({"user", "assistant", "tool_use", "tool_result", "system", "compact_boundary"})
_ENVELOPE = frozenset({"uuid", "parentUuid", "sessionId", "cwd", "version"})
_CLAUDES = frozenset({"isSidechain", "userType", "requestId", "leafUuid"})


def is_clawdcode(head: Head) -> bool:
    """Whether every line has the envelope and none the fields that only Claude Code writes."""
    lines = [value for value in head.objects if fields.text(value, "type") in _TYPES]
    return bool(lines) and all(_is_line(value) for value in lines)


def _is_line(value: dict[str, Any]) -> bool:
    return value.keys() >= _ENVELOPE and not value.keys() & _CLAUDES


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a session; raises SessionError."""
    return session_of(read_entries(ref.path), CLAWDCODE)


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last lines of a file as records."""
    lines = read_last_entries(ref.path, count)
    return ImportedTail(session_of(lines, CLAWDCODE).records, lines.is_whole)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(CLAWDCODE, ".clawdcode")
    return file_refs(CLAWDCODE, folder / "projects", "*/*.jsonl")


def _resume(session_id: str, cwd: str) -> str:
    return shell_command(cwd, "clawdcode", "--resume", session_id)


CLAWDCODE_IMPORTER = Importer(
    source=CLAWDCODE,
    name="ClawdCode",
    recognise=is_clawdcode,
    read=read_session,
    summarise=summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=_resume,
)
