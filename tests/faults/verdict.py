"""The promises I1 to I7 as questions to a folder: what a reader finds, and what recovery leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import UserMessage
from agent_tui.sessions.archive import finished_archives
from agent_tui.sessions.log import LogFile
from agent_tui.sessions.replay import Item, SessionState, read_log
from agent_tui.sessions.session_log import SessionLog
from tests.faults.acts import D1, Act, open_session
from tests.faults.snapshot import LIVE, Snapshot, take
from tests.sessions.recovery import bring_back


@dataclass(frozen=True, slots=True)
class Case:
    """An act on a folder: how the folder was, and how the act leaves it when nothing goes wrong."""

    act: Act
    before: Snapshot
    after: Snapshot

    @property
    def old(self) -> bytes:
        return self.before.files[LIVE]

    @property
    def new(self) -> bytes:
        return self.after.files[LIVE]

    def allows_live(self, live: bytes, died: bool) -> bool:
        """I3, I4: the old log or the new one; a dead append may have started its bytes."""
        if live in (self.old, self.new):
            return True
        return died and self.act.kind == "append" and is_between(self.old, live, self.new)

    def allows_archives(self, live: bytes, archives: dict[int, bytes]) -> bool:
        """I5, I6: an old archive is as it was; there is a new one exactly when the log is new."""
        if self.act.kind == "prune":
            kept = self.after.archives
            return kept.items() <= archives.items() <= self.before.archives.items()
        if self.act.kind == "replace" and live == self.new:
            return archives == self.after.archives
        return archives == self.before.archives


def is_between(old: bytes, live: bytes, new: bytes) -> bool:
    """Whether a log is the old one and a beginning of what was to be added."""
    return live.startswith(old) and new.startswith(live)


def judge_reading(case: Case, folder: Path, died: bool = True) -> list[str]:
    """What a reader without a lock sees before anybody has recovered anything."""
    broken = []
    found = take(folder)
    if found.live is None:
        return ["there is no live log"]
    if not case.allows_live(found.live, died):
        broken.append(f"the live log is neither old nor new: {found.live[-80:]!r}")
    archives = {number: found.archives[number] for number in finished_archives(folder)}
    copied = {n: data for n, data in archives.items() if n not in case.before.archives}
    if any(data != case.old for data in copied.values()):
        broken.append("a reader sees an archive that is not the old log")
    if case.act.kind != "prune" and not case.before.archives.items() <= archives.items():
        broken.append("a reader misses an archive, or sees it changed")
    state = read_log(folder / LIVE)
    if not accounts_for(state, found.live):
        broken.append("the reader did not account for every byte")
    return broken


def accounts_for(state: SessionState, data: bytes) -> bool:
    """Whether every byte is in a record, in reported damage, or blank."""
    found: list[Item] = [*state.all_entries, *state.damaged]
    items = sorted(found, key=lambda item: item.offset)
    at = 0
    for item in items:
        if item.offset < at or data[at : item.offset].strip():
            return False
        at = item.offset + item.length
    return at <= len(data) and not data[at:].strip() and state.size == len(data)


def judge_recovered(case: Case, folder: Path, died: bool = True) -> list[str]:
    """What recovery leaves: whole, clean, and the same when it is done twice."""
    broken = recover(folder)
    found = take(folder)
    broken += recover(folder)
    if take(folder) != found:
        broken.append("a second recovery changed something")
    if found.live is None:
        return [*broken, "recovery left no live log"]
    if not case.allows_live(found.live, died):
        broken.append(f"recovery left neither the old nor the new log: {found.live[-80:]!r}")
    if not case.allows_archives(found.live, found.archives):
        broken.append(
            f"after recovery the archives are {sorted(found.archives)}, wrong or changed; before"
            f" the act they were {sorted(case.before.archives)}"
        )
    if found.leftovers or found.same:
        broken.append(f"recovery left {found.leftovers or dict(found.same)}")
    return broken


def recover(folder: Path) -> list[str]:
    """Recover a folder as the next mutation would."""
    file = LogFile(folder, lock_timeout_seconds=0.2)
    try:
        bring_back(file)
    except AgentTuiError as error:
        return [f"recovery failed: {error}"]
    finally:
        file.close()
    return []


async def judge_going_on(folder: Path) -> list[str]:
    """A session that was hurt can be continued, and what it held stays as it is."""
    try:
        session = open_session(folder)
    except AgentTuiError as error:
        return [f"the session does not open: {error}"]
    try:
        return await _go_on(session)
    except AgentTuiError as error:
        return [f"the session cannot be continued: {error}"]
    finally:
        await session.close()


async def _go_on(session: SessionLog) -> list[str]:
    broken = []
    before = take(session.folder)
    phantoms = sorted(set(before.archives) - set(finished_archives(session.folder)))
    live = before.files[LIVE]
    healed = live if live.endswith(b"\n") or not live else live + b"\n"
    readable = len(read_log(session.path).all_entries)
    await session.append(UserMessage("going on"), durability=D1)
    after = take(session.folder)
    if not after.files[LIVE].startswith(healed) or after.files[LIVE].count(b"\n") != 1 + (
        healed.count(b"\n")
    ):
        broken.append("the next append did not just add its line")
    if len(read_log(session.path).all_entries) != readable + 1:
        broken.append("the next append was swallowed, or swallowed a line")
    kept = {n: data for n, data in before.archives.items() if n not in phantoms}
    if after.archives != kept:
        broken.append("the next append changed, made or lost an archive")
    number = await session.clear()
    final = take(session.folder)
    if number != max(kept, default=0) + 1 or final.archives != {**kept, number: after.live}:
        broken.append("the next rotation did not keep exactly what there was")
    return broken + memory_against_disk(session)


def memory_against_disk(session: SessionLog) -> list[str]:
    """I3: what the session shows is what its log holds."""
    disk = read_log(session.path)
    memory = session.state
    if list(disk.all_entries) != list(memory.all_entries) or disk.entries != memory.entries:
        return [f"memory has {len(memory.all_entries)} records, disk {len(disk.all_entries)}"]
    return []


async def judge_after_death(case: Case, folder: Path) -> list[str]:
    """Everything that must hold in a folder in which a process died."""
    broken = judge_reading(case, folder)
    broken += judge_recovered(case, folder)
    return broken or await judge_going_on(folder)


def judge_undisturbed(case: Case) -> list[str]:
    """I5, I6, I7, I9: what an act does when nothing goes wrong."""
    old, new = case.old, case.new
    archives, before = case.after.archives, case.before.archives
    if case.act.kind == "append":
        healed = old if old.endswith(b"\n") else old + b"\n"
        sound = new.startswith(healed) and len(new) > len(healed) and archives == before
        return [] if sound else ["an append did not just add its lines"]
    if case.act.kind == "prune":
        return [] if archives == {4: before[4]} and new == old else ["prune kept the wrong ones"]
    broken = []
    if archives != {**before, max(before) + 1: old}:
        broken.append(f"the archives are {sorted(archives)}, not the old ones and the old log")
    source = before[max(before)] if case.act.name == "restore" else old
    lines = [line for line in new.splitlines(keepends=True) if b'"uuid":"u' not in line]
    if case.act.name in ("revert", "restore") and not source.startswith(b"".join(lines)):
        broken.append("what was kept is not a verbatim beginning")
    if any(line not in source for line in lines):
        broken.append("a kept line is not byte for byte what it was")
    return broken
