"""What lies between the terminal and this program, as far as the environment says so."""

from __future__ import annotations

import os
from collections.abc import Mapping

_WHOLE_KEYS_MILLISECONDS = 20
_PIECES_MILLISECONDS = 50
_MULTIPLEXERS = ("TMUX", "STY", "ZELLIJ")
_NETWORK = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")


def escape_milliseconds(environment: Mapping[str, str] = os.environ) -> int:
    """How long nothing must follow an Esc for it to be one, and not the beginning of another key.

    A terminal writes a key with one call, and so does a multiplexer, which has told the keys
    apart by then; what comes over a network may come in pieces. Where the terminal knows Kitty's
    protocol an Esc is known at once in any case.
    """
    if any(environment.get(name) for name in _MULTIPLEXERS):
        return _WHOLE_KEYS_MILLISECONDS
    is_far = any(environment.get(name) for name in _NETWORK)
    return _PIECES_MILLISECONDS if is_far else _WHOLE_KEYS_MILLISECONDS
