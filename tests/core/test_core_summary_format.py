"""Laws of the summary's text: what is written here is known here."""

from __future__ import annotations

import pytest

from agent_tui.core.messages import text_of
from agent_tui.core.summary_format import opens_summary, read_summary, write_summary


@pytest.mark.parametrize("fallback", [False, True])
def test_a_summary_without_its_origin_is_known_by_its_beginning(fallback: bool) -> None:
    written = write_summary("What was done.", fallback=fallback)
    assert opens_summary(text_of(written))
    assert read_summary(written).summary == "What was done."
    assert not opens_summary("What was done.")
