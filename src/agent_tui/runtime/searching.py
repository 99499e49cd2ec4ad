"""The search index of this user: our sessions, and other agents' where they keep them."""

from __future__ import annotations

from agent_tui.config import data_root, load_settings
from agent_tui.library.search.search_index import SearchIndex
from agent_tui.runtime.agent_places import agent_places


def open_search_index() -> SearchIndex:
    """The index of every session on this machine; nothing is read yet."""
    return SearchIndex(data_root(), agent_places(load_settings()))
