"""Layers "files, system calls" and "files, full disk": reverts and captures of a real process.

strace kills the process at every system call of a revert and of a capture, and lets each fail. And
there is no room: at every size of file, and on a tmpfs of a few pages and inodes.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.workspace.capture import Capture
from agent_tui.workspace.plan import Action
from agent_tui.workspace.restore import Restore
from agent_tui.workspace.store import ContentStore
from tests.faults.files_layer import Place, judge_capture, judge_end
from tests.faults.full_disk_layer import filled, mount
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Died
from tests.faults.strace import SystemCall, Victim, calls_in, why_not

SYSTEM_LAYER = "files, system calls"
FULL_LAYER = "files, full disk"

_ERRORS = {
    "openat": ("EIO", "ENOSPC", "EMFILE", "EACCES"),
    "read": ("EIO",),
    "write": ("ENOSPC", "EIO", "EDQUOT"),
    "fsync": ("EIO", "ENOSPC"),
    "fchmod": ("EPERM",),
    "rename": ("EIO", "ENOSPC", "EACCES"),
    "renameat": ("EIO", "ENOSPC", "EACCES"),
    "renameat2": ("EIO", "ENOSPC", "EINVAL"),
    "unlink": ("EIO", "EACCES"),
    "unlinkat": ("EIO", "EACCES"),
    "mkdir": ("EIO", "ENOSPC"),
    "mkdirat": ("EIO", "ENOSPC"),
    "newfstatat": ("EIO",),
    "getdents64": ("EIO",),
    "flock": ("ENOLCK",),
}
_CHANGING = (
    "write",
    "fsync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
)
_PAGES, _INODES = (64, 120)


@dataclass(slots=True)
class _Scene:
    """A revert or a capture that a child process does, from the same start each time."""

    scratch: Path
    place: Place
    what: str

    def __post_init__(self) -> None:
        (self.scratch / "actions").write_bytes(pickle.dumps(self.place.actions))

    @property
    def order(self) -> dict[str, Any]:
        """What the child is told."""
        actions = str(self.scratch / "actions")
        return {"role": "files", "what": self.what, "actions": actions}

    def judge(self, heard: dict[str, Any]) -> list[str]:
        """Whether old or new is there, and what was said is true."""
        told = heard.get("acted")
        error: BaseException | None = None
        if told is None:
            error = Died()
        elif told:
            error = AgentTuiError(told) if heard["in_words"] else RuntimeError(told)
        if self.what == "revert":
            return judge_end(self.place, error, None)
        again = Capture(self.place.root, self.place.store, home="/x")
        said = [(status, list(paths)) for status, paths in heard.get("said", [])]
        return list(judge_capture(error, said, again))


def _scenes(scratch: Path) -> Iterator[_Scene]:
    for what in ("revert", "capture"):
        place = Place(scratch / what)
        (scratch / f"{what}-kept").mkdir()
        if what == "revert":
            place.prepare(scratch / f"{what}-kept")
        else:
            place.prepare_capture(scratch / f"{what}-kept")
        yield _Scene(scratch, place, what)


def load_actions(order: dict[str, Any]) -> list[Action]:
    """What the child is to revert, read before anything is broken."""
    actions: list[Action] = pickle.loads(Path(order["actions"]).read_bytes())  # ours
    return actions


def act_once(order: dict[str, Any], actions: list[Action], tell: Callable[..., None]) -> None:
    """What the child does: a revert, or a capture; ``tell`` is the log, and how it ended."""
    folder = Path(order["folder"])
    store = ContentStore(str(folder / "store"), "s1")
    said: list[tuple[str, list[str]]] = []
    try:
        if order["what"] == "revert":
            Restore(str(folder / "project"), store).run(actions, "op", {"operation": "op"})
        else:
            capture = Capture(str(folder / "project"), store, home="/x")
            found = capture.take()
            said.append((found.status, [change.path for change in found.delta]))
            tell(said=said)
            if found.status == "captured":
                capture.settle()
    except Exception as error:
        known = isinstance(error, AgentTuiError) or (bool(said) and isinstance(error, OSError))
        tell(acted=f"{type(error).__name__}: {error}", in_words=known, said=said)
    else:
        tell(acted="", said=said)


def system_calls(effort: Effort) -> Outcome:
    """SIGKILL and errors at the system calls of the real process."""
    outcome = Outcome(SYSTEM_LAYER, skipped=why_not())
    if outcome.skipped:
        return outcome
    with timed(outcome), Victim(effort.scratch) as victim:
        for scene in _scenes(effort.scratch):
            log = effort.scratch / "calls.log"
            _trace(victim, scene, ["-o", str(log)])
            calls = [call for call in calls_in(log) if call.name in _ERRORS]
            for call in calls:
                if effort.full or call.name in _CHANGING:
                    _kill(victim, scene, call, outcome)
                    _fail(victim, scene, call, effort, outcome)
                if outcome.findings and effort.first_only:
                    return outcome
    return outcome


def _kill(victim: Victim, scene: _Scene, call: SystemCall, outcome: Outcome) -> None:
    inject = f"inject={call.name}:signal=SIGKILL:when={call.nth}"
    heard = _trace(victim, scene, ["-o", os.devnull, "-e", f"trace={call.name}", "-e", inject])
    if heard["ended"] == -9:
        outcome.count("kills")
        outcome.find(f"{scene.what}, killed at {call.name} {call.nth}", scene.judge(heard))


def _fail(
    victim: Victim, scene: _Scene, call: SystemCall, effort: Effort, outcome: Outcome
) -> None:
    for error in _ERRORS[call.name][: None if effort.full else 1]:
        for lasting in (False, True)[: 2 if effort.full else 1]:
            inject = f"inject={call.name}:error={error}:when={call.nth}{'+' * lasting}"
            tracing = ["-o", os.devnull, "-e", f"trace={call.name}", "-e", inject]
            heard = _trace(victim, scene, tracing)
            outcome.count("errors from then on" if lasting else "errors once")
            where = f"{scene.what}, {error} at {call.name} {call.nth}{'+' * lasting}"
            outcome.find(where, scene.judge(heard))


def _trace(victim: Victim, scene: _Scene, tracing: list[str]) -> dict[str, Any]:
    scene.place.reset()
    return victim.traced({"folder": str(scene.place.folder), **scene.order}, tracing)


def full_disk(effort: Effort) -> Outcome:
    """No room at any byte of any file, and on a disk that is really full."""
    outcome = Outcome(FULL_LAYER)
    with timed(outcome), Victim(effort.scratch) as victim:
        for scene in _scenes(effort.scratch):
            for size in range(0, 2_200, 1 if effort.full else 40):
                scene.place.reset()
                victim.order(**scene.order, folder=str(scene.place.folder), go="", limit=size)
                heard = victim.hear_until("ended")
                if heard.get("acted") == "" and not any("none" in each for each in heard["said"]):
                    break  # there is room enough
                outcome.count("limits")
                outcome.find(f"{scene.what}, files of {size} bytes", scene.judge(heard))
        _fill_disks(effort, outcome)
    return outcome


def _fill_disks(effort: Effort, outcome: Outcome) -> None:
    disk = effort.scratch / "tiny"
    if why := mount(disk, _PAGES, _INODES):
        outcome.note = why
        return
    with contextlib.ExitStack() as mounted:
        mounted.callback(subprocess.run, ["umount", str(disk)], check=True)
        for what in ("revert", "capture"):
            kept = effort.scratch / f"tiny-{what}"
            kept.mkdir()
            place = Place(disk / what)
            (place.prepare if what == "revert" else place.prepare_capture)(kept)
            scene = _Scene(effort.scratch, place, what)
            for pages in range(12):
                for inodes in range(0, 12, 1 if effort.full else 3):
                    place.reset()
                    with filled(disk, pages, inodes):
                        order = {**scene.order, "folder": str(place.folder)}
                        heard: dict[str, Any] = {}
                        act_once(order, load_actions(order), heard.update)
                    outcome.count("full disks")
                    where = f"{what}, {pages} pages and {inodes} inodes free"
                    outcome.find(where, scene.judge(heard))
            shutil.rmtree(place.folder)
