"""Layer "files": a revert of files is made wholly or not at all; a capture tells no untruth.

At every call of a revert the process dies, or the call fails once or from then on; then the next
start recovers, dies at every call of that too, and recovers again. The power goes after every call.
A capture dies or fails at every call, and the next one must find what it would have found.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.workspace.capture import Capture
from agent_tui.workspace.plan import Action, choose, make_plan
from agent_tui.workspace.reading import digest_of
from agent_tui.workspace.restore import Restore
from agent_tui.workspace.store import ContentStore
from tests.faults.disk_model import Disk
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.shim import Call, Died, Fault, Shim, faults_of
from tests.faults.snapshot import Snapshot, put
from tests.workspace.yard import Yard

LAYER = "files"
_MODES = {"run.sh": 0o755}
_DIES_AGAIN = 22
"""The short form dies again in the recovery from one death in so many."""


@dataclass(slots=True)
class Place:
    """A workspace and its store in a folder, and what a revert makes of them."""

    folder: Path
    old: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    kept: Path = Path()

    @property
    def root(self) -> str:
        return str(self.folder / "project")

    @property
    def store(self) -> ContentStore:
        return ContentStore(str(self.folder / "store"), "s1")

    def prepare(self, scratch: Path) -> None:
        """Let an agent edit, delete and create; plan to take it back; keep the picture of it."""
        yard = Yard(self.folder)
        yard.write("edited.txt", "one\ntwo\n")
        yard.write("deep/gone.txt", "gone\n")
        yard.write("run.sh", "#!/bin/sh\n", 0o755)
        yard.take()
        yard.take()  # the folders are known from the second look on
        self.new = yard.files()
        yard.write("edited.txt", "one\nagent\n")
        yard.write("made/created.txt", "created\n")
        shutil.rmtree(yard.root / "deep")
        yard.write("run.sh", "broken\n", 0o644)
        yard.take()
        self.old = yard.files()
        plan = make_plan(self.root, yard.store, yard.timeline.captures)
        self.actions = choose(plan, plan.default)
        self.kept = scratch / "kept"
        shutil.copytree(self.folder, self.kept)

    def prepare_capture(self, scratch: Path) -> None:
        """Let a file change that is not captured yet; keep the picture of it."""
        yard = Yard(self.folder)
        yard.write("a.txt", "old\n")
        yard.take()
        yard.write("a.txt", "new\n")
        self.kept = scratch / "kept"
        shutil.copytree(self.folder, self.kept)

    def reset(self) -> None:
        """Everything as it was when the revert was planned."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder)

    def files(self, folder: Path | None = None) -> dict[str, str]:
        """What stands in the workspace, whatever else lies there."""
        top = (folder or self.folder) / "project"
        found = {}
        for place in sorted(top.rglob("*")):
            if place.is_file():
                found[str(place.relative_to(top))] = place.read_text(errors="replace")
        return found

    def revert(self) -> None:
        """The revert, as a session makes it: what it returns from is in the log."""
        restore = Restore(self.root, self.store)
        restore.run(self.actions, "op", {"operation": "op"})

    def recover(self, folder: Path | None = None) -> str:
        """The next start: how it ended, in a word."""
        here = folder or self.folder
        restore = Restore(str(here / "project"), ContentStore(str(here / "store"), "s1"))
        found = restore.recover()
        restore.finish()
        return found.outcome if found else "nothing to do"


def run(effort: Effort) -> Outcome:
    """Break reverts, recoveries and captures at every call."""
    outcome = Outcome(LAYER)
    with timed(outcome):
        place = Place(effort.scratch / "place")
        place.prepare(effort.scratch)
        _break_reverts(place, effort, outcome)
        if not (outcome.findings and effort.first_only):
            cut_power_of_reverts(place, effort, outcome)
        if not (outcome.findings and effort.first_only):
            _break_captures(effort, outcome)
            cut_power_of_captures(effort, outcome)
    return outcome


def _attempt(
    fault: Fault | None, act: Callable[[], Any]
) -> tuple[list[Call], BaseException | None]:
    """Do something with a fault; what it called, and how it ended."""
    shim = Shim()
    error: BaseException | None = None
    with shim.in_place():
        shim.arm(fault)
        try:
            act()
        except (Exception, Died) as raised:
            error = raised
        shim.disarm()
        calls = list(shim.calls)
        if shim.dead:
            shim.bury()
            shim.dead = False
    return calls, error


def _break_reverts(place: Place, effort: Effort, outcome: Outcome) -> None:
    calls, error = _attempt(None, place.revert)
    outcome.find("undisturbed", judge_end(place, error, None))
    one_in = 1 if effort.full else _DIES_AGAIN
    for fault in faults_of(calls, errors_each=None if effort.full else 1):
        place.reset()
        _, error = _attempt(fault, place.revert)
        call = calls[fault.at - 1]
        where = f"{fault} ({call.name} {call.about})"
        outcome.count("deaths" if isinstance(error, Died) else "errors")
        outcome.find(where, judge_end(place, error, fault))
        if isinstance(error, Died) and fault.at % one_in == 0:
            _break_recovery(place, fault, where, outcome)
        if outcome.findings and effort.first_only:
            return


def judge_end(place: Place, error: BaseException | None, fault: Fault | None) -> list[str]:
    """Old or new; the error is in words; what the next start says is true."""
    broken = []
    before = place.files()
    if error is None and _work(before) != place.new:
        broken.append(f"it returned, but there is {before}")
    if error is not None and not isinstance(error, AgentTuiError | Died):
        broken.append(f"a raw {type(error).__name__} came out: {error}")
    unfinished = isinstance(error, Died) or "opened again" in str(error)
    if isinstance(error, AgentTuiError) and not unfinished and _work(before) != place.old:
        broken.append(f"it failed ({error}), but there is {before}")
    told = place.recover()
    after = place.files()
    hopes = [place.new] if error is None else [place.old, place.new]
    if after not in hopes:
        broken.append(f"after {told!r} there is {after}")
    if told == "finished" and after != place.new:
        broken.append("it says finished, and it is not")
    if told == "rolled back" and after != place.old:
        broken.append("it says rolled back, and it is not")
    if place.recover() != "nothing to do":
        broken.append("the next start has something to do again")
    if after == place.new:
        modes = {name: (place.folder / "project" / name).stat().st_mode & 0o777 for name in _MODES}
        broken += [f"modes are {modes}"] * (modes != _MODES)
    return broken


def _work(files: dict[str, str]) -> dict[str, str]:
    """Without what is prepared and not cleared away yet."""
    return {name: text for name, text in files.items() if not name.startswith(".agent-tui-")}


def _break_recovery(place: Place, fault: Fault, where: str, outcome: Outcome) -> None:
    """Die at every call of the recovery as well."""
    at = 0
    while True:
        at += 1
        place.reset()
        _attempt(fault, place.revert)
        calls, error = _attempt(Fault(at), place.recover)
        if len(calls) < at:
            return
        outcome.count("double deaths")
        if not isinstance(error, Died):
            outcome.find(f"{where}, then dying at call {at}", [f"it ended with {error!r}"])
        outcome.find(f"{where}, then dying at call {at}", judge_end(place, Died(), None))
        if outcome.findings:
            return


def cut_power_of_reverts(place: Place, effort: Effort, outcome: Outcome) -> None:
    """Rebuild every disk that a power cut may leave after each call, and start on it."""
    place.reset()
    told: list[tuple[str, tuple[Any, ...], Any]] = []

    def watch(name: str, arguments: tuple[Any, ...], result: Any) -> None:
        if name == "write":
            arguments = (arguments[0], bytes(arguments[1]))
        told.append((name, arguments, result))

    shim = Shim(watch=watch)
    with shim.in_place():
        place.revert()
        returned = len(told)
        Restore(place.root, place.store).finish()
    disk = Disk(place.folder)
    disk.adopt(_picture(place.kept))
    for empty in ("project", "store"):
        disk.top.names[empty]  # both are there from the start
    seen: set[object] = set()
    for number, (name, arguments, result) in enumerate(told):
        if name == "open" and str(arguments[0]).endswith("/lock"):
            continue
        if not disk.watch(name, arguments, result):
            continue
        for state in disk.states():
            done = number >= returned
            if (state.key, done) in seen:
                continue
            seen.add((state.key, done))
            outcome.count("disks")
            outcome.find(
                f"power cut after call {number} ({name})",
                _judge_disk(place, state, effort.scratch / "cut", done),
            )
            if outcome.findings and effort.first_only:
                return


def _picture(folder: Path) -> Snapshot:
    files = {
        str(place.relative_to(folder)): place.read_bytes()
        for place in sorted(folder.rglob("*"))
        if place.is_file()
    }
    return Snapshot(files)


def _judge_disk(place: Place, state: Snapshot, folder: Path, done: bool) -> list[str]:
    put(state, folder)
    for name in state.files:
        if name.startswith("project/"):  # the model knows contents only
            (folder / name).chmod(0o755 if state.files[name] == b"#!/bin/sh\n" else 0o644)
    (folder / "project").mkdir(exist_ok=True)
    journal = folder / "store" / "sessions" / "s1" / "restore.json"
    if journal.exists():  # it names the folder that the power went out in
        journal.write_text(journal.read_text().replace(place.root, str(folder / "project")))
    try:
        told = place.recover(folder)
    except AgentTuiError as error:
        return [f"the next start says {error}"]
    found = place.files(folder)
    if found == place.new or (found == place.old and not done):
        return []
    return [f"after {told!r} there is {found}"]


def _break_captures(effort: Effort, outcome: Outcome) -> None:
    """A capture that is cut off or fails says nothing wrong, and the next one says it all."""
    kept = effort.scratch / "captured"
    yard = Yard(kept)
    yard.write("a.txt", "old\n")
    yard.take()
    yard.write("a.txt", "new\n")
    folder = effort.scratch / "capture"

    def begin() -> Capture:
        return Capture(
            str(folder / "project"), ContentStore(str(folder / "store"), "s1"), home="/x"
        )

    def take() -> None:
        capture = begin()
        found = capture.take()
        said.append((found.status, [change.path for change in found.delta]))  # it is in the log
        if found.status == "captured":
            capture.settle()

    said: list[tuple[str, list[str]]] = []
    shutil.copytree(kept, folder)
    calls, _ = _attempt(None, take)
    for fault in faults_of(calls, errors_each=None if effort.full else 1):
        said.clear()
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        _, error = _attempt(fault, take)
        outcome.count("broken captures")
        call = calls[fault.at - 1]
        where = f"capture, {fault} ({call.name} {call.about})"
        outcome.find(where, list(judge_capture(error, said, begin())))


def cut_power_of_captures(effort: Effort, outcome: Outcome) -> None:
    """What a capture said it kept is there after a power cut; what it did not say is found."""
    (effort.scratch / "powered").mkdir()
    place = Place(effort.scratch / "powered" / "place")
    place.prepare_capture(effort.scratch / "powered")
    told: list[tuple[str, tuple[Any, ...], Any]] = []

    def watch(name: str, arguments: tuple[Any, ...], result: Any) -> None:
        if name == "write":
            arguments = (arguments[0], bytes(arguments[1]))
        told.append((name, arguments, result))

    with Shim(watch=watch).in_place():
        capture = Capture(place.root, place.store, home="/x")
        capture.take()
        returned = len(told)
        capture.settle()
    disk = Disk(place.folder)
    disk.adopt(_picture(place.kept))
    for number, (name, arguments, result) in enumerate(told):
        if name == "open" and str(arguments[0]).endswith("/lock"):
            continue
        if not disk.watch(name, arguments, result):
            continue
        for state in disk.states():
            outcome.count("disks")
            cut = effort.scratch / "powered" / "cut"
            put(state, cut)
            again = Capture(str(cut / "project"), ContentStore(str(cut / "store"), "s1"), home="/x")
            said = [("captured", ["a.txt"])] if number >= returned else []
            where = f"capture, power cut after call {number} ({name})"
            if said and not again.store.has(digest_of(b"new\n"), 4):
                outcome.find(where, ["what it said it kept is not there"])
            outcome.find(where, list(judge_capture(None, said, again)))


def judge_capture(
    error: BaseException | None, said: list[tuple[str, list[str]]], again: Capture
) -> Iterator[str]:
    if error is not None and not isinstance(error, AgentTuiError | OSError | Died):
        yield f"a raw {type(error).__name__} came out: {error}"
    told = said[-1] if said else None
    if told is not None and told[0] == "captured" and told[1] not in (["a.txt"], []):
        yield f"it said {told}"
    found = again.take()
    delta = [change.path for change in found.delta]
    if told == ("captured", ["a.txt"]):
        if found.status != "captured" or delta not in ([], ["a.txt"]):
            yield f"the next one says {found.status} {delta}"
        return
    if found.status != "captured" or delta != ["a.txt"]:
        yield f"it said {told}, the next one says {found.status} {delta}: the change is lost"
        return
    old = found.delta[0].old
    if old is None or not old.hash or again.store.get(old.hash) != b"old\n":
        yield "the content before is not known any more"
