"""The tools that every agent has."""

from __future__ import annotations

from agent_tui.tools.ask_user import AskUser
from agent_tui.tools.background_command import BackgroundCommand
from agent_tui.tools.base import AnyTool
from agent_tui.tools.edit_file import EditFile
from agent_tui.tools.find_files import FindFiles
from agent_tui.tools.list_folder import ListFolder
from agent_tui.tools.read_file import ReadFile
from agent_tui.tools.run_command import RunCommand
from agent_tui.tools.search_files import SearchFiles
from agent_tui.tools.think import Think
from agent_tui.tools.todo import Todo
from agent_tui.tools.web.fetch_url import FetchUrl
from agent_tui.tools.write_file import WriteFile


def builtin_tools(*, search: str = "", private: bool = False) -> tuple[AnyTool, ...]:
    """One of each built-in tool, in the order in which a model is told of them.

    Args:
        search: the endpoint of search_web, which is not among them without one.
        private: whether fetch_url may ask addresses that are not public.
    """
    return (
        ReadFile(),
        ListFolder(),
        FindFiles(),
        SearchFiles(),
        EditFile(),
        WriteFile(),
        RunCommand(),
        BackgroundCommand(),
        FetchUrl(private=private),
        *_search_web(search),
        Think(),
        Todo(),
        AskUser(),
    )


def _search_web(endpoint: str) -> tuple[AnyTool, ...]:
    if not endpoint:
        return ()
    from agent_tui.tools.web.search_web import SearchWeb

    return (SearchWeb(endpoint),)
