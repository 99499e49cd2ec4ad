"""The context windows that servers named when refusing: kept by model, from run to run."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from agent_tui.config.reading import read_regular_file

_MOST_MODELS = 500
_MOST_BYTES = 1_000_000


class LearnedWindows:
    """A small file of windows by model; what cannot be read or written is simply not known.

    ``keeps`` says whether what is learned may be written at all.
    """

    def __init__(self, path: Path, *, keeps: bool = True) -> None:
        self._path = path
        self._keeps = keeps

    def apply(self, model: str, window: int) -> int:
        """The window of a model, no larger than what a server is known to take."""
        known = self._read().get(model, 0)
        return min(window, known) if known and window else window

    def learn(self, model: str, window: int) -> None:
        """Keep the window that a refusal told of a model."""
        windows = self._read()
        if not self._keeps or window <= 0 or windows.get(model) == window:
            return
        windows[model] = window
        newest = dict(list(windows.items())[-_MOST_MODELS:])
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft = self._path.with_suffix(".tmp")
            draft.write_text(json.dumps(newest, indent=1), encoding="utf-8")
            draft.replace(self._path)

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(read_regular_file(self._path, _MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {
            str(model): window
            for model, window in found.items()
            if type(window) is int and window > 0
        }
