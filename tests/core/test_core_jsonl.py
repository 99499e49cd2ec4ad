"""Laws of lines: any bytes load, good lines survive bad neighbours, every byte is accounted for."""

from __future__ import annotations

import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core import jsonl
from agent_tui.core.errors import BadRecord
from agent_tui.core.jsonl import MAX_DEPTH, Decode, bulk_decoder, decode_line, encode
from agent_tui.core.record_parsing import sharing_values
from agent_tui.core.records import UserMessage
from agent_tui.sessions.replay import read_log

GOOD = b'{"role":"user","content":"hello"}'


def test_a_parent_is_shared_only_with_the_same_text_before() -> None:
    lines = [b'{"uuid": "a"}', b'{"uuid": 1, "parent_uuid": "a"}', b'{"parent_uuid": true}']
    decode = sharing_values(decode_line)
    first, second, third = map(decode, lines)
    assert second["parent_uuid"] is first["uuid"]
    assert third["parent_uuid"] is True


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "not JSON"),
        (b'{"role":"user","content":"cut', "Unterminated string starting at character 25$"),
        (GOOD + GOOD, "something follows"),
        (b"[1]", "not an object"),
        (b"null", "not an object"),
        (b'{"role":"user","content":"\xff"}', "not UTF-8 from byte 26"),
        (b'{"role":"_usage","token_count":NaN}', "NaN"),
        (b'{"role":"_usage","token_count":-Infinity}', "Infinity"),
        (b'{"role":"_usage","token_count":1e400}', "beyond"),
        (b'{"role":"_usage","token_count":' + b"9" * 5000 + b"}", "too long"),
        (b'{"role":"x","y":' + b"[" * 100 + b"]" * 100 + b"}", "deeper"),
        (b'{"role":"x","y":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deeper"),
        (b'{"role":"x","y":' + b"[" * 1_000_000, "deeper"),
        (b"\0" * 4096, "not JSON"),
        (b'{"role":"user","content":"a\0b"}', "not JSON"),
    ],
)
@pytest.mark.parametrize("decode", [decode_line, bulk_decoder()])
def test_a_bad_line_is_refused_with_its_reason(decode: Decode, line: bytes, reason: str) -> None:
    with pytest.raises(BadRecord, match=reason):
        decode(line)


@pytest.mark.parametrize(
    "line",
    [
        GOOD,
        b"  " + GOOD + b"\r",
        b"\0\0\0" + GOOD + b"\0\0",
        '{"role":"user","content":"a\u2028b\u0085c\x7fd"}'.encode(),
        b'{"role":"x","y":' + b"[" * 98 + b"]" * 98 + b"}",
        b'{"role":"x","y":"' + b"{[" * 5000 + b'"}',
        b'{"role":"x","y":18446744073709551615}',
        b'{"role":"user","content":"\\ud800"}',
    ],
)
@pytest.mark.parametrize("decode", [decode_line, bulk_decoder()])
def test_an_unusual_line_that_is_good_is_read(decode: Decode, line: bytes) -> None:
    assert decode(line)["role"]


def outcome(decode: Decode, line: bytes) -> object:
    try:
        return repr(decode(line))
    except BadRecord:
        return BadRecord


WORDS = (
    rb'"a" : , { } [ ] 1 -0 1.5e3 1e999 null true NaN "\ud800" "\u00e9" "\ud83d\ude00" "'.split()
)
PIECES = st.sampled_from(
    [*WORDS, b'"\xc3\xa9"', b"\xff", b"\0", b"9" * 25, b" ", b"\t", b"\\", b'"']
)


@given(
    st.lists(PIECES, max_size=12).map(b"".join)
    | st.lists(PIECES).map(lambda pieces: b'{"a":' + b"".join(pieces) + b"}")
)
def test_both_parsers_say_the_same_of_any_line(line: bytes) -> None:
    assert outcome(decode_line, line) == outcome(bulk_decoder(), line)


def test_what_the_next_reader_could_not_read_is_never_written() -> None:
    deep: Any = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    for fields in ({"x": math.nan}, {"x": deep}, {"x": object()}):
        with pytest.raises(BadRecord):
            encode(fields)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters()), JSON))
def test_what_is_encoded_reads_back_the_same_on_one_line(fields: dict[str, Any]) -> None:
    line = encode(fields)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_line(line[:-1]) == bulk_decoder()(line[:-1]) == fields


def test_a_surrogate_without_its_pair_survives() -> None:
    assert decode_line(encode({"x": "\ud800"}).rstrip()) == {"x": "\ud800"}


def load(folder: Path, data: bytes) -> Any:
    path = folder / "context.jsonl"
    path.write_bytes(data)
    state = read_log(path)
    assert path.read_bytes() == data
    assert state.size == len(data)
    return state


def covered(state: Any) -> int:
    items = [*state.all_entries, *state.damaged]
    items.sort(key=lambda item: item.offset)
    end = 0
    for item in items:
        assert item.offset >= end
        end = item.offset + item.length
    return sum(item.length for item in items)


@given(
    st.lists(st.sampled_from([GOOD, b"", b"\0\0", b"x", b"{", b"\xff", b"\r", b" "]) | st.binary())
)
def test_any_bytes_load_and_every_byte_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]
) -> None:
    data = b"\n".join(parts)
    state = load(tmp_path_factory.mktemp("log"), data)
    lines = data.split(b"\n")
    blank = sum(
        len(line) + (number < len(lines) - 1)
        for number, line in enumerate(lines)
        if not line.strip()
    )
    assert covered(state) + blank == len(data)
    assert len(state.all_entries) >= sum(line == GOOD for line in lines)


def test_a_torn_end_is_not_data_unless_it_is_whole(tmp_path: Path) -> None:
    torn = load(tmp_path, GOOD + b"\n" + GOOD[:-4])
    assert len(torn.messages) == 1
    assert torn.damaged[0].reason.startswith("torn")
    whole = load(tmp_path, GOOD + b"\n" + GOOD)
    assert len(whole.messages) == 2
    assert not whole.damaged


def test_a_byte_order_mark_is_tolerated_at_the_start_only(tmp_path: Path) -> None:
    state = load(tmp_path, jsonl.BOM + GOOD + b"\n" + jsonl.BOM + GOOD + b"\n")
    assert (len(state.messages), len(state.damaged)) == (1, 1)


def test_a_line_longer_than_may_be_held_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 3 << 20)
    monkeypatch.setattr("agent_tui.sessions.replay.MAX_LINE_BYTES", 3 << 20)
    long = json.dumps({"role": "user", "content": "x" * (4 << 20)}).encode()
    fine = json.dumps({"role": "user", "content": "y" * (2 << 20)}).encode()
    state = load(tmp_path, b"\n".join([GOOD, long, fine, GOOD, long]))
    assert [len(str(entry.record.content)) for entry in state.messages] == [5, 2 << 20, 5]
    assert [damage.length for damage in state.damaged] == [len(long) + 1, len(long)]
    assert "more than 3,145,728 are not read" in state.damaged[0].reason
    with pytest.raises(BadRecord, match="the longest"):
        encode({"role": "user", "content": "x" * (4 << 20)})


def test_a_plain_log_without_ids_loads(tmp_path: Path) -> None:
    state = load(
        tmp_path,
        b'{"role": "_system_prompt", "content": "p"}\n{"role": "_checkpoint", "id": 0}\n'
        b'{"role": "user", "content": "q"}\n{"role": "assistant", "content": null}\n'
        b'{"role": "_usage", "token_count": 7}\n{"role": "_checkpoint", "id": 4}\n'
        b'{"role": "_new", "thing": [1]}\n',
    )
    assert (state.system_prompt, state.token_count, state.next_checkpoint_id) == ("p", 7, 5)
    assert isinstance(state.messages[0].record, UserMessage)
    assert (len(state.entries), state.leaf_uuid, state.damaged) == (7, None, [])


HOSTILE = {
    "lists": b"[]",
    "objects": b"{}",
    "numbers": b"0",
    "nested": b"[[],{}]",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_line_of_very_many_values_is_refused_before_it_takes_memory(
    tmp_path: Path, kind: str
) -> None:
    many = b",".join([HOSTILE[kind]] * (jsonl.MAX_VALUES + 1))
    line = b'{"role": "user", "content": "x", "more": [' + many + b"]}"
    (tmp_path / "log").write_bytes(GOOD + b"\n" + line + b"\n" + GOOD + b"\n")
    tracemalloc.start()
    try:
        state = read_log(tmp_path / "log")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(state.messages) == 2
    assert "more than 2,000,000 values" in state.damaged[0].reason
    assert peak < 8 * len(line) + 16_000_000


def test_marks_in_a_text_are_no_values() -> None:
    text = '[{"a, b",\\' * 800_000
    fields = {"role": "user", "content": text}
    assert decode_line(encode(fields).rstrip(b"\n")) == fields


@pytest.mark.slow
def test_what_could_not_be_read_back_is_not_written() -> None:
    with pytest.raises(BadRecord, match="values"):
        encode({"role": "user", "more": [0] * (jsonl.MAX_VALUES + 2)})


def test_what_a_line_has_from_the_one_before_is_held_once() -> None:
    decode = sharing_values(decode_line)
    line = b'{"role":"user","at":"2026-01-01T00:00:00.%03dZ","turn":%s}'
    one, two, other, last = (
        decode(line % each) for each in ((1, b"700"), (1, b"700"), (2, b"701"), (2, b"701.0"))
    )
    assert one["at"] is two["at"]
    assert one["turn"] is two["turn"]
    assert other["at"].endswith("2Z")
    assert other["at"] is last["at"]
    assert [type(each["turn"]) for each in (other, last)] == [int, float]


def test_decoding_in_file_order_invents_no_field() -> None:
    lines = [b'{"role":"_later","kept":true}', b'{"role":"user","turn":null}', b'{"at":"now"}']
    assert list(map(sharing_values(decode_line), lines)) == list(map(decode_line, lines))
