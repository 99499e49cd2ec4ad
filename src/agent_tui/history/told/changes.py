"""What the calls of a session say that they changed: told by its log, not looked up on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from agent_tui.core.arguments import read_arguments
from agent_tui.core.changes import ChangeGroup, ChangeKind, FileDiff
from agent_tui.core.errors import UnknownCheckpoint
from agent_tui.core.messages import DiffDisplay, ToolCall
from agent_tui.core.origins import ASKED
from agent_tui.core.records import AssistantMessage, Checkpoint, Record, ToolMessage, UserMessage
from agent_tui.history.told.edits import told_edits
from agent_tui.importers.registry import import_session


def read_told_changes(path: Path, since: int | None) -> list[ChangeGroup]:
    """The changes that a log of any known kind tells of, from a checkpoint on.

    Raises:
        SessionError, StorageError: it cannot be read, or there is no such checkpoint.
    """
    session = import_session(path)
    groups = told_changes(
        [*(each.records for each in session.archives), session.records], session.cwd
    )
    if since is None:
        return groups
    known = [record.id for record in session.records if isinstance(record, Checkpoint)]
    if since not in known:
        raise UnknownCheckpoint.among(since, known)
    return [group for group in groups if (group.checkpoint or 0) >= since]


def told_changes(logs: Iterable[Sequence[Record]], cwd: str) -> list[ChangeGroup]:
    """The changes that succeeded, by call, each once.

    Args:
        logs: the records of the session, those of archives and left branches first: what they
            tell of was not undone on disk.
        cwd: the folder of the session; paths in it are told from there.
    """
    groups: dict[tuple[str, str], ChangeGroup] = {}
    for log in logs:
        for call, group in _in_log(log, cwd):
            groups.setdefault((call.id, call.arguments), group)
    found = list(groups.values())
    return sorted(found, key=lambda group: group.at) if all(g.at for g in found) else found


def _in_log(log: Sequence[Record], cwd: str) -> Iterator[tuple[ToolCall, ChangeGroup]]:
    calls: dict[str, tuple[ToolCall, ChangeGroup]] = {}
    checkpoint: int | None = None
    turn = step = 0
    for record in log:
        match record:
            case Checkpoint(id_):
                checkpoint = id_
            case UserMessage(_, origin) if origin in ASKED:
                turn, step = turn + 1, 0
            case AssistantMessage(_, tool_calls):
                step += 1
                for call in tool_calls:
                    place = (checkpoint, turn or None, step, call.id, call.name)
                    at = record.stamp.at or ""
                    told = ChangeGroup(call.id, "tool_call", (), *place, at, by_log=True)
                    calls[call.id] = (call, told)
            case ToolMessage(call_id) if call_id in calls:
                call, told = calls.pop(call_id)
                files = tuple(_named(file, cwd) for file in _files(call, record))
                if files and not (record.is_error or record.rejected or record.interrupted):
                    at = told.at or record.stamp.at or ""
                    yield call, replace(told, files=files, at=at)
            case _:
                pass


def _files(call: ToolCall, result: ToolMessage) -> Iterator[FileDiff]:
    """Where the agent logged a diff, that; else what the call asked for."""
    shown = result.display
    asked = list(told_edits(call.name, read_arguments(call.arguments)))
    if not isinstance(shown, DiffDisplay):
        yield from asked
        return
    lines = shown.diff.splitlines()
    kind: ChangeKind = "created" if "--- /dev/null" in lines[:4] else "changed"
    body = [line for line in lines if line[:4] not in ("--- ", "+++ ")]
    added, removed = (sum(line.startswith(mark) for line in body) for mark in "+-")
    yield FileDiff(shown.path, kind, added, removed, shown.diff)
    yield from (file for file in asked if len(asked) > 1 and file.path != shown.path)


def _named(file: FileDiff, cwd: str) -> FileDiff:
    """The file as seen from the session's folder."""
    folder = f"{cwd.rstrip('/')}/"
    path = file.path.removeprefix(folder) if cwd else file.path
    head, mark, rest = file.diff.partition("@@")
    if path != file.path:
        head = head.replace(file.path, path).replace("a//", "a/").replace("b//", "b/")
    secret = path.rpartition("/")[2].startswith(".env")
    return replace(file, path=path, diff=head + mark + rest, secret=secret)
