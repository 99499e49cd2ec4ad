"""Logs that are too big to be held: their tree and their moments are those of any other log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from agent_tui.core.errors import SessionError
from agent_tui.core.messages import ToolCall
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    AssistantMessage,
    Record,
    SessionHeader,
    Stamp,
    ToolMessage,
    UnknownRecord,
    UserMessage,
)
from agent_tui.core.tree import TreeRow
from agent_tui.history.opening import open_view
from agent_tui.history.records.indexed_records import IndexedRecords
from agent_tui.history.scrub import Scrub
from agent_tui.history.sources import file_source
from agent_tui.history.sources.file_source import open_source
from agent_tui.history.tree import session_tree
from agent_tui.history.tree.placed_records import PlacedRecords
from agent_tui.history.tree.record_links import Tree
from agent_tui.history.tree.session_tree import SessionTree
from tests.agent.stage import Reply, Stage
from tests.history.test_history_tree import ANSWERS, branch_at, say


@pytest.fixture
def everything_is_big(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_source, "BIG_BYTES", 1)
    monkeypatch.setattr(session_tree, "BIG_BYTES", 1)


def grow(path: Path) -> SessionTree:
    return open_source(path).build_tree(related=False)


def rows(tree: SessionTree) -> list[TreeRow]:
    outline = tree.outline("records")
    return [outline.row(index) for index in range(len(outline))]


async def live_a_life(stage: Stage) -> None:
    """Prompts, a revert, a branch inside the log, and a compaction."""
    await say(stage, *("long " * 400 + letter for letter in "abc"))
    await stage.operations.revert(stage.session.view.checkpoints()[2].id)
    await say(stage, *("long " * 400 + letter for letter in "dxy"), "e")
    await stage.operations.branch(await branch_at(stage, "e"))
    await say(stage, "long " * 400 + "f")
    await stage.operations.compact()
    await say(stage, "g")


def write(path: Path, records: Iterable[Record]) -> None:
    path.write_text("".join(f"{json.dumps(record_fields(record))}\n" for record in records))


@pytest.mark.usefixtures("everything_is_big")
async def test_a_big_log_has_the_tree_and_the_moments_that_a_small_one_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summaries = (Reply(text="## Current focus\nThe letters."),)
    async with Stage(tmp_path, *ANSWERS, compactions=summaries) as stage:
        await live_a_life(stage)
        path = stage.log
    assert isinstance(open_source(path).contents.records, IndexedRecords)
    big = grow(path)
    assert isinstance(big.paths.records_to(big.shape.leaf), PlacedRecords)
    monkeypatch.setattr(file_source, "BIG_BYTES", 1 << 30)
    monkeypatch.setattr(session_tree, "BIG_BYTES", 1 << 30)
    small = grow(path)
    assert not isinstance(small.paths.records_to(small.shape.leaf), PlacedRecords)
    assert rows(big) == rows(small)
    assert big.branch_count >= 2, "the branch inside the log and the revert"
    one, other = Scrub(big), Scrub(small)
    assert one.moments() == other.moments()
    for index in range(len(one)):
        seen, wanted = one.look(index), other.look(index)
        assert list(seen.messages) == list(wanted.messages)
        assert (seen.system_prompt, seen.at, seen.turn, seen.step, seen.tokens, seen.happened) == (
            wanted.system_prompt,
            wanted.at,
            wanted.turn,
            wanted.step,
            wanted.tokens,
            wanted.happened,
        )
    for row in rows(big):
        looks = [tree.contents_at(row) for tree in (big, small)]
        assert list(looks[0].records) == list(looks[1].records)
        assert looks[0].message_count == looks[1].message_count


async def test_the_tree_of_a_log_opened_by_path_shows_the_branches_inside_it(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.branch(await branch_at(stage, "b"))
        await say(stage, "c")
        own = await stage.session.view.tree()
        assert rows(grow(stage.log)) == rows(own)
        assert own.branch_count == 1


@pytest.mark.usefixtures("everything_is_big")
def test_a_look_reads_only_the_records_that_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "context.jsonl"
    records: list[Record] = [SessionHeader("s", "/w", "", "")]
    for number in range(2_000):
        records += [UserMessage(f"prompt {number}"), AssistantMessage(f"answer {number}")]
    write(path, records)
    scrub = Scrub(grow(path))
    read: list[int] = []
    read_before = Tree.read

    def count(tree: Tree, places: Iterable[int]) -> object:
        wanted = list(places)
        read.extend(wanted)
        return read_before(tree, wanted)

    monkeypatch.setattr(Tree, "read", count)
    look = scrub.look(len(scrub) - 1)
    assert len(look.messages) == 4_000
    assert look.messages[-1] == AssistantMessage("answer 1999")
    assert look.messages[1_000] == UserMessage("prompt 500")
    assert look.messages[10:12] == [UserMessage("prompt 5"), AssistantMessage("answer 5")]
    assert 0 < len(read) < 200


@pytest.mark.usefixtures("everything_is_big")
def test_the_last_answer_is_repaired_as_it_was_when_it_was_sent(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    calls = (ToolCall("1", "one", "{}"), ToolCall("2", "two", "not json"))
    records: list[Record] = [
        SessionHeader("s", "/w", "", ""),
        UserMessage("go"),
        AssistantMessage("", calls),
        ToolMessage("2", "of two"),
    ]
    write(path, [*records, UserMessage("on"), AssistantMessage("yes")])
    scrub = Scrub(grow(path))
    messages = scrub.look(1).messages
    assert [type(message) for message in messages] == [
        UserMessage,
        AssistantMessage,
        ToolMessage,
        ToolMessage,
        UserMessage,
    ]
    assert [m.tool_call_id for m in messages if isinstance(m, ToolMessage)] == ["1", "2"]
    assert isinstance(messages[2], ToolMessage)
    assert messages[2].interrupted


@pytest.mark.usefixtures("everything_is_big")
def test_a_log_that_was_replaced_meanwhile_shows_no_wrong_record(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    names = ("one", "two", "six")
    write(
        path,
        [
            SessionHeader("s", "/w", "", "", stamp=Stamp("h")),
            *(UserMessage(name, stamp=Stamp(name)) for name in names),
        ],
    )
    tree = grow(path)
    records = tree.paths.records_to(tree.shape.leaf)
    assert [r.content for r in records if isinstance(r, UserMessage)] == list(names)
    header, one, two, six = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, two, one, six]))
    shown = list(records)
    assert [type(r) for r in shown] == [SessionHeader, UnknownRecord, UnknownRecord, UserMessage]
    assert shown == [records[index] for index in range(4)]


@pytest.mark.usefixtures("everything_is_big")
async def test_branches_of_a_big_log_are_compared_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.branch(await branch_at(stage, "b"))
        await say(stage, "c")
        path = stage.log
    tree = grow(path)
    left = next(row for row in rows(tree) if row.standing == "side")
    found = await tree.compare(left, None, ("left", "now"))
    assert (len(found.left.messages), len(found.right.messages), found.common) == (4, 4, 2)
    monkeypatch.setattr(session_tree, "WHOLE_BYTES", 1)
    with pytest.raises(SessionError, match="too big to compare: it is"):
        await tree.compare(left, None, ("left", "now"))


@pytest.mark.usefixtures("everything_is_big")
async def test_another_agents_big_log_is_read_whole_up_to_a_size_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "context.jsonl"
    write(path, [UserMessage("<system>CHECKPOINT 0</system>"), UserMessage("go")])
    view = await open_view(path)
    assert isinstance(view.records, IndexedRecords)
    assert not view.tree_refusal
    prompts = [row for row in rows(await view.tree()) if row.kind == "prompt"]
    assert len(prompts) == 1, "who spoke is known"
    monkeypatch.setattr(file_source, "WHOLE_BYTES", 1)
    assert "too big to show as a tree" in view.tree_refusal
    with pytest.raises(SessionError, match="too big to show as a tree"):
        await view.tree()


async def test_a_log_that_is_gone_when_its_tree_is_wanted_is_told_in_a_sentence(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a")
        path = stage.log
    view = await open_view(path)
    path.unlink()
    with pytest.raises(SessionError, match=r"context\.jsonl"):
        await view.tree()
