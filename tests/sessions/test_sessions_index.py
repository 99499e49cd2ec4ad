"""Laws of the index: the same lines as a parse finds, whatever the blocks they are read in."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agent_tui.core.jsonl import encode
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import Record, Stamp, TitleRecord, UserMessage
from agent_tui.sessions import index as index_module
from agent_tui.sessions.index import LogIndex, read_tail
from agent_tui.sessions.replay import Item, read_log


def write_log(path: Path, seed: int, count: int = 300) -> None:
    chance = random.Random(seed)
    lines = []
    for number in range(count):
        text = "x" * chance.choice([0, 1, 40, 400, 3000])
        record: Record = UserMessage(text, stamp=Stamp(str(number)))
        if chance.random() < 0.2:
            record = TitleRecord(text)
        line = encode(record_fields(record))
        lines.append(
            chance.choice([line, line, line, b"\n", b"damage\n", b'{"id":1,"role": "tool"}\n'])
        )
    path.write_bytes(b"".join(lines)[: chance.choice([None, -1, -9])])


@pytest.mark.parametrize("seed", range(12))
def test_the_index_finds_the_lines_that_a_parse_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    path = tmp_path / "context.jsonl"
    write_log(path, seed)
    block = random.Random(seed).choice([7, 100, 1000, 1 << 20])
    monkeypatch.setattr(index_module, "_BLOCK", block)
    index = LogIndex(path)
    steps = 0
    while index.grow(5000):
        steps += 1
    assert steps > 3
    state = read_log(path)
    items: list[Item] = [*state.all_entries, *state.damaged]
    whole = sorted(items, key=lambda item: item.offset)
    assert index.read(0, len(index)) == whole
    assert sum(index.span(line)[1] for line in range(len(index))) == state.size
    lines = {index.span(line): line for line in range(len(index))}
    users = []
    for entry in state.all_entries:
        line = lines[entry.offset, entry.length]
        role = record_fields(entry.record)["role"]
        assert index.role(line) == ("" if role == "_new" else role)
        if role == "user":
            users.append(line)
    found = list(index.lines_of("user"))
    assert index.count("user") == len(found)
    torn = [lines[damage.offset, damage.length] for damage in state.damaged]
    assert [line for line in found if line not in torn] == users
    for most in (1, 7, 50, 10_000):
        tail = read_tail(path, most)
        assert tail == whole[len(whole) - len(tail) :]
        assert len(tail) <= most


def test_an_index_grows_with_its_log(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    line = encode({"role": "user", "content": "hello"})
    path.write_bytes(line + line[:10])
    index = LogIndex(path)
    assert not index.grow()
    assert (len(index), index.role(1)) == (2, "")
    with path.open("ab") as file:
        file.write(line[10:] + line)
    assert not index.grow()
    assert [index.span(n) for n in range(len(index))] == [
        (n * len(line), len(line)) for n in range(3)
    ]
    assert [index.role(n) for n in range(3)] == ["user"] * 3


FAILURE = encode({"role": "_turn_end", "end": "failed", "told": "x" * 30})
CALL = {"role": "tool", "tool_call_id": "c", "content": "said"}
ENDINGS = (
    (FAILURE, True),
    (encode({"role": "_turn_end", "end": "done"}), False),
    (encode({**CALL, "is_error": True}), True),
    (encode({**CALL, "is_error": True, "display": "y" * 50}), True),
    (encode({**CALL, "is_error": True, "interrupted": True}), False),
    (encode({**CALL, "is_error": True, "display": "y" * 50, "rejected": True}), False),
    (encode(CALL), False),
)


@pytest.mark.parametrize(
    "block", [1, 2, 3, 5, 7, 11, 13, 17, 29, 31, 50, 61, 100, 128, 999, 1 << 20]
)
def test_failures_are_marked_once_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    lines = random.Random(block).choices(ENDINGS, k=60)
    path = tmp_path / "context.jsonl"
    path.write_bytes(b"".join(line for line, _ in lines))
    monkeypatch.setattr(index_module, "_BLOCK", block)
    index = LogIndex(path)
    while index.grow(block * 3):
        pass
    expected = [number for number, (_, fails) in enumerate(lines) if fails]
    assert list(index.errors(0, len(index))) == expected
    assert list(index.errors(20, 40)) == [number for number in expected if 20 <= number < 40]


def test_a_failure_is_marked_in_a_log_that_grows_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    path.touch()
    index = LogIndex(path)
    for number, (line, _) in enumerate(ENDINGS):
        with path.open("ab") as file:
            file.write(line[:-1])
        index.grow()
        failed = [place for place, (_, fails) in enumerate(ENDINGS) if fails and place <= number]
        assert list(index.errors(0, len(index))) == failed
        with path.open("ab") as file:
            file.write(b"\n")
        index.grow()
        assert list(index.errors(0, len(index))) == failed


def test_the_tail_of_a_big_log_is_there_without_reading_its_head(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    line = encode({"role": "user", "content": "x" * 1000})
    path.write_bytes(b"\xff" * (8 << 20) + b"\n" + line * 500)
    assert len(read_tail(path, 200)) == 200
    assert read_tail(path, 200)[0].offset == path.stat().st_size - 200 * len(line)
