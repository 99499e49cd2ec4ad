"""The search index of this user: our sessions, and other agents' where they keep them."""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui.config import data_root
from agent_tui.importers.importer import Places
from agent_tui.library.search.search_index import SearchIndex


def open_search_index() -> SearchIndex:
    """The index of every session on this machine; nothing is read yet."""
    return SearchIndex(data_root(), Places(Path.home(), dict(os.environ)))
