"""What can be done to a whole session of a store, and what the store shows afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_tui.core.records import SessionHeader
from agent_tui.sessions.session_log import SessionLog
from agent_tui.sessions.store import SessionStore
from tests.faults.acts import HISTORY
from tests.faults.snapshot import LIVE, Snapshot, take

_LINES = HISTORY.splitlines(keepends=True)
QUIET = b"".join(_LINES[:2])
TALK = b"".join([*_LINES[:2], *_LINES[3:6]])
SPOKEN = Snapshot({LIVE: TALK, f"{LIVE}.1": QUIET, f"{LIVE}.4": TALK.replace(b"one", b"more")})


@dataclass(frozen=True, slots=True)
class Shelves:
    """The sessions of a store: those that it lists, by id, and those in its trash, by place."""

    listed: dict[str, Snapshot]
    trash: dict[str, Snapshot]

    def __or__(self, other: Shelves) -> Shelves:
        return Shelves(self.listed | other.listed, self.trash | other.trash)

    @property
    def key(self) -> tuple[object, ...]:
        """The same for the same sessions; it can be hashed."""
        return tuple((name, found.key) for name, found in (self.listed | self.trash).items())

    def __str__(self) -> str:
        return f"{sorted(self.listed)} and in the trash {sorted(self.trash)}"


def look(root: Path) -> Shelves:
    """What a store shows now."""
    folders = [Path(row.folder) for row in SessionStore(root).list()]
    trash = root / "trash"
    places = sorted(trash.iterdir()) if trash.exists() else []
    return Shelves(
        {folder.name: take(folder) for folder in folders}, {p.name: take(p) for p in places}
    )


@dataclass(frozen=True, slots=True)
class StoreAct:
    """Something done to a whole session of a store.

    Attributes:
        before: the files of the store.
        listed, trash: the sessions that are there when it is done.
    """

    name: str
    run: Callable[[SessionStore], Awaitable[object]]
    before: Snapshot
    listed: frozenset[str]
    trash: frozenset[str] = frozenset()

    def seen(self, shelves: Shelves) -> Shelves:
        """What counts: what is left of a discarded session in the trash does not."""
        return Shelves(shelves.listed, {}) if self.name == "discard" else shelves


async def _delete(store: SessionStore) -> None:
    await store.delete("s1")


async def _undelete(store: SessionStore) -> None:
    await store.undelete(store.place_of_deleted("s1"))


async def _discard(store: SessionStore) -> None:
    await store.discard("quiet")


@asynccontextmanager
async def _opened(store: SessionStore) -> AsyncIterator[SessionLog]:
    """A session that is closed in the end, unless its process has died."""
    session = await store.open("s1")
    try:
        yield session
    except Exception:
        await session.close()
        raise
    await session.close()


async def _fork(store: SessionStore) -> None:
    async with _opened(store) as session:
        fork = await session.fork(SessionHeader("s2", "/new", "2025-01-01T10:00:00Z", "0.1.0"))
        await fork.close()


async def _repair(store: SessionStore) -> None:
    await store.repair(store.find("s1"), "s2")


async def _prune(store: SessionStore) -> None:
    async with _opened(store) as session:
        await session.prune(1)


def _at(place: str, session: Snapshot) -> dict[str, bytes]:
    return {f"{place}/{name}": data for name, data in session.files.items()}


_PLAIN = Snapshot(_at("projects/-w/s1", SPOKEN) | {f"projects/-w/quiet/{LIVE}": QUIET})
_TRASHED = Snapshot(_at("trash/s1-1", SPOKEN))
STORE_ACTS = (
    StoreAct("delete", _delete, _PLAIN, frozenset({"quiet"}), frozenset({"s1-1"})),
    StoreAct("undelete", _undelete, _TRASHED, frozenset({"s1"})),
    StoreAct("discard", _discard, _PLAIN, frozenset({"s1"})),
    StoreAct("fork", _fork, _PLAIN, frozenset({"s1", "s2", "quiet"})),
    StoreAct("repair", _repair, _PLAIN, frozenset({"s1", "s2", "quiet"})),
    StoreAct("prune", _prune, _PLAIN, frozenset({"s1", "quiet"})),
)
