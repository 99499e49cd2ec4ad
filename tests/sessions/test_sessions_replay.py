"""Laws of the fold: branches, twins, orphans and cycles in a log, and messages that can be sent."""

from __future__ import annotations

import json
import os
import random
from itertools import pairwise
from pathlib import Path

import pytest

from agent_tui.core.errors import SessionNotFound, StorageError
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    HeadRecord,
    LabelRecord,
    Message,
    Record,
    Stamp,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.sessions import sent_messages
from agent_tui.sessions.replay import (
    Damage,
    Entry,
    SessionState,
    follow_log,
    load_log,
    read_log,
    replay,
)
from agent_tui.sessions.sent_messages import repaired_messages


def fold(*records: Record) -> SessionState:
    return replay(Entry(record, 10 * place, 10) for place, record in enumerate(records))


def say(text: str, uuid: str | None = None, parent: str | None = None) -> UserMessage:
    return UserMessage(text, stamp=Stamp(uuid, parent))


def texts(state: SessionState) -> list[object]:
    return [m.record.content for m in state.messages if isinstance(m.record, UserMessage)]


def test_a_head_leads_to_another_branch_and_back() -> None:
    state = fold(
        say("a", "1"),
        say("b", "2", "1"),
        HeadRecord("1", stamp=Stamp("3", "2")),
        say("c", "4", "1"),
    )
    assert texts(state) == ["a", "c"]
    state.apply(Entry(HeadRecord("2", stamp=Stamp("5", "4")), 40, 10))
    assert (texts(state), state.leaf_uuid) == (["a", "b"], "2")
    state.apply(Entry(say("d", "6", "2"), 50, 10))
    assert texts(state) == ["a", "b", "d"]
    assert [e.record.stamp.uuid for e in state.path_to(state.all_entries[3])] == ["1", "3", "4"]


def test_a_head_to_nowhere_moves_nothing() -> None:
    assert texts(fold(say("a", "1"), HeadRecord("9", stamp=Stamp("2", "1")), say("b", "3"))) == [
        "a",
        "b",
    ]


def test_many_heads_cost_one_walk() -> None:
    records: list[Record] = [say("a", "0")]
    for number in range(1, 20_000):
        records += [say("b", str(number)), HeadRecord("0")]
    assert texts(fold(*records)) == ["a"]


def test_parents_in_a_circle_hang_nothing() -> None:
    state = fold(say("a", "1", "2"), say("b", "2", "1"), say("c", "3", "3"))
    assert texts(state) == ["a", "b", "c"]


def test_an_orphan_hangs_off_the_line_before() -> None:
    state = fold(say("a", "1"), say("c", "3", "2"))
    assert texts(state) == ["a", "c"]


def test_of_equal_checkpoints_the_last_one_counts() -> None:
    state = fold(Checkpoint(0), Checkpoint(5), say("x"), Checkpoint(5), Checkpoint(2))
    assert {number: entry.offset for number, entry in state.checkpoints.items()} == {
        0: 0,
        5: 30,
        2: 40,
    }
    assert state.next_checkpoint_id == 6


def test_an_empty_label_takes_a_label_away() -> None:
    assert fold(LabelRecord("1", "here"), LabelRecord("2", "there")).labels == {
        "1": "here",
        "2": "there",
    }
    assert fold(LabelRecord("1", "here"), LabelRecord("1", "")).labels == {}


def call(*ids: str, arguments: str = "{}") -> AssistantMessage:
    return AssistantMessage("", tuple(ToolCall(id_, "read_file", arguments) for id_ in ids))


def shape(messages: list[Message]) -> list[str]:
    return [
        m.tool_call_id + ("!" if m.interrupted else "")
        if isinstance(m, ToolMessage)
        else type(m).__name__[0]
        for m in messages
    ]


def test_every_call_gets_one_result_right_behind_it() -> None:
    done = [ToolMessage(id_, "ok") for id_ in "abc"]
    assert shape(repaired_messages([call("a", "b")])) == ["A", "a!", "b!"]
    assert shape(repaired_messages([call("a", "b"), done[1], say("stop")])) == ["A", "a!", "b", "U"]
    assert shape(repaired_messages([call("a"), say("wait"), done[0]])) == ["A", "a", "U"]
    assert shape(repaired_messages([done[0], call("b"), done[0], done[1], done[1]])) == ["A", "b"]
    assert shape(repaired_messages([call("a"), done[0], call("a")])) == ["A", "a", "A", "a!"]
    assert shape(repaired_messages([call("a", "a"), done[0]])) == ["A", "a"]


@pytest.mark.parametrize("bad", ["", "{", "[]", "null", '{"x":NaN}', '{"x":"\ud800"', "\ud800"])
def test_malformed_arguments_are_never_sent_back(bad: str) -> None:
    [message, _] = repaired_messages([call("a", arguments=bad)])
    assert isinstance(message, AssistantMessage)
    assert message.tool_calls[0].arguments == "{}"


GOOD = b'{"role":"user","content":"hello"}\n'


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "missing"])
def test_only_a_regular_file_is_read_and_nothing_is_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "context.jsonl"
    expected: type[Exception] = StorageError
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (tmp_path / "other").write_bytes(GOOD)
        path.symlink_to("other")
    else:
        expected = SessionNotFound
    with pytest.raises(expected):
        read_log(path)


def test_a_follower_reads_only_what_was_added(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    path.write_bytes(GOOD)
    state, inode = load_log(path)
    with path.open("ab") as file:
        file.write(GOOD * 2)
    followed = follow_log(path, inode, state.size)
    assert followed is not None
    assert [item.offset for item in followed[0]] == [len(GOOD), 2 * len(GOOD)]
    assert followed[1] == 3 * len(GOOD)
    assert follow_log(path, inode, 4 * len(GOOD)) is None
    assert follow_log(path, inode, len(GOOD) - 2) is None


@pytest.mark.parametrize("seed", range(10))
def test_a_prefix_is_what_a_fold_of_its_lines_gives(seed: int) -> None:
    chance = random.Random(seed)
    records: list[Record] = []
    for number in range(80):
        stamp = Stamp(str(number), str(chance.randrange(number + 3)))
        kinds: list[Record] = [
            UserMessage("x", turn=number, stamp=stamp),
            AssistantMessage("y", stamp=stamp),
            Checkpoint(chance.randrange(20), number, stamp=stamp),
            UsageRecord(number, stamp=stamp),
            TurnEndRecord("failed", "The server broke off.", number, stamp),
            LabelRecord(str(number), chance.choice(["", "name"]), stamp=stamp),
            TitleRecord(str(number), stamp=stamp),
        ]
        if chance.random() < 0.15:
            kinds = [HeadRecord(str(chance.randrange(number + 2)), stamp=stamp)]
        records.append(chance.choice(kinds))
    whole = fold(*records)
    for count in range(len(records) + 1):
        expected, found = fold(*records[:count]), whole.prefix(10 * count)
        for state in (expected, found):
            state.apply(Damage(10 * count, 5, "torn"))
            state.apply(Entry(say("more", "m", "n"), 10 * count + 5, 10))
            state.apply(Entry(HeadRecord("3"), 10 * count + 15, 10))
            state._places, state._placed = {}, 0
        assert vars(found) == vars(expected)


def test_in_a_long_log_the_id_of_a_record_is_held_once(tmp_path: Path) -> None:
    ids = [f"id-{number}" for number in range(200)]
    lines = [
        {"role": "user", "content": "x" * 8_000, "uuid": uuid, "parent_uuid": parent, "at": "t"}
        for uuid, parent in zip(ids, [None, *ids], strict=False)
    ]
    lines.append({"role": "_head", "to": ids[3], "uuid": "h", "parent_uuid": ids[3], "at": "t"})
    path = tmp_path / "context.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    stamps = [entry.record.stamp for entry in read_log(path).all_entries]
    assert [stamp.uuid for stamp in stamps] == [*ids, "h"]
    assert [stamp.parent_uuid for stamp in stamps] == [None, *ids[:-1], ids[3]]
    for before, stamp in pairwise(stamps[:-1]):
        assert stamp.parent_uuid is before.uuid


@pytest.mark.parametrize(
    ("start", "end", "is_object"),
    [
        ('{"text": "', '"}', True),
        ('{"text": "\\ud800', '"}', True),
        ('{"a": {"b": [1, 2.5e3, null]}, "text": "', '"} \n', True),
        ('{"text": "', '"', False),
        ('{"text": "', '"} and more', False),
        ('["', '"]', False),
        ('{"text": "\n', '"}', False),
        ('{"a": ' + "[" * 5_000, "", False),
    ],
)
def test_long_arguments_are_sent_as_they_are_when_they_are_an_object(
    monkeypatch: pytest.MonkeyPatch, start: str, end: str, is_object: bool
) -> None:
    arguments = start + "word " * 50_000 + end
    with monkeypatch.context() as patched:
        if is_object and "\\u" not in start:  # 40 ms for ten megabytes: values are not made
            patched.setattr(sent_messages, "decode_line", None)
        (message, _) = repaired_messages([AssistantMessage("", (ToolCall("a", "t", arguments),))])
    assert isinstance(message, AssistantMessage)
    assert message.tool_calls[0].arguments == (arguments if is_object else "{}")
