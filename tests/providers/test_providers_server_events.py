"""Server-sent events, however their bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.providers.server_events import EventReader, ServerEvent, decode_json, encode_json

STREAM = (
    b": hello\n\ndata: one\n\nevent: ping\r\ndata:two\r\ndata:  three\r\n\r\n"
    b"id: 7\rdata: f\xc3\xb6ur \xe2\x80\xa8 same line\r\rretry: 1\n\n\n\ndata: last\n\n"
)
EVENTS = [
    ServerEvent("", b"one"),
    ServerEvent("ping", b"two\n three"),
    ServerEvent("", "föur \u2028 same line".encode()),
    ServerEvent("", b"last"),
]


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    reader = EventReader()
    places = [0, *sorted(cuts), len(STREAM)]
    events = [event for start, end in pairwise(places) for event in reader.feed(STREAM[start:end])]
    assert events == EVENTS


def test_a_last_event_without_its_blank_line_counts_and_half_a_line_does_not() -> None:
    reader = EventReader()
    assert list(reader.feed(b"data: whole\ndata: hal")) == []
    assert list(reader.close()) == [ServerEvent("", b"whole")]


def test_a_long_line_costs_one_joining_not_one_for_each_piece() -> None:
    reader = EventReader()
    for _ in range(20_000):
        assert list(reader.feed(b"x" * 1_000)) == []
    (event,) = reader.feed(b"\ndata: 1\n\n")
    assert event.data == b"1"


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_kept() -> None:
    assert decode_json(b'{"a": "x\xffy"}') == {"a": "x\ufffdy"}


def test_what_python_writes_as_json_is_read() -> None:
    assert repr(decode_json(b'{"a": NaN}')) == "{'a': nan}"


@pytest.mark.parametrize("data", [b"{", b"\xff", b"word"])
def test_what_is_not_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting"):
        decode_json(data)


def test_half_surrogate_pairs_can_be_written() -> None:
    assert encode_json({"a": "\ud800"}) == b'{"a": "\\ud800"}'
