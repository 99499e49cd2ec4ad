"""How long an Esc is waited for: as short as what brings the keys allows."""

from __future__ import annotations

import pytest

from agent_tui.runtime.machine.terminal_link import escape_milliseconds

NEAR, FAR = 20, 50
OVER_SSH = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22", "SSH_TTY": "/dev/pts/1"}


@pytest.mark.parametrize(
    ("environment", "milliseconds"),
    [
        ({}, NEAR),
        ({"SSH_CONNECTION": ""}, NEAR),
        (OVER_SSH, FAR),
        ({"SSH_TTY": "/dev/pts/1"}, FAR),
        (OVER_SSH | {"TMUX": "/tmp/tmux-0/default,1,0"}, NEAR),
        (OVER_SSH | {"STY": "1.pts-0"}, NEAR),
    ],
)
def test_a_lone_esc_is_waited_for_longer_where_a_network_brings_the_keys(
    environment: dict[str, str], milliseconds: int
) -> None:
    assert escape_milliseconds(environment) == milliseconds
