"""What a command printed is read back, whatever it printed."""

from __future__ import annotations

import pytest

from agent_tui.core.shell import find_left_out, left_out_line


def test_the_line_for_what_was_left_out_is_found_with_its_count() -> None:
    assert find_left_out(f"head\n{left_out_line(12_345, 99)}\ntail") == (5, 12_345)
    assert find_left_out(f"head\n{left_out_line(0, 99)}\ntail") == (-1, 0), "no line was left out"


@pytest.mark.parametrize("count", [",", ",,,", "", "²"])
def test_a_command_that_prints_such_a_line_without_a_number_means_nothing(count: str) -> None:
    assert find_left_out(f"head\n[… {count} lines (1 bytes) not shown …]\n") == (-1, 0)
