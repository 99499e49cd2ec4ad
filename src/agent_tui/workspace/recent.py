"""What was settled lately and is not in git's index yet: a small file beside a large one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from agent_tui.core.file_changes import FileState
from agent_tui.workspace.folders import Signature, read_whole, replace_private_file, signature
from agent_tui.workspace.reading import Reading


class RecentStates:
    """Paths as they were settled, with the signature that each had; kept in a file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._states: dict[str, tuple[Signature | None, FileState | None]] = {}

    def load(self) -> Mapping[str, FileState | None]:
        """Take up what an earlier run settled."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            for path, mark, state in json.loads(read_whole(self._path)):
                kept = FileState(*state) if state else None
                self._states[path] = (tuple(mark) if mark else None, kept)
        return {path: state for path, (_, state) in self._states.items()}

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, path: str) -> bool:
        return path in self._states

    def paths(self) -> list[str]:
        """Every path that is known here."""
        return list(self._states)

    def state(self, path: str) -> FileState | None:
        """How a path was settled."""
        return self._states[path][1]

    def unkept(self) -> list[str]:
        """Paths that were there and whose contents were not kept."""
        return [path for path, (_, state) in self._states.items() if state and not state.hash]

    def is_as_settled(self, path: str, status: os.stat_result | None) -> bool:
        """Whether a path still is as it was settled; what was not kept never is."""
        before, state = self._states[path]
        if state is None or status is None:
            return state is None and status is None
        return bool(state.hash) and before == signature(status)

    def put(self, readings: Mapping[str, Reading]) -> None:
        """Settle paths."""
        for path, reading in readings.items():
            self._states[path] = (reading.signature, reading.state)

    def forget(self, paths: Iterable[str]) -> None:
        """These are in the index now."""
        for path in paths:
            self._states.pop(path, None)

    def write(self) -> None:
        """Write all of it down."""
        rows = [
            [path, mark, [s.kind, s.mode, s.hash, s.size, s.secret] if s else None]
            for path, (mark, s) in self._states.items()
        ]
        data = json.dumps(rows, separators=(",", ":")).encode()
        replace_private_file(self._path, data, durable=False)
