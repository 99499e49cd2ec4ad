"""Removing what programs left half written in a store when they were killed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from agent_tui.core.text import late_pattern
from agent_tui.workspace.store import ContentStore

_PLACES = ("", "info", "objects/info")
"""The folders in each folder of git's in which something is written."""

_NAME = late_pattern(
    r"([0-9a-f]{64}|HEAD|config|attributes|exclude|alternates)(\.[0-9]+){1,2}\.tmp"
)
_SETTINGS = late_pattern(r"[0-9a-f]{16}")


def remove_leftovers(store: ContentStore) -> None:
    """Delete the temporary files of killed programs, and none that a live one writes.

    Whoever writes such a file holds the lock of the store: with the lock alone, nobody does.

    Raises:
        NotCovered: others use the store now; the next one who opens it may have more luck.
    """
    left = list(_temporary_files(store.folder))
    if not left:
        return
    with store.locked(alone=True, seconds=0):
        for path in left:
            with suppress(OSError):
                os.unlink(path)


def _temporary_files(folder: str) -> Iterator[str]:
    yield from _named(os.path.join(folder, "objects"), _NAME)
    for settings in list(_named(os.path.join(folder, "git"), _SETTINGS)):
        for place in _PLACES:
            yield from _named(os.path.join(settings, place), _NAME)


def _named(folder: str, name: re.Pattern[str]) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        yield from (entry.path for entry in entries if name.fullmatch(entry.name))
