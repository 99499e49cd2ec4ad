"""The small file beside a session's log that keeps which of its blocks a reader opened or folded.

A convenience, not a record: a file that cannot be read counts as missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent_tui.sessions.disk import read_state, replace_state

NAME = "folds.json"
MOST_FOLDS = 1_000
"""The newest of them are kept."""
_LONGEST_ENTRY = 100


def read_folds(folder: Path) -> dict[str, bool]:
    """Whether a block is open, by the id of its entry, where a reader decided it. Blocks."""
    state = read_state(folder / NAME)
    return _newest(state) if isinstance(state, dict) else {}


def write_folds(folder: Path, folds: Mapping[str, bool]) -> None:
    """Keep these in place of what was kept, the newest last; without any the file goes. Blocks.

    Raises:
        AgentTuiError: the file could not be written, or the session is there no more.
    """
    replace_state(folder / NAME, _newest(folds) or None)


def _newest(folds: Mapping[str, object]) -> dict[str, bool]:
    known = [
        (entry, shown)
        for entry, shown in folds.items()
        if isinstance(shown, bool) and len(entry) <= _LONGEST_ENTRY
    ]
    return dict(known[-MOST_FOLDS:])
