"""What a revert of files would do, path by path, before anything is done.

The changes of the agent are taken out of what stands in a file now, newest first; what others
changed in between stays. Where that is not possible without loss, it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent_tui.core.file_changes import REVERT_CAUSES, FileState, FolderIdentity, LeftOut
from agent_tui.core.records import WorkspaceRecord
from agent_tui.core.revert_plan import (
    Choice,
    Hunk,
    PathPlan,
    PlanStatus,
    RevertPlan,
    Version,
)
from agent_tui.workspace.births import identity_of
from agent_tui.workspace.errors import ContentMissing
from agent_tui.workspace.folders import open_parent, open_root
from agent_tui.workspace.limits import DEFAULT_LIMITS
from agent_tui.workspace.merge import apply_hunks, is_text, make_hunks, merge_contents
from agent_tui.workspace.reading import Reading, digest_of, read_entry
from agent_tui.workspace.scanning import new_folders_around
from agent_tui.workspace.store import ContentStore
from agent_tui.workspace.timeline import Step, steps_by_path


@dataclass(frozen=True, slots=True)
class Action:
    """One path that is to be changed: how it must be before, and what it becomes."""

    path: str
    expected: FileState | None
    target: FileState | None
    content: bytes = b""
    folders: tuple[FolderIdentity, ...] = ()


def choose(plan: RevertPlan, choice: Choice) -> list[Action]:
    """What is to be done for a choice; of a path's two entries the wider one counts."""
    actions: dict[str, Action] = {}
    for each in plan.paths:
        chosen = choice.get(each.key)
        if not chosen or not each.possible:
            continue
        then = _chosen(each, chosen)
        if then.state is None and each.now.state is None:
            continue
        if then.state is not None and then.state.same_as(each.now.state):
            continue
        if each.path in actions and each.own:
            continue
        actions[each.path] = Action(
            each.path, each.now.state, then.state, then.content, each.folders
        )
    return sorted(actions.values(), key=lambda action: action.path)


def _chosen(plan: PathPlan, chosen: frozenset[int]) -> Version:
    if not plan.hunks or 0 in chosen or chosen >= {hunk.id for hunk in plan.hunks}:
        return plan.then
    content = apply_hunks(plan.now.content, plan.hunks, chosen)
    now = plan.now.state or plan.then.state
    assert now is not None
    return Version(replace(now, hash=digest_of(content), size=len(content)), content)


def make_plan(
    root: str,
    store: ContentStore,
    captures: Sequence[WorkspaceRecord],
    *,
    own_causes: frozenset[str] = frozenset({"tool_call"}),
    notices: tuple[str, ...] = (),
    conversation_only: bool = False,
) -> RevertPlan:
    """Work out what reverting captures would do to the files as they are now.

    ``captures`` come oldest first: all that happened since a checkpoint, or only some of it.
    ``own_causes`` says whose changes are ticked at first.
    """
    with open_root(root) as folder:
        own_folders = _same_folders(folder, _folders_made(captures, own_causes | REVERT_CAUSES))
        all_folders = _same_folders(folder, _folders_made(captures, _MAKERS))
        planner = _Planner(store, own_causes, own_folders, all_folders)
        for path, steps in sorted(steps_by_path(captures).items()):
            planner.plan(folder, path, steps)
    whys = (each.why.rstrip(".") for each in captures if each.status == "none")
    gaps = [why or "the reason was not recorded" for why in whys]
    if gaps:
        notices = (*notices, f"Some changes were not captured: {'; '.join(dict.fromkeys(gaps))}")
    left = {(e.path, e.why): e for c in captures for e in c.left_out} | planner.uncovered
    return RevertPlan(
        tuple(sorted(planner.paths, key=lambda each: (not each.own, each.path))),
        tuple(left.values()),
        notices,
        conversation_only,
        tuple(capture.stamp.uuid for capture in captures if capture.stamp.uuid),
    )


_MAKERS = REVERT_CAUSES | {"tool_call", "shell"}
"""Whose files and folders may be removed."""


@dataclass(slots=True)
class _Planner:
    store: ContentStore
    own_causes: frozenset[str]
    own_folders: Mapping[str, FolderIdentity]
    all_folders: Mapping[str, FolderIdentity]
    paths: list[PathPlan] = field(default_factory=list)
    uncovered: dict[tuple[str, str], LeftOut] = field(default_factory=dict)

    def plan(self, folder: int, path: str, steps: list[Step]) -> None:
        now = _version(read_entry(folder, path, DEFAULT_LIMITS.target_bytes))
        if now is None:
            self._leave_out(path, "it cannot be read now")
            return
        if _same(now.state, steps[0].change.old):
            return
        own = [step for step in steps if step.capture.cause in self.own_causes]
        if own:
            # What took the agent's changes back belongs to them: together they are what is left.
            chosen = self.own_causes | REVERT_CAUSES
            own = [step for step in steps if step.capture.cause in chosen]
            self._add(path, now, own, own=True)
        if len(own) < len(steps):
            self._add(path, now, steps, own=False)

    def _add(self, path: str, now: Version, steps: list[Step], *, own: bool) -> None:
        try:
            undoing = _Undoing(self.store, now)
            for step in reversed(_joined(steps, self.own_causes | REVERT_CAUSES)):
                undoing.undo(step.change.old, step.change.new, created_by=step)
        except ContentMissing as error:
            self._leave_out(path, str(error))
            return
        plan = undoing.plan(path, own)
        if plan.status != "same":
            made = self.own_folders if own else self.all_folders
            folders = tuple(made[each] for each in new_folders_around(path, made))
            self.paths.append(replace(plan, folders=folders))

    def _leave_out(self, path: str, why: str) -> None:
        self.uncovered[path, why] = LeftOut(path, why)


def _folders_made(
    captures: Iterable[WorkspaceRecord], causes: frozenset[str]
) -> dict[str, FolderIdentity]:
    """The folders that were made for one of these causes, and for no other since; and which."""
    made: dict[str, FolderIdentity] = {}
    for capture in captures:
        if capture.cause in causes:
            made |= capture.folders
        else:
            made = {path: it for path, it in made.items() if path not in capture.folders}
    return made


def _same_folders(root: int, made: Mapping[str, FolderIdentity]) -> dict[str, FolderIdentity]:
    """Those that are still the folders that were made; one that came later is the person's."""
    same = {}
    for path, identity in made.items():
        with suppress(OSError), open_parent(root, path) as (folder, name):
            if identity[1] and identity_of(name, folder) == identity:
                same[path] = identity
    return same


def _joined(steps: Iterable[Step], own: frozenset[str]) -> list[Step]:
    """Changes that follow each other without a gap are one change."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        follows = (
            last is not None
            and (last.capture.cause in own) == (step.capture.cause in own)
            and _same(last.change.new, step.change.old)
        )
        if last is not None and follows:
            change = replace(last.change, new=step.change.new)
            joined[-1] = replace(last, change=change)  # who created it counts, not who came last
        else:
            joined.append(step)
    return [step for step in joined if not _same(step.change.old, step.change.new)]


def _same(one: FileState | None, other: FileState | None) -> bool:
    return one is other if one is None or other is None else one.same_as(other)


class _Undoing:
    """Takes changes out of a path, newest first, and remembers what stood in the way."""

    def __init__(self, store: ContentStore, now: Version) -> None:
        self._store = store
        self._now = now
        self._mine = now
        self._theirs = now
        self._status: PlanStatus = "clean"
        self._why = ""

    def undo(self, old: FileState | None, new: FileState | None, *, created_by: Step) -> None:
        """Take one change out of both versions: of ours, and of one that overrides others."""
        if old is not None and not old.hash:
            raise ContentMissing("its earlier content was not kept")
        if old is None and not _may_delete(created_by):
            self._stop("conflict", "it was not created by the agent, so it is not deleted")
            return
        before = Version(old, self._store.get(old.hash) if old else b"")
        self._mine = self._undo_in(self._mine, before, new, override=False)
        self._theirs = self._undo_in(self._theirs, before, new, override=True)

    def _undo_in(
        self, at: Version, old: Version, new: FileState | None, *, override: bool
    ) -> Version:
        if _same(at.state, new):
            return old
        if _same(at.state, old.state):
            return at
        if at.state is None:
            if old.state is None:
                return at
            self._stop("deleted", "it was deleted since")
        elif new is None or old.state is None:
            why = "it was created again since" if new is None else "it was changed since"
            self._stop("conflict", why)
        elif not (at.state.kind == new.kind == old.state.kind == "file"):
            self._stop("type", "it is another kind of file now")
        else:
            return self._merge(at, old, new, override)
        return old if override else at

    def _merge(self, at: Version, old: Version, new: FileState, override: bool) -> Version:
        assert at.state is not None
        assert old.state is not None
        base = self._store.get(new.hash) if new.hash else b""
        mode = at.state.mode
        if old.state.mode != new.mode and (mode == new.mode or override):
            mode = old.state.mode
        if not new.hash or not is_text(base, at.content, old.content):
            if at.state.hash == new.hash:
                return Version(replace(old.state, mode=mode), old.content)
            self._stop("binary", "it was changed since, and it is not text")
            return old if override else at
        merged = merge_contents(base, at.content, old.content)
        content = merged.theirs if override else merged.ours
        if merged.conflict:
            self._stop("conflict", "the same lines were changed since")
        elif self._status == "clean" and at.content != base:
            self._status = "merged"
        secret = at.state.secret
        return Version(FileState("file", mode, digest_of(content), len(content), secret), content)

    def _stop(self, status: PlanStatus, why: str) -> None:
        if self._status in ("clean", "merged"):
            self._status, self._why = status, why

    def plan(self, path: str, own: bool) -> PathPlan:
        now, then = self._now, self._theirs
        if _same(now.state, then.state) or (now.state is None and then.state is None):
            return PathPlan(path, own, "same", now, then)
        hunks: tuple[Hunk, ...] = ()
        if _is_file(now) and _is_file(then) and is_text(now.content, then.content):
            hunks = make_hunks(now.content, then.content, self._mine.content)
        return PathPlan(path, own, self._status, now, then, hunks, self._why)


def _is_file(version: Version) -> bool:
    return version.state is not None and version.state.kind == "file"


def _may_delete(step: Step) -> bool:
    """Only what the agent, a command or a revert created is ever deleted."""
    return step.capture.cause in _MAKERS


def _version(reading: Reading) -> Version | None:
    if reading.state is None:
        return Version(None)
    if reading.content is None:
        return Version(reading.state) if reading.state.kind == "other" else None
    return Version(reading.state, reading.content)
