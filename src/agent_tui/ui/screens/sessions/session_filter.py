"""Which sessions fit what is typed into the filter of the list, and in which groups they stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from operator import attrgetter
from typing import Literal, TypeAlias

from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import find_letters, reveal
from agent_tui.ui.screens.sessions.session_columns import id_of, stretches

Grouping: TypeAlias = Literal["time", "project", "agent"]
"""What the sessions of a group have in common."""
_ENOUGH = 50
"""So many that fit as typed, and nobody looks for what is only similar."""
_REACH = 3
"""How many times its letters a word may stretch over, to be similar."""


@dataclass(frozen=True, eq=False)
class Listed:
    """Every session, the last used first, with what the filter looks through of each.

    ``names``: title and project, ``texts``: all of it; both in lower case.
    """

    sessions: Sequence[SessionSummary] = ()
    names: Sequence[str] = ()
    texts: Sequence[str] = ()

    def without(self, gone: Collection[tuple[str, str]]) -> Listed:
        """The others, where some are gone, given by source and folder."""
        stays = [n for n, each in enumerate(self.sessions) if id_of(each) not in gone]
        return Listed(
            [self.sessions[n] for n in stays],
            [self.names[n] for n in stays],
            [self.texts[n] for n in stays],
        )


@dataclass(frozen=True, eq=False)
class Shown:
    """The sessions that fit, in their order on the screen, and what is said of them.

    ``groups``: the name of each with its first session. ``places``: where each session stands, by
    source and folder.
    """

    sessions: Sequence[SessionSummary] = ()
    groups: Sequence[tuple[str, int]] = ()
    places: Mapping[tuple[str, str], int] = field(default_factory=dict)
    agents: frozenset[str] = frozenset()
    projects: int = 0


def newest_first(found: Sequence[SessionSummary]) -> list[SessionSummary]:
    """The sessions, last used first."""
    return sorted(found, key=lambda summary: summary.updated_at, reverse=True)


def arrange(found: Sequence[SessionSummary]) -> Listed:
    """Put sessions into their order; takes a while for many, so call it in a thread."""
    ordered = newest_first(found)
    names = [
        f"{each.title or each.first_prompt[:300]} {each.cwd.rpartition('/')[2]}".lower()
        for each in ordered
    ]
    texts = [
        f"{each.title}\n{each.cwd}\n{each.first_prompt}\n{each.source}".lower() for each in ordered
    ]
    return Listed(ordered, names, texts)


def filter_sessions(listed: Listed, typed: str, grouping: Grouping = "time") -> Shown:
    """The sessions that fit what was typed, best first; takes a while, as ``arrange`` does.

    First those whose title or project holds every word, then those of which something else does,
    then, where few fit, those where letters were left out; the last used of a group first.
    Groups of projects and of agents stand in the order of the first session of each.
    """
    words = typed.lower().split()
    if not words:
        return _show(*_grouped(listed.sessions, grouping))
    fitting = _hold(words, listed.texts, range(len(listed.texts)))
    named = _hold(words, listed.names, fitting)
    known = set(named)
    similar = _similar(words, listed.names, set(fitting)) if len(fitting) < _ENOUGH else ()
    tiers = {
        "Title or project": named,
        "First prompt, folder or agent": [place for place in fitting if place not in known],
        "Similar": similar,
    }
    sessions = [listed.sessions[place] for tier in tiers.values() for place in tier]
    if grouping != "time" or (not similar and len(named) in (0, len(sessions))):
        return _show(*_grouped(sessions, grouping))
    first, groups = 0, list[tuple[str, int]]()
    for name, tier in tiers.items():
        if tier:
            groups.append((name, first))
        first += len(tier)
    return _show(sessions, groups)


def _grouped(
    sessions: Sequence[SessionSummary], grouping: Grouping
) -> tuple[Sequence[SessionSummary], list[tuple[str, int]]]:
    """The sessions with those of a group together, and where each group begins."""
    if grouping == "time":
        return sessions, list(stretches(sessions))
    name_of = attrgetter("cwd" if grouping == "project" else "source")
    of_group: dict[str, list[SessionSummary]] = {}
    for each in sessions:
        of_group.setdefault(name_of(each), []).append(each)
    starts = accumulate(map(len, of_group.values()), initial=0)
    groups = [(reveal(name), start) for name, start in zip(of_group, starts, strict=False)]
    return list(chain.from_iterable(of_group.values())), groups


def _hold(words: Sequence[str], texts: Sequence[str], places: Sequence[int]) -> Sequence[int]:
    """The places whose texts hold every word."""
    for word in words:
        places = [place for place in places if word in texts[place]]
    return places


def _similar(words: Sequence[str], names: Sequence[str], known: Collection[int]) -> list[int]:
    """Where the letters of every word come close to each other; the closest first."""
    farthest = _REACH * sum(map(len, words))
    found = [
        (reach, place)
        for place, reach in find_letters(words, names)
        if reach <= farthest and place not in known
    ]
    return [place for _, place in sorted(found)[:_ENOUGH]]


def _show(sessions: Sequence[SessionSummary], groups: Sequence[tuple[str, int]]) -> Shown:
    return Shown(
        sessions,
        groups,
        {id_of(each): place for place, each in enumerate(sessions)},
        frozenset(each.source for each in sessions),
        len({each.cwd for each in sessions}),
    )
