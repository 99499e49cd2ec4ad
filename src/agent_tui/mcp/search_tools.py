"""Finds tools among many: a model reads the descriptions of those that it needs, no others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from pydantic import Field

from agent_tui.core.messages import ToolResult
from agent_tui.core.text import first_line, format_count
from agent_tui.mcp.borrowed_tool import BorrowedTool, Call
from agent_tui.mcp.offered_tool import OfferedTool
from agent_tui.tools.base import AnyTool, Arguments, Tool, ToolContext

NAME = "search_tools"
_FOUND = 8
_MOST_LOADED = 40
_WORD = re.compile(r"[a-z0-9]+")


class SearchToolsArguments(Arguments):
    """What the tool should be able to do."""

    query: str = Field(
        max_length=400, description="A few words on what the tool should do, or its name."
    )


class SearchTools(Tool[SearchToolsArguments]):
    """Finds tools of servers and makes them callable from the next step on."""

    name = NAME
    parameters = SearchToolsArguments

    def __init__(
        self, offered: Sequence[OfferedTool], load: Callable[[Iterable[OfferedTool]], None]
    ) -> None:
        self._offered = offered
        self._load = load
        counts = Counter(tool.server for tool in offered)
        servers = ", ".join(
            f"{name} ({format_count(count, 'tool')})" for name, count in counts.items()
        )
        self.description = (
            f"Find more tools. These servers have more tools than can be listed: {servers}. "
            "The tools that are found can be called from the next step on."
        )

    def title(self, arguments: SearchToolsArguments) -> str:
        return arguments.query

    async def run(self, arguments: SearchToolsArguments, context: ToolContext) -> ToolResult:
        found = find_tools(self._offered, arguments.query)
        if not found:
            names = ", ".join(tool.name for tool in self._offered[:40])
            return ToolResult(f"Nothing found. Some of the tools: {names}.")
        self._load(found)
        lines = [f"{tool.name}: {first_line(tool.description, 300)}" for tool in found]
        return ToolResult("\n".join(["You can call these now:", *lines]))


def find_tools(offered: Iterable[OfferedTool], query: str) -> list[OfferedTool]:
    """The tools that a query's words fit best, best first; words in names count more."""
    wanted = set(_WORD.findall(query.lower()))
    scored = [
        (_score(tool, wanted) + (10 if query.strip() in (tool.name, tool.own_name) else 0), tool)
        for tool in offered
    ]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [tool for _, tool in best[:_FOUND]]


def _score(tool: OfferedTool, wanted: set[str]) -> int:
    in_name = set(_WORD.findall(tool.name.lower().replace("_", " ")))
    in_description = set(_WORD.findall(tool.description.lower()))
    return 3 * len(wanted & in_name) + len(wanted & in_description)


class BorrowedTools:
    """The tools of servers as one session sees them: all, or a search and what it found.

    Args:
        offered: gives the tools that there are now.
        call: calls one of them.
        described: with more tools than this, they are searched for.
    """

    def __init__(
        self, offered: Callable[[], Sequence[OfferedTool]], call: Call, described: int
    ) -> None:
        self._offered = offered
        self._call = call
        self._described = described
        self._loaded: dict[str, None] = {}
        self._search: tuple[Sequence[OfferedTool], SearchTools] | None = None

    def __call__(self) -> list[AnyTool]:
        """The tools to tell a model of now; the same objects where nothing has changed."""
        offered = self._offered()
        if len(offered) <= self._described:
            return [BorrowedTool(tool, self._call) for tool in offered]
        if self._search is None or self._search[0] != offered:
            self._search = (offered, SearchTools(offered, self._load))
        loaded = [tool for tool in offered if tool.name in self._loaded]
        return [self._search[1], *(BorrowedTool(tool, self._call) for tool in loaded)]

    def _load(self, tools: Iterable[OfferedTool]) -> None:
        for tool in tools:
            self._loaded.pop(tool.name, None)
            self._loaded[tool.name] = None
        for name in list(self._loaded)[:-_MOST_LOADED]:
            del self._loaded[name]
