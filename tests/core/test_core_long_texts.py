"""Laws of long texts: in slices or at once, the JSON is the same, and no slice is long."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.jsonl import MAX_VALUES, decode_line
from agent_tui.core.jsonl import encode as encode_line
from agent_tui.core.long_texts import LONG_CHARS, lift_long_texts, put_back

LONG = st.text(min_size=1, max_size=20).map(lambda text: text * (LONG_CHARS // len(text) + 1))
VALUES = st.recursive(
    st.text() | LONG | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


@given(VALUES)
def test_a_value_in_slices_is_the_same_value(value: Any) -> None:
    bare, texts = lift_long_texts(value)
    assert json.loads(b"".join(put_back(encode(bare), texts, encode))) == value


def test_no_call_encodes_a_long_text_at_once() -> None:
    sizes = []

    def watch(value: Any) -> bytes:
        encoded = encode(value)
        sizes.append(len(encoded))
        return encoded

    bare, texts = lift_long_texts({"role": "user", "content": ["x" * 3_000_000, "short"]})
    assert sum(map(len, put_back(watch(bare), texts, watch))) > 3_000_000
    assert max(sizes) < LONG_CHARS


def test_marks_in_a_long_text_are_neither_depth_nor_values() -> None:
    text = '[{,"\\\ud800' * (MAX_VALUES // 2)
    assert decode_line(encode_line({"role": "user", "content": text}))["content"] == text
