"""The index on disk: a cache in SQLite that can be deleted without losing anything."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from agent_tui.core.errors import StorageError

FILE_NAME = "index.sqlite"
VERSION = 17
_TABLES = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY, source TEXT, path TEXT, key TEXT, size INTEGER, mtime INTEGER,
    inode INTEGER, head BLOB, offset INTEGER, session TEXT, cwd TEXT, title TEXT, model TEXT,
    began TEXT, updated TEXT, root TEXT, counted INTEGER, UNIQUE (path, key));
CREATE INDEX files_by_inode ON files (inode);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, file INTEGER, offset INTEGER, length INTEGER, at TEXT, role TEXT);
CREATE INDEX entries_by_file ON entries (file);
CREATE TABLE given (last INTEGER, is_bulk INTEGER);
INSERT INTO given VALUES (0, 1);
CREATE TABLE days (
    file INTEGER, day TEXT, model TEXT, prompts INTEGER, replies INTEGER, calls INTEGER,
    errors INTEGER, compactions INTEGER, input INTEGER, output INTEGER, cached INTEGER, cost REAL,
    unpriced INTEGER);
CREATE INDEX days_by_file ON days (file);
CREATE TABLE tools (file INTEGER, tool TEXT, calls INTEGER, errors INTEGER);
CREATE INDEX tools_by_file ON tools (file);
CREATE TABLE said (session TEXT, digest INTEGER, PRIMARY KEY (session, digest)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    text, content='', columnsize=0, tokenize="unicode61 remove_diacritics 2");
INSERT INTO words (words, rank) VALUES ('automerge', 0);
INSERT INTO words (words, rank) VALUES ('usermerge', 16);
INSERT INTO words (words, rank) VALUES ('crisismerge', 64);
INSERT INTO words (words, rank) VALUES ('hashsize', 64000000);
"""


def open_index(path: Path) -> sqlite3.Connection:
    """The index for writing; one that is damaged or of another version is started again.

    Raises:
        sqlite3.OperationalError: another process writes it, or the disk refuses.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        return _open(path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        forget_index(path)
        return _open(path)


def _open(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    base = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    try:
        _prepare(base)
    except sqlite3.Error:
        base.close()
        raise
    return base


def _prepare(base: sqlite3.Connection) -> None:
    base.execute("PRAGMA page_size = 8192")
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = OFF")  # it is a cache: what a power cut takes is read again
    base.execute("PRAGMA cache_size = -16000")
    version = base.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, VERSION):
        raise sqlite3.DatabaseError("another version")
    if version == 0:
        base.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT")


def read_index(path: Path) -> sqlite3.Connection | None:
    """The index for reading; None where there is none.

    Raises:
        StorageError: what lies there is no file.
        sqlite3.Error: it is damaged, of another version, or cannot be read.
    """
    if not path.exists():
        return None
    if not path.is_file():  # sqlite would wait on a pipe
        raise StorageError(f"{path} is not a regular file. Move or delete it, then try again.")
    base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
    try:
        version = base.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError("it was made by another version of agent-tui")
        base.execute("PRAGMA cache_size = -8000")  # a word is looked for in many places
    except sqlite3.Error:
        base.close()
        raise
    if version:
        return base
    base.close()
    return None


def forget_index(path: Path) -> None:
    """Delete the index; the next update rebuilds it from the sessions."""
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
