"""File changes as unified diffs, from the contents in the store."""

from __future__ import annotations

from collections.abc import Iterator

from agent_tui.core.changes import ChangeGroup, FileDiff, kind_of
from agent_tui.core.file_changes import FileChange, FileState
from agent_tui.core.records import WorkspaceRecord
from agent_tui.core.text import reveal
from agent_tui.workspace.errors import ContentMissing
from agent_tui.workspace.merge import diff_lines, is_text, split_lines
from agent_tui.workspace.store import ContentStore

_CONTEXT = 3


def describe_capture(
    store: ContentStore, capture: WorkspaceRecord, tools: dict[str, str]
) -> ChangeGroup:
    """What a capture found, path by path; ``tools`` names the tool of each call."""
    return ChangeGroup(
        capture.stamp.uuid or "",
        capture.cause,
        tuple(_diff(store, change) for change in capture.delta),
        capture.checkpoint,
        capture.turn,
        capture.step,
        capture.call,
        tools.get(capture.call, ""),
        capture.stamp.at or "",
        capture.why if capture.status == "none" else "",
    )


def _diff(store: ContentStore, change: FileChange) -> FileDiff:
    kind = kind_of(change.old, change.new)
    state = change.new or change.old
    secret = state is not None and state.secret
    text, note = "", ""
    try:
        before, after = _content(store, change.old), _content(store, change.new)
        if kind == "mode" and change.old is not None and change.new is not None:
            note = f"mode {change.old.mode:o} → {change.new.mode:o}"
        elif is_text(before, after):
            text = unified(change.path, before, after)
        else:
            note = "not text, or too long to show"
    except ContentMissing as error:
        note = str(error)
    return FileDiff(change.path, kind, change.added, change.removed, text, note, secret)


def _content(store: ContentStore, state: FileState | None) -> bytes:
    return b"" if state is None else store.get(state.hash)


def unified(path: str, before: bytes, after: bytes) -> str:
    """A unified diff of two contents, invisible characters made visible."""
    old, new = split_lines(before), split_lines(after)
    lines = [f"--- {'a/' + path if before else '/dev/null'}"]
    lines.append(f"+++ {'b/' + path if after else '/dev/null'}")
    for group in group_changes(diff_lines(old, new)):
        lines += _hunk(group, old, new)
    return "\n".join(reveal(line) for line in lines)


_Change = tuple[int, int, int, int]


def group_changes(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Changes that share their context stand in one hunk."""
    group: list[_Change] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(group: list[_Change], old: list[bytes], new: list[bytes]) -> Iterator[str]:
    first, last = group[0], group[-1]
    before = min(_CONTEXT, first[0])
    after = min(_CONTEXT, len(old) - last[1])
    i1, i2 = first[0] - before, last[1] + after
    j1, j2 = first[2] - before, last[3] + after
    yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@"
    at = i1
    for start, stop, new_start, new_stop in group:
        yield from _marked(" ", old[at:start])
        yield from _marked("-", old[start:stop])
        yield from _marked("+", new[new_start:new_stop])
        at = stop
    yield from _marked(" ", old[at:i2])


def _range(start: int, stop: int) -> str:
    length = stop - start
    return str(start + 1) if length == 1 else f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: list[bytes]) -> Iterator[str]:
    for line in lines:
        yield mark + line.decode(errors="replace").removesuffix("\n").removesuffix("\r")
        if not line.endswith(b"\n"):
            yield "\\ No newline at end of file"
