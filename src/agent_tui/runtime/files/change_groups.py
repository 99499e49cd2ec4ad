"""What changed on disk, capture by capture, with the words that say where in the session it was."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from agent_tui.core.arguments import show_arguments
from agent_tui.core.changes import WHO, ChangeGroup, FileDiff, net_changes, place_of
from agent_tui.core.file_changes import REVERT_CAUSES, FileState, LeftOut
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import WorkspaceRecord
from agent_tui.core.text import first_line
from agent_tui.workspace.capture import count_lines
from agent_tui.workspace.diffs import describe_capture
from agent_tui.workspace.errors import ContentMissing
from agent_tui.workspace.store import ContentStore
from agent_tui.workspace.timeline import FileTimeline

_LONGEST_COMMAND = 200

Captures = Mapping[str, WorkspaceRecord]


def describe_changes(
    store: ContentStore,
    timeline: FileTimeline,
    since: Iterable[WorkspaceRecord],
    calls: Mapping[str, ToolCall],
) -> list[ChangeGroup]:
    """Every capture of ``since`` that found or left out something, or could not be made. Blocks.

    ``calls`` are the session's tool calls by their ids.
    """
    captures = {each.stamp.uuid: each for each in timeline.captures if each.stamp.uuid}
    after = dict(_turns_before(timeline.captures))
    tools = {call.id: call.name for call in calls.values()}
    left_out = dict(_newly_left_out(timeline.captures))
    return [
        replace(
            describe_capture(store, capture, tools),
            after_turn=after[id(capture)],
            about=_about(capture, captures, calls),
            left_out=left_out[id(capture)],
        )
        for capture in since
        if capture.delta or capture.status == "none" or left_out[id(capture)]
    ]


def calls_told(timeline: FileTimeline, since: Iterable[WorkspaceRecord]) -> set[str]:
    """The ids of the tool calls that made these changes, or those that they reverted."""
    captures = {each.stamp.uuid: each for each in timeline.captures if each.stamp.uuid}
    told = [capture for capture in since if capture.delta or capture.status == "none"]
    told += [captures[each] for capture in told for each in capture.of if each in captures]
    return {each.call for each in told if each.cause == "tool_call"}


def count_net_changes(store: ContentStore, timeline: FileTimeline) -> tuple[FileDiff, ...]:
    """The files that are not what they were; lines are counted from first to last. Blocks."""

    def count(old: FileState | None, new: FileState | None) -> tuple[int, int] | None:
        with suppress(ContentMissing):
            before, after = (store.get(each.hash) if each else b"" for each in (old, new))
            return count_lines(before, after)
        return None

    return net_changes((c for each in timeline.captures for c in each.delta), count)


def _turns_before(captures: Iterable[WorkspaceRecord]) -> Iterator[tuple[int, int]]:
    """For each capture, the newest turn until then; 0 before the first."""
    newest = 0
    for capture in captures:
        newest = max(newest, capture.turn or 0)
        yield id(capture), newest


def _newly_left_out(
    captures: Iterable[WorkspaceRecord],
) -> Iterator[tuple[int, tuple[LeftOut, ...]]]:
    """For each capture, what it left out that the one before it did not."""
    before: Collection[LeftOut] = ()
    for capture in captures:
        yield id(capture), tuple(each for each in capture.left_out if each not in before)
        if capture.status == "captured":
            before = frozenset(capture.left_out)


def _about(capture: WorkspaceRecord, captures: Captures, calls: Mapping[str, ToolCall]) -> str:
    if capture.cause in REVERT_CAUSES:
        return _reverted(capture, captures, calls)
    call = calls.get(capture.call)
    command = show_arguments(call.arguments).get("command", "") if call else ""
    return first_line(command, _LONGEST_COMMAND)


def _reverted(capture: WorkspaceRecord, captures: Captures, calls: Mapping[str, ToolCall]) -> str:
    """Which changes a revert undid; empty where that is not known."""
    seen: set[str] = set()
    of = capture.of
    while len(of) == 1 and of[0] in captures and of[0] not in seen:
        seen.add(of[0])
        only = captures[of[0]]
        if only.cause not in REVERT_CAUSES:
            break
        of = only.of
    reverted = [captures[each] for each in of if each in captures and captures[each].delta]
    turns = {each.turn for each in reverted if each.turn}
    if len(reverted) == 1:
        (only,) = reverted
        call = calls.get(only.call)
        who = call.name if call else WHO[only.cause]
        return f"{who}, {place_of(only.turn, only.step)}" if only.turn else who
    if len(turns) == 1:
        return place_of(*turns)
    return f"changes since {place_of(min(turns))}" if turns else ""
