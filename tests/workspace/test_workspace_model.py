"""Random stories of an agent, its shell and a person, with reverts, undo, redo and kills.

Afterwards every change of the person is there, and every change of the agent that was taken back
is gone, or the plan said why not.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_tui.core.records import WorkspaceRecord
from agent_tui.core.revert_plan import RevertPlan
from agent_tui.workspace.merge import split_lines
from agent_tui.workspace.plan import Action, choose
from agent_tui.workspace.restore import Restore
from agent_tui.workspace.store import ContentStore
from tests.faults.shim import Died, Fault, Shim
from tests.workspace.yard import Yard

FILES = ("a.txt", "b.txt", "c.txt")
START = "".join(f"line {number}\n" for number in range(24))
LINES = st.integers(0, 23)
FILE = st.sampled_from(FILES)

STEPS = st.one_of(
    st.tuples(st.just("agent"), FILE, LINES),
    st.tuples(st.just("shell"), FILE, LINES),
    st.tuples(st.just("person"), FILE, LINES),
    st.tuples(st.just("person"), FILE, LINES),
    st.tuples(st.just("create"), FILE, LINES),
    st.tuples(st.just("delete"), FILE, LINES),
    st.tuples(st.just("checkpoint"), FILE, LINES),
    st.tuples(st.just("revert"), FILE, LINES),
    st.tuples(st.just("hunk"), FILE, LINES),
    st.tuples(st.just("all"), FILE, LINES),
    st.tuples(st.just("new"), FILE, LINES),
    st.tuples(st.just("undo"), FILE, LINES),
    st.tuples(st.just("kill"), FILE, st.integers(1, 160)),
    st.tuples(st.just("restart"), FILE, LINES),
)


class Story:
    """What happened, and whose words must be where."""

    def __init__(self, folder: Path) -> None:
        self.yard = Yard(folder)
        for name in FILES:
            self.yard.write(name, START)
        self.yard.take()
        self.marks = [self.yard.checkpoint()]
        self.count = 0
        self.last: WorkspaceRecord | None = None

    def token(self, who: str) -> str:
        self.count += 1
        return f"{who}{self.count}"

    def edit(self, name: str, at: int, word: str) -> None:
        """Put a word into a line; nobody writes over the words of somebody else."""
        text = self.yard.read(name)
        if text is None:
            return
        lines = text.splitlines(keepends=True)
        if at < len(lines) and lines[at].startswith("line"):
            lines[at] = f"{word}\n"
            self.yard.write(name, "".join(lines))

    def words(self, who: str) -> set[str]:
        """The words of somebody that stand in some file now."""
        return set(re.findall(rf"{who}\d+", " ".join(self.yard.files().values())))

    def play(self, step: tuple[str, str, int]) -> None:
        what, name, number = step
        match what:
            case "agent":
                self.edit(name, number, self.token("agent"))
                self.yard.take()
            case "shell":
                for each in FILES:
                    self.edit(each, number, self.token("agent"))
                self.yard.take()
            case "person":
                self.edit(name, number, self.token("mine"))
                self.yard.take("human")
            case "create":
                self.yard.write(f"new{self.count}.txt", self.token("agent"))
                self.yard.take()
            case "delete":
                if not re.search(r"mine\d+", self.yard.read(name) or "mine0"):
                    (self.yard.root / name).unlink(missing_ok=True)
                    self.yard.take()
            case "checkpoint":
                self.marks.append(self.yard.checkpoint())
            case "revert":
                self.revert(self.marks[number % len(self.marks)])
            case "hunk":
                self.revert_hunk(number)
            case "all":
                self.revert_all()
            case "new":
                self.yard.write(f"mine{self.count}.txt", self.token("mine"))
                self.yard.take("human")
            case "undo":
                self.undo()
            case "kill":
                self.kill(number)
            case "restart":
                self.yard.open()
                self.yard.take("outside")

    def revert(self, mark: str) -> None:
        before = self.yard.files()
        mine, agents = self.words("mine"), self.words("agent")
        plan = self.yard.plan(mark)
        since = "".join(
            self.content(change.new.hash)
            for capture in self.yard.timeline.since(mark)
            if capture.cause == "tool_call"
            for change in capture.delta
            if change.new is not None
        )
        earlier = {word for word in agents if word not in since}
        self.last = self.yard.revert(plan)
        assert mine <= self.words("mine"), "a change of the person is lost"
        assert earlier <= self.words("agent") | self.replaced(plan), "too much was taken back"
        left = self.words("agent") - earlier
        told = {path.path for path in plan.paths if path.own and not self.whole(plan, path.path)}
        held = {
            word for name, text in self.yard.files().items() if name in told
            for word in re.findall(r"agent\d+", text)
        }  # fmt: skip
        assert left <= held | self.kept_from(mark), f"{left} stayed and nobody said why"
        assert before.keys() - self.yard.files().keys() <= {
            name for name in before if name.startswith("new")
        }

    def kept_from(self, mark: str) -> set[str]:
        """Words that stood there at the checkpoint already."""
        place = self.yard.timeline.places[mark]
        words: set[str] = set()
        for capture in self.yard.timeline.captures[:place]:
            for change in capture.delta:
                if change.new is not None:
                    words |= set(re.findall(r"agent\d+", self.content(change.new.hash)))
        return words

    def replaced(self, plan: RevertPlan) -> set[str]:
        """Words in lines that the plan showed as going."""
        lines = b"".join(
            piece for path in plan.paths for hunk in path.hunks for piece in hunk.removed
        )
        gone = b"".join(path.now.content for path in plan.paths if path.then.state is None)
        return set(re.findall(r"agent\d+", (lines + gone).decode()))

    def whole(self, plan: RevertPlan, name: str) -> bool:
        (path,) = [each for each in plan.paths if each.path == name and each.own]
        return path.status in ("clean", "merged")

    def content(self, digest: str) -> str:
        return self.yard.store.get(digest).decode()

    def revert_hunk(self, number: int) -> None:
        mine = self.words("mine")
        plan = self.yard.plan(self.marks[0])
        hunks = [
            (path, hunk) for path in plan.paths if path.own for hunk in path.hunks
            if not hunk.conflict
        ]  # fmt: skip
        if hunks:
            path, hunk = hunks[number % len(hunks)]
            wanted = self.yard.files()
            lines = split_lines(path.now.content)
            lines[hunk.start : hunk.stop] = hunk.added
            wanted[path.path] = b"".join(lines).decode()
            self.last = self.yard.revert(plan, {path.key: frozenset({hunk.id})})
            assert self.yard.files() == wanted, "more or less than the hunk went"
        assert mine <= self.words("mine")

    def revert_all(self) -> None:
        """Tick everything, the person's own changes too; then think better of it."""
        before = self.yard.files()
        plan = self.yard.plan(self.marks[0])
        wide = {each.key: frozenset({0}) for each in plan.paths if not each.own}
        done = self.yard.revert(plan, {**plan.default, **wide})
        kept = {name for name in before if name.startswith("mine")}
        assert kept <= self.yard.files().keys(), "a file that the person created is deleted"
        self.yard.take_back(done, "undo")
        self.last = None  # a redo would take the person's changes, as was asked for
        assert self.yard.files() == before, "an undo did not bring everything back"

    def undo(self) -> None:
        if self.last is None:
            return
        mine = self.words("mine")
        changed = self.yard.take("human").delta
        self.last = self.yard.take_back(self.last, "redo" if self.last.cause == "undo" else "undo")
        del changed
        assert mine <= self.words("mine")

    def rehearse(self, actions: list[Action]) -> int:
        """How many calls a revert makes, found out in a copy of everything."""
        with tempfile.TemporaryDirectory(dir=self.yard.folder.parent) as at:
            copy = Path(at) / "copy"
            shutil.copytree(self.yard.folder, copy, symlinks=True)
            shim = Shim()
            with shim.in_place():
                shim.arm()
                store = ContentStore(str(copy / "store"), self.yard.store.session_id)
                Restore(str(copy / "project"), store).run(actions, "killed", {})
                return len(shim.calls)

    def kill(self, at: int) -> None:
        """Die at some call of a revert; the next start leaves one of both states."""
        before = self.yard.files()
        plan = self.yard.plan(self.marks[0])
        actions = choose(plan, plan.default)
        if not actions:
            return
        wanted = dict(before)
        for action in actions:
            wanted.pop(action.path, None)
            if action.target is not None:
                wanted[action.path] = action.content.decode()
        calls = self.rehearse(actions)
        shim = Shim()
        with shim.in_place():
            shim.arm(Fault(calls - at % calls))
            try:
                Restore(str(self.yard.root), self.yard.store).run(actions, "killed", {})
            except Died:
                pass
            finally:
                shim.disarm()
                shim.bury()
                shim.dead = False
        self.yard.open()
        restore = Restore(str(self.yard.root), self.yard.store)
        found = restore.recover()
        restore.finish()
        assert self.yard.files() in (before, wanted)
        if found is not None and found.outcome == "finished":
            self.yard.log(WorkspaceRecord("revert", found.changes, operation="killed"))
        self.yard.capture.take()
        self.yard.capture.settle()
        self.last = None


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(STEPS, min_size=4, max_size=16))
def test_the_persons_changes_stay_and_the_agents_go(steps: list[tuple[str, str, int]]) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as at:
        story = Story(Path(at) / "yard")
        for step in steps:
            story.play(step)
        story.revert(story.marks[0])
