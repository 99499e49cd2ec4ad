"""Hints that are shown a few times, until the person has once done what they suggest."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.config.reading import read_regular_file

if TYPE_CHECKING:
    from agent_tui.runtime.starting.launch import Launch

_MOST_TIMES = 3
_MOST_BYTES = 1_000_000


class Hints:
    """A small file of how often each hint was shown; what cannot be read was never shown.

    ``keeps`` says whether anything may be written at all. Every method blocks.
    """

    def __init__(self, path: Path, *, keeps: bool = True) -> None:
        self._path = path
        self._keeps = keeps

    @classmethod
    def of_run(cls, launch: Launch) -> Hints:
        """The hints of a run, which may be one that writes nothing."""
        return cls(launch.home / "hints.json", keeps=not launch.ephemeral)

    def take(self, name: str) -> bool:
        """Whether to show a hint now; if so, it counts as shown."""
        shown = self._read()
        if (times := shown.get(name, 0)) >= _MOST_TIMES:
            return False
        self._write({**shown, name: times + 1})
        return True

    def learn(self, name: str) -> None:
        """The person did what a hint suggests: never show it again."""
        shown = self._read()
        if shown.get(name, 0) < _MOST_TIMES:
            self._write({**shown, name: _MOST_TIMES})

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(read_regular_file(self._path, _MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {str(name): times for name, times in found.items() if type(times) is int}

    def _write(self, shown: dict[str, int]) -> None:
        if not self._keeps:
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft = self._path.with_suffix(".tmp")
            draft.write_text(json.dumps(shown, indent=1), encoding="utf-8")
            draft.replace(self._path)
