"""Layers "size limit" and "tiny disk": no room at every byte, every page and every inode."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from agent_tui.core.errors import AgentTuiError, StorageError
from agent_tui.core.records import UserMessage
from tests.faults.acts import ACTS, D1, SMALL, Act, open_session
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.snapshot import LIVE, put, take
from tests.faults.stage import Stage
from tests.faults.strace import Victim
from tests.faults.verdict import Case, memory_against_disk, recover

LIMIT_LAYER = "size limit"
TINY_LAYER = "tiny disk"
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FREE_PAGES = (0, 1, 2, 3)
_FREE_INODES = (0, 1, 2, 9)
_IN_BRIEF = ("append", "append three", "revert", "clear")


def limit(effort: Effort) -> Outcome:
    """RLIMIT_FSIZE at every byte that an act writes, in a child process."""
    outcome = Outcome(LIMIT_LAYER)
    with timed(outcome), Victim(effort.scratch, effort.mutant) as victim:
        for act in ACTS.values():
            if act.kind == "prune" or not (effort.full or act.name in _IN_BRIEF):
                continue
            victim.order(role="fill", folder=str(effort.scratch / "s1"), act=act.name)
            heard = victim.hear_until("ended")
            outcome.count("limits", heard.get("tried", 0))
            outcome.find(act.name, heard.get("broken", ["the process ended"]))
            if outcome.findings and effort.first_only:
                return outcome
    return outcome


async def judge_limits(
    folder: Path, act: Act, set_limit: Callable[[int], None]
) -> tuple[int, list[str]]:
    """Do an act with every size of file that is too small for it; how many, and what broke."""
    case = await _rehearsed(folder, act)
    first = len(case.old) if act.kind == "append" else 0
    broken: list[str] = []
    for size in range(first, len(case.new)):
        found = await _judge_limit(folder, act, size, set_limit)
        broken += [f"at byte {size}: {sentence}" for sentence in found]
    return len(case.new) - first, broken[:20]


async def _rehearsed(folder: Path, act: Act) -> Case:
    session = open_session(put(SMALL, folder))
    token = await act.prepare(session) if act.prepare else None
    before = take(folder)
    await act.run(session, token)
    await session.close()
    return Case(act, before, take(folder))


async def _judge_limit(
    folder: Path, act: Act, size: int, set_limit: Callable[[int], None]
) -> list[str]:
    session = open_session(put(SMALL, folder))
    token = await act.prepare(session) if act.prepare else None
    old = take(folder)
    error: Exception | None = None
    set_limit(size)
    try:
        await act.run(session, token)
    except Exception as raised:
        error = raised
    finally:
        set_limit(-1)
    broken = [] if isinstance(error, StorageError) else [f"expected StorageError, got {error!r}"]
    if take(folder) != old:
        broken.append("the folder is not as it was")
    broken += memory_against_disk(session)
    try:
        await session.append(UserMessage("resumed"), durability=D1)
    except AgentTuiError as again:
        broken.append(f"work does not resume: {again}")
    await session.close()
    return broken


def tiny(effort: Effort) -> Outcome:
    """A tmpfs of a few pages and inodes, filled up to every small number of free ones."""
    outcome = Outcome(TINY_LAYER)
    disk = effort.scratch / "tiny"
    with timed(outcome), contextlib.ExitStack() as mounted:
        outcome.skipped = mount(disk, 24, 40)
        if outcome.skipped:
            return outcome
        mounted.callback(subprocess.run, ["umount", str(disk)], check=True)
        stage = mounted.enter_context(Stage(disk))
        for act in ACTS.values():
            case, _ = stage.rehearse(act, SMALL)
            for pages in _FREE_PAGES:
                for inodes in _FREE_INODES:
                    outcome.count("full disks")
                    broken = stage.ask(_judge_full(disk, act, case, pages, inodes))
                    outcome.find(f"{act.name}, {pages} pages and {inodes} inodes free", broken)
    return outcome


async def _judge_full(disk: Path, act: Act, case: Case, pages: int, inodes: int) -> list[str]:
    folder = put(SMALL, disk / "s1")
    session = open_session(folder)
    token = await act.prepare(session) if act.prepare else None
    before = take(folder)
    error: Exception | None = None
    with filled(disk, pages, inodes):
        try:
            await act.run(session, token)
        except Exception as raised:
            error = raised
        found = take(folder)
    broken = [] if error is None or isinstance(error, StorageError) else [f"raised {error!r}"]
    if error is None and len(found.files[LIVE]) != len(case.new):
        broken.append("the act returned, but its log is not the new one")
    if error is not None and (found.live, found.archives) != (before.live, before.archives):
        broken.append("the act raised, but the log or an archive changed")
    broken += memory_against_disk(session)
    try:
        await session.append(UserMessage("resumed"), durability=D1)
    except AgentTuiError as again:
        broken.append(f"work does not resume: {again}")
    await session.close()
    return broken + recover(folder)


@contextlib.contextmanager
def filled(disk: Path, pages: int, inodes: int) -> Iterator[None]:
    """Leave only so many free pages and inodes."""
    filler = disk / "filler"
    filler.mkdir()
    (filler / "data").touch()
    spare = os.statvfs(disk).f_ffree - inodes
    for number in range(spare):
        (filler / str(number)).touch()
    with (filler / "data").open("wb") as data:
        data.write(b"x" * _PAGE * (os.statvfs(disk).f_bfree - pages))
    try:
        yield
    finally:
        for path in filler.iterdir():
            path.unlink()
        filler.rmdir()


def mount(disk: Path, pages: int, inodes: int) -> str:
    """Mount a tiny tmpfs; why not, when it cannot be done."""
    if os.geteuid() != 0:
        return "mounting a tmpfs needs root"
    disk.mkdir()
    options = f"size={pages * _PAGE},nr_inodes={inodes}"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)],
        capture_output=True,
        check=False,
        text=True,
    )
    return "" if made.returncode == 0 else f"mount was refused: {made.stderr.strip()}"
