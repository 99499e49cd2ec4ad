"""The strict reader finds what no screen of ours holds, however it is cut; and what is left on."""

from __future__ import annotations

import pytest

from tests.attacks.test_attacks_rows_screen import PAYLOADS
from tests.e2e.hour import CANARIES
from tests.terminal_output import TerminalOutput

_QUIET = {"\x1b]52;c;cHduZWQ=\x07", "\x1b[?1049l", "\x1b]52;c;Q0FOQVJZ\x07"}
"""Copies and modes are ours, too: they are counted instead."""
START = "\x1b[?1049h\x1b[?1000h\x1b[?25l\x1b[>25u\x1b[?2004h\x1b[22;0t\x1b]0;● tide\x07"
STOP = "\x1b[23;0t\x1b[?2004l\x1b[?1000l\x1b[<u\x1b[?1049l\x1b[?25h"


@pytest.mark.parametrize("payload", sorted({*PAYLOADS, *CANARIES}), ids=ascii)
def test_what_is_not_ours_is_odd_wherever_it_is_cut(payload: str) -> None:
    whole = f"{START}a\x1b[1;38;2;1;2;3mé漢\x1b[0m{payload}b".encode()
    for cut in range(len(whole)):
        output = TerminalOutput()
        output.feed(whole[:cut])
        output.feed(whole[cut:])
        assert output.odd or output.copies or 1049 not in output.modes, cut
    assert output.odd or payload in _QUIET


def test_a_terminal_that_is_put_back_has_nothing_left_on() -> None:
    output = TerminalOutput()
    output.feed(START.encode())
    assert output.left_on() == [
        *("mode 25", "mode 1000", "mode 1049", "mode 2004", "a title", "a keyboard")
    ]
    output.feed(f"\x1b[38;2;1;2;3mx\x1b[0m\r\n{STOP}Bye\r\n".encode())
    assert (output.left_on(), output.odd, output.after) == ([], [], "Bye\r\n")
    output.feed(b"\x1b[31m\x1b[")
    assert output.left_on() == ["a style", "half a sequence"]
