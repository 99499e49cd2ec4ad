"""Where a Claude Code session was really rewound: nearly every fork of its entries is none.

Side chains, results of parallel calls, the lines of one answer and the replay of a compaction all
hang beside each other. A rewind is two prompts of a person that answer the same message at
different times; what hangs off the one that does not lead to the present was left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Any

from agent_tui.importers import fields

Entry = dict[str, Any]

_NO_ROOT = -1
_NOT_TYPED = (
    "<local-command-",
    "<command-",
    "<bash-",
    "<ide_",
    "<task-notification>",
    "<system-reminder>",
    "[Request interrupted by user",
    "Caveat: The messages below",
    "This session is being continued",
)


def typed_text(entry: Entry) -> str:
    """The prompt that a person typed in an entry; empty where it is something else."""
    if entry.get("type") != "user" or entry.get("isMeta") is True:
        return ""
    if entry.get("isCompactSummary") is True:
        return ""
    if fields.text(entry.get("origin"), "kind") not in ("", "cli", "user", "human"):
        return ""
    content = fields.table(entry, "message").get("content")
    if isinstance(content, list) and any(
        fields.text(part, "type") == "tool_result" for part in content
    ):
        return ""
    blocks = content if isinstance(content, list) else [content]
    said = [fields.text_of_parts(block) for block in blocks]
    return "".join(text for text in said if not text.lstrip().startswith(_NOT_TYPED))


def is_side(entry: Entry) -> bool:
    """Whether an entry belongs to a subagent."""
    return entry.get("isSidechain") is True


def find_left(entries: Sequence[Entry]) -> dict[int, int]:
    """The entries on branches that were left by a rewind: each with the prompt it begins with."""
    parents = _parents(entries)
    siblings: dict[tuple[object, str], list[int]] = defaultdict(list)
    for index, entry in enumerate(entries):
        if "parentUuid" in entry and not is_side(entry) and typed_text(entry):
            anchor = _anchor(index, entries, parents)
            siblings[anchor, fields.text(entry, "sessionId")].append(index)
    groups = [group for group in siblings.values() if _differ_in_time(group, entries)]
    if not groups:
        return {}
    leaf_path = _path_to(find_leaf(entries), parents)
    roots: set[int] = set()
    for group in groups:
        live = next((index for index in reversed(group) if index in leaf_path), group[-1])
        roots |= {index for index in group if index != live and index not in leaf_path}
    return _below(roots, len(entries), parents)


def _below(roots: Set[int], count: int, parents: Mapping[int, int]) -> dict[int, int]:
    """What hangs off some entries: each with the nearest of them."""
    nearest: dict[int, int] = {root: root for root in roots}
    for index in range(count):
        way: list[int] = []
        step: int | None = index
        while step is not None and step not in nearest:
            way.append(step)
            step = parents.get(step)
            if len(way) > count:
                break  # a cycle
        root = nearest.get(step, _NO_ROOT) if step is not None else _NO_ROOT
        nearest |= dict.fromkeys(way, root)
    return {index: root for index, root in nearest.items() if root != _NO_ROOT}


def branch_path(root: int, left: Mapping[int, int], entries: Sequence[Entry]) -> list[int]:
    """The entries of a branch that was left, from the first one of the session to its end."""
    parents, around = _parents(entries), {root}
    for step in _path_to(root, parents):
        around.add(left.get(step, root))
    return [
        index
        for index in range(len(entries))
        if left.get(index) == root
        or (index < root and (index not in left or left[index] in around))
    ]


def find_leaf(entries: Sequence[Entry]) -> int:
    """The entry that the present ends at: what the last prompt tells, else the last message."""
    places = {fields.text(e, "uuid"): i for i, e in enumerate(entries) if fields.text(e, "uuid")}
    told, told_at = -1, -1
    last = -1
    for index, entry in enumerate(entries):
        kind = entry.get("type")
        if kind == "last-prompt":
            told = places.get(fields.text(entry, "leafUuid"), told)
            told_at = index
        elif kind in ("user", "assistant") and not is_side(entry):
            last = index
    # What was said after that line is newer than what it tells.
    return told if told >= 0 and told_at > last else last


def _parents(entries: Sequence[Entry]) -> Mapping[int, int]:
    """What each entry hangs off, where that is in the file."""
    places: dict[str, int] = {}
    for index, entry in enumerate(entries):
        places.setdefault(fields.text(entry, "uuid"), index)
    found: dict[int, int] = {}
    for index, entry in enumerate(entries):
        parent = fields.text(entry, "logicalParentUuid") or fields.text(entry, "parentUuid")
        if parent in places and places[parent] != index:
            found[index] = places[parent]
    return found


def _anchor(index: int, entries: Sequence[Entry], parents: Mapping[int, int]) -> object:
    """The message that a prompt answers: notes and attachments on the way do not count."""
    seen = {index}
    while True:
        parent = parents.get(index)
        if parent is None:
            return fields.text(entries[index], "parentUuid") or None
        entry = entries[parent]
        is_message = (
            fields.text(entry, "type") in ("user", "assistant") and entry.get("isMeta") is not True
        )
        if is_message or entry.get("subtype") == "compact_boundary" or parent in seen:
            return parent
        seen.add(parent)
        index = parent


def _differ_in_time(group: Sequence[int], entries: Sequence[Entry]) -> bool:
    return len({fields.text(entries[index], "timestamp") for index in group}) > 1


def _path_to(index: int, parents: Mapping[int, int]) -> set[int]:
    path = set[int]()
    step: int | None = index if index >= 0 else None
    while step is not None and step not in path:
        path.add(step)
        step = parents.get(step)
    return path
