"""Laws of origins: who said a message is one of a closed set, whatever a log names."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_tui.core.origins import ASKED, Origin
from agent_tui.core.record_parsing import parse_record
from agent_tui.core.records import UserMessage, is_prompt


@pytest.mark.parametrize("origin", get_args(Origin))
def test_an_origin_is_read_as_it_was_written(origin: Origin) -> None:
    record = parse_record({"role": "user", "content": "hello", "origin": origin})
    assert isinstance(record, UserMessage)
    assert record.origin == origin
    assert is_prompt(record) == (origin in ASKED)


def test_what_an_unknown_one_said_is_no_prompt() -> None:
    record = parse_record({"role": "user", "content": "hello", "origin": "from tomorrow"})
    assert isinstance(record, UserMessage)
    assert record.origin == "unknown"
    assert not is_prompt(record)
