"""A small library on disk: sessions of ours and of another agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_tui.importers.importer import Places
from agent_tui.library.search.finding import FoundSession
from agent_tui.library.search.search_index import SearchIndex

Line = dict[str, Any]


class Library:
    """Sessions in a folder, and the index over them."""

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self.home = root / "home"
        self.index = SearchIndex(self.data, Places(self.home))

    def log(self, session: str, lines: Sequence[Line], name: str = "context.jsonl") -> Path:
        """Write a log of ours."""
        path = self.data / "projects" / "-home-ada-tide" / session / name
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {
            "role": "_session",
            "format": 1,
            "session_id": session,
            "cwd": "/home/ada/tide",
            "created_at": "2026-11-01T10:00:00Z",
            "version": "0.1.0",
        }
        with path.open("w", encoding="utf-8") as file:
            for line in (header, *lines):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return path

    def ids(self, query: str) -> list[str]:
        """The sessions that a query finds, best first."""
        return [found.session_id for found in self.search(query)]

    def search(self, query: str) -> list[FoundSession]:
        """What a query finds, best first."""
        return list(self.index.search(query).sessions)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def user(text: str, at: str = "2026-11-01T10:00:00Z", **more: Any) -> Line:
    return {"role": "user", "content": text, "at": at, "origin": "human", **more}


def assistant(text: str, *calls: Line, at: str = "2026-11-01T10:00:01Z", **more: Any) -> Line:
    found = {"role": "assistant", "content": text, "at": at, **more}
    return {**found, "tool_calls": list(calls)} if calls else found


def call(name: str, **arguments: Any) -> Line:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"type": "function", "id": f"call-{name}", "function": function}
