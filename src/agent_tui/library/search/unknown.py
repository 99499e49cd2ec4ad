"""Why a search found nothing, where one of its filters can fit no session."""

from __future__ import annotations

import sqlite3

from agent_tui.core.search_filters import FILTERS
from agent_tui.core.text import clean
from agent_tui.library.search.query import Query
from agent_tui.library.search.words import facet

_MOST_NAMED = 12
_KNOWN = {
    "agent": "SELECT DISTINCT source FROM files WHERE session NOT NULL",
    "project": "SELECT DISTINCT cwd FROM files WHERE session NOT NULL",
    "session": "SELECT DISTINCT session FROM files WHERE session NOT NULL",
    "model": "SELECT model FROM days WHERE model <> '' GROUP BY 1 ORDER BY count(*) DESC",
    "tool": "SELECT tool FROM tools GROUP BY 1 ORDER BY sum(calls) DESC",
}
_NAMED = ("agent", "model", "tool")
"""Those of which there are few, so that the sentence can name them."""
_ONE_OF = ("agent", "session")
"""Those of which one has to fit; of the others all."""


def explain_nothing(base: sqlite3.Connection, query: Query) -> str:
    """Which filters of a query no session can fit, in sentences; empty where all could."""
    told = [_explain(base, name, values) for name, values in query.filters.items()]
    if query.unknown_filters:
        names = " and ".join(f"{name}:" for name in query.unknown_filters)
        told.append(f"There is no filter {names}. There are: {', '.join(FILTERS)}.")
    return clean(" ".join(filter(None, told)))


def _explain(base: sqlite3.Connection, name: str, values: tuple[str, ...]) -> str:
    known = [found or "" for (found,) in base.execute(_KNOWN[name])] if name in _KNOWN else []
    unknown = [value for value in values if not any(_fits(name, value, each) for each in known)]
    if name not in _KNOWN or not unknown or (name in _ONE_OF and len(unknown) < len(values)):
        return ""
    told = f"{'No calls' if name == 'tool' else 'No sessions'} of {name} {' or '.join(unknown)}"
    if name not in _NAMED or not known:
        return f"{told}."
    more = ", …" if len(known) > _MOST_NAMED else ""
    return f"{told}; known {name}s: {', '.join(sorted(known[:_MOST_NAMED]))}{more}."


def _fits(name: str, value: str, known: str) -> bool:
    if name == "project":
        return value.lower() in known.lower()
    if name in _ONE_OF:
        return known.lower().startswith(value.lower())
    return facet("", known).startswith(facet("", value))
