"""Laws of the tree: nothing that ever was is lost, and what two logs share is one path."""

from __future__ import annotations

import random
from pathlib import Path

from agent_tui.core.records import (
    Checkpoint,
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    Record,
    UserMessage,
)
from agent_tui.history.tree.logs import Source, session_sources
from agent_tui.history.tree.record_links import ROOT, Tree, build_tree
from agent_tui.sessions.replay import Entry, read_log
from agent_tui.sessions.store import Durability, SessionLog, SessionStore
from tests.sessions.conftest import fork_at

D1 = Durability.D1


async def talk(log: SessionLog, *prompts: str) -> None:
    for prompt in prompts:
        number = log.state.next_checkpoint_id
        await log.append(Checkpoint(number), UserMessage(prompt), durability=D1)


def leaves(tree: Tree) -> list[int]:
    return [place for place in range(len(tree)) if not tree.children(place)]


def branch_points(tree: Tree) -> list[int]:
    return [place for place in range(ROOT, len(tree)) if len(tree.children(place)) > 1]


def places_of(tree: Tree, uuid: str | None) -> list[int]:
    return [place for place in range(len(tree)) if tree.uuid(place) == uuid]


def prompts(tree: Tree, place: int) -> list[object]:
    items = tree.read(tree.path_to(place))
    return [
        item.record.content
        for item in items
        if isinstance(item, Entry) and isinstance(item.record, UserMessage)
    ]


def all_leaves(tree: Tree) -> list[list[object]]:
    return [prompts(tree, leaf) for leaf in leaves(tree)]


def grow(*folders: Path) -> Tree:
    return build_tree([source for folder in folders for source in session_sources(folder)])


async def test_a_revert_keeps_the_old_future_as_a_branch(log: SessionLog) -> None:
    await talk(log, "a", "b", "c")
    await log.revert(1)
    await talk(log, "d")
    tree = grow(log.folder)
    assert all_leaves(tree) == [["a", "b", "c"], ["a", "d"]]
    [point] = branch_points(tree)
    assert [tree.role(child) for child in tree.children(point)] == ["_checkpoint", "_revert"]
    assert [tree.act(child) for child in tree.children(point)] == ["", "user"]
    assert prompts(tree, tree.leaves_of[-1]) == ["a", "d"]
    assert [tree.source_of(leaf).archive for leaf in leaves(tree)] == [1, 0]


async def test_a_clear_and_a_restore_are_branches_too(log: SessionLog) -> None:
    await talk(log, "a", "b")
    await log.clear()
    await talk(log, "c")
    await log.restore(1, "undo")
    await talk(log, "d")
    tree = grow(log.folder)
    assert all_leaves(tree) == [["c"], ["a", "b", "d"]]
    assert sorted(tree.act(place) for place in range(len(tree)) if tree.act(place)) == [
        "clear",
        "undo",
    ]


async def test_what_a_compaction_kept_occurs_in_both_contexts(log: SessionLog) -> None:
    await talk(log, "a", "b")
    kept = log.state.messages[-1]
    head = log.state.entries[0]

    def build(number: int) -> list[Record | Entry]:
        return [
            head,
            CompactionRecord("manual", "last", 9, 3, number),
            UserMessage("summary", "compaction"),
            kept,
        ]

    await log.compact(await log.mark(), build)
    tree = grow(log.folder)
    assert all_leaves(tree) == [["a", "b"], ["summary", "b"]]
    assert kept.record.stamp.uuid
    assert len(places_of(tree, kept.record.stamp.uuid)) == 2


async def test_a_head_opens_a_branch_inside_the_file(log: SessionLog) -> None:
    await talk(log, "a", "b")
    target = log.state.messages[0].record.stamp.uuid
    assert target
    await log.append(HeadRecord(target), durability=D1)
    await talk(log, "c")
    tree = grow(log.folder)
    assert all_leaves(tree) == [["a", "b"], ["a", "c"]]
    assert [tree.uuid(place) for place in branch_points(tree)] == [target]


async def test_labels_survive_and_can_be_taken_away(log: SessionLog) -> None:
    await talk(log, "a", "b")
    first, second = (m.record.stamp.uuid or "" for m in log.state.messages)
    await log.append(
        LabelRecord(first, "start"),
        LabelRecord(second, "gone"),
        LabelRecord(second, ""),
        durability=D1,
    )
    await log.revert(0)
    tree = grow(log.folder)
    assert tree.labels == {first: "start"}
    assert [tree.label(place) for place in places_of(tree, first)] == ["start"]


async def test_a_fork_joins_where_it_left(store: SessionStore, log: SessionLog) -> None:
    await talk(log, "a", "b")
    fork = await fork_at(store, log, log.state.messages[0], "s2")
    await talk(fork, "c")
    await talk(log, "d")
    assert store.related_sessions("s1") == [log.folder, fork.folder]
    tree = grow(*store.related_sessions("s1"))
    assert all_leaves(tree) == [["a", "b", "d"], ["a", "c"]]
    assert [tree.source_of(leaf).session_id for leaf in leaves(tree)] == ["s1", "s2"]
    await fork.close()


def test_plain_logs_join_along_what_they_have_in_common(tmp_path: Path) -> None:
    def line(text: str) -> str:
        return f'{{"role": "user", "content": "{text}"}}\n'

    old, new = tmp_path / "context_1.jsonl", tmp_path / "context.jsonl"
    old.write_text(line("a") + line("b") + line("c") + "damage\n")
    new.write_text(line("a") + "\0" + line("b") + line("d") + line("c"))
    tree = build_tree([Source("k", old, 1), Source("k", new)])
    assert all_leaves(tree) == [["a", "b", "c"], ["a", "b", "d", "c"]]
    assert tree.uuid(0) == "@0:0"
    assert (tree.parent(0), tree.children(ROOT)) == (ROOT, [0])


async def test_the_leaf_of_every_source_has_that_logs_own_path(log: SessionLog) -> None:
    chance = random.Random(3)
    for step in range(60):
        act = chance.random()
        if act < 0.6 or not log.state.checkpoints:
            await talk(log, f"m{step}")
        elif act < 0.75:
            await log.revert(chance.choice(list(log.state.checkpoints)))
        elif act < 0.9:
            uuid = chance.choice(log.state.all_entries).record.stamp.uuid
            assert uuid
            await log.append(HeadRecord(uuid), durability=D1)
        elif log.archives():
            await log.restore(chance.choice(log.archives()).number)
    tree = grow(log.folder)
    assert len(tree.sources) > 5
    for source, leaf in zip(tree.sources, tree.leaves_of, strict=True):
        state = read_log(source.path)
        assert [tree.uuid(place) for place in tree.path_to(leaf)] == [
            entry.record.stamp.uuid for entry in state.entries
        ]
        items = tree.read(tree.path_to(leaf))
        assert [item.record for item in items if isinstance(item, Entry)] == [
            entry.record for entry in state.entries
        ]
