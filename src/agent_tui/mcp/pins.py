"""Which tools a person has accepted, by hash: a tool that changes afterwards is held back."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from agent_tui.config.reading import read_regular_file
from agent_tui.core.errors import StorageError
from agent_tui.mcp.offered_tool import OfferedTool

_LARGEST = 10_000_000


class Pins:
    """The hashes of accepted tools, in one private file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def changed(self, server: str, tools: Iterable[OfferedTool]) -> tuple[OfferedTool, ...]:
        """The tools that are not as accepted; a server that was never seen is accepted whole.

        A new tool of a known server counts as changed: what was accepted did not hold it.
        """
        tools = tuple(tools)
        accepted = self._read().get(server)
        if accepted is None:
            self.accept(server, tools)
            return ()
        return tuple(tool for tool in tools if accepted.get(tool.own_name) != tool.digest)

    def accept(self, server: str, tools: Iterable[OfferedTool]) -> None:
        """Remember these tools as they are now; those of before that are not among them go."""
        pins = self._read()
        pins[server] = {tool.own_name: tool.digest for tool in tools}
        self._write(pins)

    def forget(self, server: str) -> None:
        """Know nothing of a server any longer: it was removed."""
        pins = self._read()
        if pins.pop(server, None) is not None:
            self._write(pins)

    def _read(self) -> dict[str, dict[str, str]]:
        """What was accepted; a damaged file is an error, never "nothing was seen yet"."""
        try:
            pins = json.loads(read_regular_file(self._path, _LARGEST))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise StorageError(self._unreadable(error)) from None
        if not isinstance(pins, dict) or not all(isinstance(each, dict) for each in pins.values()):
            raise StorageError(self._unreadable("it is not an object of objects"))
        return pins

    def _unreadable(self, why: object) -> str:
        return (
            f"{self._path}, which says which tools of MCP servers were accepted, cannot be read: "
            f"{why}. Delete it to accept all tools again."
        )

    def _write(self, pins: dict[str, dict[str, str]]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".pins.")
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(pins, file, indent=1, sort_keys=True)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except OSError as error:
            raise StorageError(f"{self._path} cannot be written: {error.strerror}.") from None
