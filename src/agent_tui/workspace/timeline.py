"""The captures of a session in the order of time: a pure fold of its records.

Files do not move along with the conversation. So the captures of the live log, of its archives and
of what it was forked from make one line, linked by ``base``, whatever branch each was written on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import AGENT_CAUSES, FileChange
from agent_tui.core.records import Checkpoint, WorkspaceRecord

Marks: TypeAlias = Sequence[Checkpoint | WorkspaceRecord]
"""The checkpoints and captures of one log, in its order."""

_ACTED = ("tool_call", "shell", "revert", "undo", "redo")


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one path, with the capture that found it."""

    change: FileChange
    capture: WorkspaceRecord

    @property
    def own(self) -> bool:
        """Whether the agent made it."""
        return self.capture.cause in AGENT_CAUSES


@dataclass(frozen=True, slots=True)
class FileTimeline:
    """Every capture of a session, oldest first, and where its checkpoints stand among them."""

    captures: tuple[WorkspaceRecord, ...] = ()
    places: dict[str, int] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)

    @property
    def tip(self) -> str | None:
        """The id of the newest capture."""
        return self.captures[-1].stamp.uuid if self.captures else None

    def since(self, checkpoint: int | str | None) -> tuple[WorkspaceRecord, ...]:
        """What was captured after the files were as at a checkpoint (its number, or its id).

        None means: since the first capture. A number means the checkpoint of the live log.

        Raises:
            KeyError: there is no such checkpoint.
        """
        if checkpoint is None:
            return self.captures
        uuid = self.ids[checkpoint] if isinstance(checkpoint, int) else checkpoint
        return self.captures[self.places[uuid] :]

    def of_operation(self, operation: str) -> tuple[WorkspaceRecord, ...]:
        """The captures that one revert of files wrote."""
        return tuple(each for each in self.captures if operation and each.operation == operation)


def steps_by_path(captures: Iterable[WorkspaceRecord]) -> dict[str, list[Step]]:
    """Every change of every path, oldest first."""
    steps: dict[str, list[Step]] = {}
    for capture in captures:
        for change in capture.delta:
            steps.setdefault(change.path, []).append(Step(change, capture))
    return steps


def build_timeline(logs: Sequence[Marks]) -> FileTimeline:
    """Put the captures of several logs in order; the last of them is the live one."""
    captures = _in_order({_key(r): r for log in logs for r in log if _is_capture(r)})
    order = {_key(capture): place for place, capture in enumerate(captures)}
    places: dict[str, int] = {}
    earliest: dict[str, int] = {}
    archived = 0
    for log in logs:
        for uuid, place in _places(log, order).items():
            # What an archive holds was captured before the checkpoints that came after it.
            place = max(place, earliest.setdefault(uuid, archived))
            places[uuid] = place  # the live log comes last, and knows best
        archived = max([archived, *(order[_key(r)] + 1 for r in log if _is_capture(r))])
    ids = {
        record.id: record.stamp.uuid
        for record in (logs[-1] if logs else ())
        if isinstance(record, Checkpoint) and record.stamp.uuid
    }
    return FileTimeline(tuple(captures), places, ids)


def _is_capture(record: Checkpoint | WorkspaceRecord) -> bool:
    return isinstance(record, WorkspaceRecord)


def _key(record: Checkpoint | WorkspaceRecord) -> str:
    return record.stamp.uuid or f"at {id(record)}"


def _in_order(records: dict[str, Checkpoint | WorkspaceRecord]) -> list[WorkspaceRecord]:
    """By the length of the line that leads to each; a line that runs in a circle is cut."""
    depths: dict[str, int] = {}
    for key in records:
        path: list[str] = []
        walked: set[str] = set()
        at: str | None = key
        while at is not None and at in records and at not in depths and at not in walked:
            path.append(at)
            walked.add(at)
            record = records[at]
            at = record.base if isinstance(record, WorkspaceRecord) else None
        depth = depths.get(at or "", -1)
        for step in reversed(path):
            depth += 1
            depths[step] = depth
    found = [record for record in records.values() if isinstance(record, WorkspaceRecord)]
    return sorted(found, key=lambda record: depths[_key(record)])


def _places(log: Marks, order: dict[str, int]) -> dict[str, int]:
    """For each checkpoint of a log, the first capture that counts as later."""
    checkpoints = [r.stamp.uuid or "" for r in log if isinstance(r, Checkpoint)]
    ranks = {uuid: rank for rank, uuid in enumerate(checkpoints) if uuid}
    acted: dict[int, int] = {}
    last: dict[int, int] = {}
    rank = -1
    for record in log:
        if isinstance(record, Checkpoint):
            rank += 1
            continue
        if record.checkpoint_uuid and record.checkpoint_uuid not in ranks:
            continue  # its checkpoint is in an archive
        at = ranks[record.checkpoint_uuid] if record.checkpoint_uuid else rank
        place = order[_key(record)]
        last[at] = max(place, last.get(at, -1))
        if record.cause in _ACTED:
            acted[at] = min(place, acted.get(at, place))
    places: dict[str, int] = {}
    later: int | None = None
    for at in range(len(checkpoints) - 1, -1, -1):
        later = acted.get(at, later)
        if later is not None:
            places[checkpoints[at]] = later
    before = max((place for place in last.values()), default=-1)
    for uuid in checkpoints:
        places.setdefault(uuid, before + 1)
    return places
