"""Where OpenCode keeps its sessions: a database, a folder of small files, or one export file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_tui.core.errors import SessionBusy, SessionError, SessionNotFound, StorageError
from agent_tui.core.text import reveal
from agent_tui.importers import fields
from agent_tui.importers.lines import decode, read_document, read_small_object
from agent_tui.importers.listing import list_folder

Message = tuple[dict[str, Any], list[dict[str, Any]]]
_WAIT_SECONDS = 0.5


@dataclass(slots=True)
class StoredSession:
    """A session as it is stored.

    Attributes:
        info: what the session says of itself.
        messages: each message with its parts, oldest first.
        damaged: how many files or rows are no objects.
        children: the ids and titles of sessions that it started.
        is_whole: false where only the last messages were asked for.
    """

    info: dict[str, Any]
    messages: list[Message] = field(default_factory=list)
    damaged: int = 0
    children: list[tuple[str, str]] = field(default_factory=list)
    is_whole: bool = True


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to read only: nothing beside it is made, nothing in it is changed.

    Raises:
        SessionBusy: another program has it locked.
        StorageError: it is broken, or cannot be read.
    """
    shown = reveal(str(path))
    has_journal = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if has_journal else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?{mode}", uri=True, timeout=_WAIT_SECONDS
        )
    except sqlite3.Error as error:
        raise StorageError(f"The database {shown} cannot be opened: {error}.") from error
    try:
        connection.row_factory = sqlite3.Row
        connection.text_factory = _text_in
        connection.execute("pragma query_only = on")
        yield connection
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise SessionBusy(f"The database {shown} is locked by another program.") from error
        raise StorageError(f"The database {shown} cannot be read: {error}.") from error
    except sqlite3.Error as error:
        raise StorageError(f"The database {shown} cannot be read: {error}.") from error
    except (IndexError, UnicodeDecodeError) as error:  # a column that is gone, or has no name
        raise StorageError(
            f"The database {shown} cannot be read: expected OpenCode's columns, found others."
        ) from error
    finally:
        connection.close()


def _text_in(data: bytes) -> str | bytes:
    """The text of a cell; what is none stays as it is, and is counted as damaged."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def is_opencode_database(path: Path) -> bool:
    """Whether a database has OpenCode's tables; a locked one is taken for what its name says."""
    try:
        with open_database(path) as database:
            names = {row[0] for row in database.execute("select name from sqlite_master")}
    except SessionBusy:
        return path.name == "opencode.db"
    except StorageError:
        return False
    return {"session", "message", "part"} <= names


def list_database(database: sqlite3.Connection) -> list[dict[str, Any]]:
    """What every session of a database says of itself, newest first."""
    return [_info_of(row) for row in database.execute("select * from session")]


def read_database(path: Path, key: str, last: int = 0) -> StoredSession:
    """One session by its id, or the newest that no other started; ``last`` messages of it."""
    with open_database(path) as database:
        infos = list_database(database)
        info = _choose(infos, key, path)
        session_id = fields.text(info, "id")
        newest_first = "order by time_created desc, id desc limit ?"
        rows = database.execute(
            f"select * from message where session_id = ? {newest_first}",
            (session_id, last or -1),
        ).fetchall()
        stored = StoredSession(info, is_whole=not last or len(rows) < last)
        for row in reversed(rows):
            message = _with_ids(row, id="id", sessionID="session_id")
            found = database.execute(
                "select * from part where message_id = ? order by id", (row["id"],)
            )
            parts = [_with_ids(part, id="id", messageID="message_id") for part in found]
            good = [part for part in parts if part]
            stored.damaged += len(parts) - len(good) + (not message)
            stored.messages.append((message, good))
        stored.children = _children(infos, session_id)
        return stored


def _choose(infos: list[dict[str, Any]], key: str, path: Path) -> dict[str, Any]:
    for info in infos:
        if key and fields.text(info, "id") == key:
            return info
    if key or not infos:
        wanted = f"session {reveal(key)}" if key else "session"
        raise SessionNotFound(f"There is no {wanted} in {reveal(str(path))}.")
    roots = [info for info in infos if not fields.text(info, "parentID")]
    return max(roots or infos, key=lambda info: str(fields.table(info, "time").get("updated", "")))


def _children(infos: list[dict[str, Any]], session_id: str) -> list[tuple[str, str]]:
    return [
        (fields.text(info, "id"), fields.text(info, "title"))
        for info in infos
        if fields.text(info, "parentID") == session_id != fields.text(info, "id")
    ]


def _info_of(row: sqlite3.Row) -> dict[str, Any]:
    """A row of the session table in the form that the other stores have."""
    found = dict(row)
    info = _object(found.get("data"))
    named = {"parent_id": "parentID", "project_id": "projectID"}
    for column in ("id", "parent_id", "project_id", "directory", "title", "version"):
        if isinstance(found.get(column), str):
            info[named.get(column, column)] = found[column]
    revert = _object(found.get("revert"))
    if revert:
        info["revert"] = revert
    times = fields.table(info, "time")
    for name in ("created", "updated"):
        times.setdefault(name, found.get(f"time_{name}"))
    return {**info, "time": times}


def _with_ids(row: sqlite3.Row, **columns: str) -> dict[str, Any]:
    """The JSON of a row with the ids that stand in columns; empty where it is no object."""
    value = _object(row["data"])
    if not value:
        return {}
    return {**value, **{name: row[column] for name, column in columns.items()}}


def _object(data: Any) -> dict[str, Any]:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return (decode(raw) or {}) if isinstance(raw, bytes) else {}


def read_folder(info_path: Path) -> StoredSession:
    """One session of the storage folder, by the file that holds what it says of itself."""
    info = read_small_object(info_path)
    if not info:
        raise SessionError(f"{reveal(str(info_path))} holds no session of OpenCode.")
    root = storage_root(info_path)
    session_id = fields.text(info, "id") or info_path.stem
    stored = StoredSession(info)
    loose = _loose_parts(root / "part")
    for path in list_folder(root / "message" / file_name(session_id)):
        message = read_small_object(path)
        stored.damaged += not message
        message_id = fields.text(message, "id") or path.stem
        parts = [
            read_small_object(each) for each in list_folder(root / "part" / file_name(message_id))
        ]
        stored.damaged += sum(not part for part in parts)
        good = [part for part in (*parts, *loose.get(message_id, ())) if part]
        stored.messages.append((message, sorted(good, key=_part_order)))
    stored.messages.sort(key=lambda message: _created(message[0]))
    siblings = [read_small_object(path) for path in list_folder(info_path.parent)]
    stored.children = _children(siblings, session_id)
    return stored


def file_name(id_: str) -> str:
    """An id as the name of a file, which leads nowhere else."""
    return id_.replace("/", "_") if id_ not in ("", ".", "..") else "_"


def _loose_parts(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Parts that an old version put into one folder, by their message."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in list_folder(folder):
        if path.suffix == ".json":
            part = read_small_object(path)
            found.setdefault(fields.text(part, "messageID"), []).append(part)
    return found


def _part_order(part: dict[str, Any]) -> float:
    times = fields.table(part, "time") or fields.table(fields.table(part, "state"), "time")
    start = times.get("start")
    return float(start) if isinstance(start, int | float) else 0.0


def _created(message: dict[str, Any]) -> tuple[float, str]:
    created = fields.table(message, "time").get("created")
    at = float(created) if isinstance(created, int | float) else 0.0
    return at, fields.text(message, "id")


def storage_root(info_path: Path) -> Path:
    """The storage folder that a session's file stands in: ``session/<project>/<id>.json``."""
    return info_path.parents[2]


def read_export(path: Path) -> StoredSession:
    """An export: one object with the session and its messages."""
    found = read_document(path)
    value = found.objects[0] if found.objects else {}
    stored = StoredSession(fields.table(value, "info"))
    for message in fields.array(value, "messages"):
        info = fields.table(message, "info")
        parts = fields.array(message, "parts")
        good = [part for part in parts if isinstance(part, dict)]
        stored.damaged += (not info) + len(parts) - len(good)
        stored.messages.append((info, good))
    return stored
