"""A workspace that an agent, a shell and a person change, and everything that is known of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agent_tui.core.file_changes import ChangeCause, FileChange
from agent_tui.core.records import Checkpoint, Stamp, WorkspaceRecord
from agent_tui.core.revert_plan import Choice, RevertPlan
from agent_tui.workspace.capture import Capture, WorkspaceDelta
from agent_tui.workspace.limits import DEFAULT_LIMITS, Limits
from agent_tui.workspace.plan import choose, make_plan
from agent_tui.workspace.restore import Restore
from agent_tui.workspace.store import ContentStore
from agent_tui.workspace.timeline import FileTimeline, build_timeline


def git(folder: Path, *arguments: str) -> str:
    """Run git as a person would, apart from the settings of whoever runs the tests."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True, text=True
    )
    return done.stdout


class Yard:
    """Files under capture, without a session around them: its log is a list of records."""

    def __init__(
        self, folder: Path, *, with_git: bool = False, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.root.mkdir(parents=True, exist_ok=True)
        self.limits = limits
        self.records: list[Checkpoint | WorkspaceRecord] = []
        if with_git:
            git(self.root, "init", "-q")
        self.open()

    def open(self, session: str = "s1") -> None:
        """Begin a run of the program, as after a restart."""
        self.store = ContentStore(str(self.folder / "store"), session)
        self.capture = Capture(str(self.root), self.store, self.limits, str(self.folder / "home"))

    def write(self, path: str, content: str | bytes, mode: int | None = None) -> Path:
        """Put a content where it belongs."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            place.chmod(mode)
        return place

    def read(self, path: str) -> str | None:
        """What stands in a file; None where it is not."""
        place = self.root / path
        return place.read_text() if os.path.lexists(place) else None

    def files(self) -> dict[str, str]:
        """Every file, its content or its target."""
        found = {}
        for place in sorted(self.root.rglob("*")):
            name = str(place.relative_to(self.root))
            if ".git" in name.split("/"):
                continue
            if place.is_symlink():
                found[name] = f"-> {place.readlink()}"
            elif place.is_file():
                found[name] = place.read_bytes().decode(errors="replace")
        return found

    def checkpoint(self) -> str:
        """Mark a place to return to; returns its id."""
        number = sum(isinstance(record, Checkpoint) for record in self.records)
        uuid = f"c{number}"
        self.records.append(Checkpoint(number, stamp=Stamp(uuid)))
        return uuid

    def take(
        self, cause: ChangeCause = "tool_call", call: str = "", targets: Iterable[str] = ()
    ) -> WorkspaceRecord:
        """Capture what changed, and write it to the log."""
        found = self.capture.take(frozenset(targets))
        record = self.log(_record(cause, found, call))
        if found.status == "captured":
            self.capture.settle()
        return record

    def log(self, record: WorkspaceRecord) -> WorkspaceRecord:
        """Append a record, linked behind the capture before."""
        marks = [each for each in self.records if isinstance(each, Checkpoint)]
        record = replace(
            record,
            base=self.timeline.tip,
            checkpoint_uuid=marks[-1].stamp.uuid if marks else None,
            stamp=Stamp(f"w{len(self.records)}", at=datetime.now(UTC).isoformat()),
        )
        self.records.append(record)
        return record

    @property
    def timeline(self) -> FileTimeline:
        return build_timeline([self.records])

    def plan(self, checkpoint: str | None = None) -> RevertPlan:
        """What a revert to a checkpoint would do now, after a look at what a person changed."""
        self.take("human")
        captures = self.timeline.since(checkpoint)
        return make_plan(str(self.root), self.store, captures)

    def revert(
        self, plan: RevertPlan, choice: Choice | None = None, cause: ChangeCause = "revert"
    ) -> WorkspaceRecord:
        """Do what is chosen (by default what is ticked), and write it to the log."""
        actions = choose(plan, plan.default if choice is None else choice)
        restore = Restore(str(self.root), self.store)
        operation = f"o{len(self.records)}"
        changes = restore.run(actions, operation, {"operation": operation, "cause": cause})
        record = self.log(record_of_revert(restore, changes, cause, operation, plan.of))
        restore.finish()
        self.capture.take()
        self.capture.settle()
        return record

    def take_back(self, record: WorkspaceRecord, cause: ChangeCause = "undo") -> WorkspaceRecord:
        """Undo one record: a revert, or a tool call."""
        return self.revert(self.plan_back(record), cause=cause)

    def plan_back(self, record: WorkspaceRecord) -> RevertPlan:
        """What undoing one record would do."""
        causes = frozenset({record.cause})
        return make_plan(str(self.root), self.store, [record], own_causes=causes)


def _record(cause: ChangeCause, found: WorkspaceDelta, call: str) -> WorkspaceRecord:
    return WorkspaceRecord(
        cause,
        found.delta,
        status=found.status,
        call=call,
        why=found.why,
        files=found.files,
        left_out=found.left_out,
        head=found.head,
        folders=found.folders,
    )


def record_of_call(found: WorkspaceDelta) -> WorkspaceRecord:
    """The record of a capture after a tool call."""
    return _record("tool_call", found, "")


def record_of_revert(
    restore: Restore,
    changes: tuple[FileChange, ...],
    cause: ChangeCause = "undo",
    operation: str = "o",
    of: tuple[str, ...] = (),
) -> WorkspaceRecord:
    """The record of a revert that was just made."""
    return WorkspaceRecord(cause, changes, operation=operation, of=of, folders=restore.folders)


def by_path(delta: Iterable[FileChange]) -> dict[str, FileChange]:
    """The changes of a capture, by their paths."""
    return {change.path: change for change in delta}
