"""Deleting contents of the oldest sessions where the stores are full, and telling whose went."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from agent_tui.core.format import format_size
from agent_tui.core.text import format_count
from agent_tui.workspace.folders import (
    is_there,
    make_private_folder,
    read_whole,
    replace_private_file,
)
from agent_tui.workspace.store import JOURNAL, ContentStore, path_of_refs, read_refs

_NOTES = "trimmed"


@dataclass(frozen=True, slots=True)
class Trimming:
    """What a session lost: how many contents, when last (in ISO 8601), and for which limit."""

    at: str
    contents: int
    most_bytes: int

    @property
    def told(self) -> str:
        """One sentence for people."""
        what = format_count(self.contents, "earlier version")
        was = "was" if self.contents == 1 else "were"
        room = format_size(self.most_bytes)
        return (
            f"{what} of files {was} removed on {self.at[:10]}, to keep stored files below {room}:"
            " those changes can no longer be reverted."
        )


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A session whose own list of contents is not written yet, as a fork that nobody opened.

    ``needed``: hashes and sizes. ``last_used``: in seconds since 1970.
    """

    session_id: str
    needed: tuple[tuple[str, int], ...]
    last_used: float


def read_trimming(folder: str, session_id: str) -> Trimming | None:
    """What a session of a workspace folder lost to make room; None for nothing."""
    try:
        found = json.loads(read_whole(_path_of_note(folder, session_id)))
        return Trimming(str(found["at"]), int(found["contents"]), int(found["most_bytes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def shrink(
    folders: Iterable[str],
    most_bytes: int,
    spare: str,
    find_unlisted: Callable[[str], Iterable[Unlisted]] = lambda _: (),
) -> list[str]:
    """Delete the contents of the oldest sessions until all stores fit; returns whose went.

    Args:
        folders: the workspace folders of all projects.
        most_bytes: what they may hold together.
        spare: the session folder that is in use.
        find_unlisted: the sessions of a workspace folder that did not say yet what they need.
    """
    stores = [folder for folder in folders if os.path.isdir(folder)]
    total = sum(size_of_contents(folder) for folder in stores)
    gone: list[str] = []
    if total <= most_bytes:
        return gone
    for folder in stores:
        for unlisted in find_unlisted(folder):
            _list(ContentStore(folder, unlisted.session_id), unlisted)
    for session in sorted(_sessions(stores), key=_last_used):
        if total <= most_bytes:
            break
        if os.path.realpath(session) == os.path.realpath(spare):
            continue
        store = ContentStore(os.path.dirname(os.path.dirname(session)), "")
        with store.locked(alone=True):  # a revert may begin until then
            if is_there(os.path.join(session, JOURNAL)):
                continue  # it was cut off, or has no record yet: half of it would stay for ever
            total -= _delete_session(store, session, most_bytes)
        gone.append(os.path.basename(session))
    return gone


def _list(store: ContentStore, session: Unlisted) -> None:
    """Write down what a session needs; it counts as no younger for that."""
    there = [(digest, size) for digest, size in session.needed if store.has(digest, size)]
    if not there:
        return
    with store.locked(alone=True):
        if not is_there(path_of_refs(store.session_folder)):  # or it was opened meanwhile
            store.keep(there)
            store.flush()
            os.utime(path_of_refs(store.session_folder), (session.last_used, session.last_used))


def _sessions(stores: Iterable[str]) -> Iterator[str]:
    for folder in stores:
        with suppress(OSError), os.scandir(os.path.join(folder, "sessions")) as entries:
            yield from (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))


def _last_used(session: str) -> float:
    with suppress(OSError):
        return os.stat(path_of_refs(session)).st_mtime
    return 0.0


def _delete_session(store: ContentStore, session: str, most_bytes: int) -> int:
    """Remove a session's list, and every content that no other list names; returns the bytes."""
    leaving = dict(read_refs(session))
    for other in _sessions([store.folder]):
        if other != session:
            for digest, _ in read_refs(other):
                leaving.pop(digest, None)
    there = {digest: size for digest, size in leaving.items() if store.has(digest, size)}
    _note(store.folder, os.path.basename(session), len(there), most_bytes)
    shutil.rmtree(session, ignore_errors=True)
    freed = 0
    for digest, size in there.items():
        with suppress(OSError):
            os.unlink(store.path_of(digest))
            freed += size
    return freed


def _note(folder: str, session_id: str, contents: int, most_bytes: int) -> None:
    if not contents:
        return
    before = read_trimming(folder, session_id)
    found = {
        "at": datetime.now().astimezone().isoformat(timespec="seconds"),
        "contents": contents + (before.contents if before else 0),
        "most_bytes": most_bytes,
    }
    with suppress(OSError):  # room is needed more than the word about it
        make_private_folder(os.path.join(folder, _NOTES), durable=False)
        replace_private_file(
            _path_of_note(folder, session_id), json.dumps(found).encode(), durable=False
        )


def _path_of_note(folder: str, session_id: str) -> str:
    return os.path.join(folder, _NOTES, f"{session_id}.json")


def size_of_contents(folder: str) -> int:
    """The bytes that the contents in one workspace folder take."""
    total = 0
    for place, _, names in os.walk(os.path.join(folder, "objects")):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def count_trimmed(folder: str) -> int:
    """How many of the sessions beside one workspace folder lost contents.

    What a deleted session lost is kept, for it may come back, but concerns nobody until then.
    """
    project, lost = os.path.dirname(os.path.abspath(folder)), 0
    with suppress(OSError):
        for name in os.listdir(os.path.join(folder, _NOTES)):
            session_id, extension = os.path.splitext(name)
            lost += extension == ".json" and os.path.isdir(os.path.join(project, session_id))
    return lost
