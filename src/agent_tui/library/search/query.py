"""The query language: words, "phrases", -without, and filters such as ``tool:bash after:7d``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeAlias

from agent_tui.core.errors import UsageError
from agent_tui.core.search_filters import FILTERS
from agent_tui.core.times import read_day
from agent_tui.library.search.words import facet, words_of

MOST_CHARACTERS = 1_000
"""Of one search: SQLite takes no expression of very many terms, and each takes time."""
_TERM = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))')
_FACETS = {"role": "r", "tool": "t", "file": "f", "touched": "w", "model": "m", "has": "h"}
_VALUE = re.compile(r"\w")
_BEGINNINGS = {"model", "tool"}
_CONTINUED = " *"
_BEGINNING = re.compile(r'"([^"]* )?([^" ]+)" \*')
Longer: TypeAlias = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the index is asked.

    Attributes:
        wanted, unwanted: terms of the full-text table; none when only sessions are chosen.
        literals: what a line must hold to the letter, in lower case, beyond its words.
        marks: words that a snippet shows.
        agents, projects, sessions: of each kind one must fit, where there is any.
        after, before: RFC 3339 days; empty for no bound.
        filters: the values that each filter asks for, as they were typed.
        unknown_filters: what looks like the name of a filter, and was taken for a word.
    """

    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    after: str = ""
    before: str = ""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown_filters: tuple[str, ...] = ()

    @property
    def match(self) -> str:
        """The expression for the full-text table; empty where no line is asked for."""
        return self._expression(self.wanted)

    @property
    def chooses_sessions(self) -> bool:
        """Whether there is a filter that needs no words: agent, project, session or a day."""
        return bool(self.agents or self.projects or self.sessions or self.after or self.before)

    @property
    def exact(self) -> str:
        """The same for whole words only, which is many times faster; empty where none continues."""
        whole = tuple(term.removesuffix(_CONTINUED) for term in self.wanted)
        return self._expression(whole) if whole != self.wanted else ""

    def spelt_out(self, longer: Longer) -> Query:
        """The same with the words that continue each beginning, where ``longer`` knows any.

        The table gathers every line of a beginning before it gives the first; of words it does not.
        """
        return replace(self, wanted=tuple(_spelt_out(term, longer) for term in self.wanted))

    def with_all_unwanted(self, longer: Longer) -> Query:
        """The same for what is excluded: ``longer`` knows all words that begin so, or none."""
        return replace(self, unwanted=tuple(_spelt_out(term, longer) for term in self.unwanted))

    def _expression(self, wanted: Iterable[str]) -> str:
        match = " AND ".join(wanted)
        return f"({match}) NOT ({' OR '.join(self.unwanted)})" if self.unwanted else match


def parse_query(text: str, today: date) -> Query:
    """Read a query as a person typed it; raises UsageError for what cannot be searched."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"Expected a search of up to {MOST_CHARACTERS:,} characters, got {len(text):,}."
        )
    wanted: list[str] = []
    unwanted: list[str] = []
    literals: list[str] = []
    marks: list[str] = []
    chosen: dict[str, list[str]] = {"agent": [], "project": [], "session": []}
    bounds = {"after": "", "before": ""}
    filters: dict[str, tuple[str, ...]] = {}
    unknown: list[str] = []
    for minus, name, phrase, word in _TERM.findall(text):
        value = phrase or word
        if name and name not in FILTERS:
            if word:  # std::vector, http://…: not a filter, a word with a colon
                unknown += [name] if _VALUE.match(word) else []
                name, value = "", f"{name}:{word}"
            else:
                raise UsageError(f"There is no filter {name}:. There are: {', '.join(FILTERS)}.")
        if minus and name in (*bounds, *chosen):
            raise UsageError(f"-{name}: is not supported; name what to include with {name}:.")
        if name and not minus:
            filters[name] = (*filters.get(name, ()), value)
        if name in bounds:
            bounds[name] = read_day(value, today)
        elif name in chosen:
            chosen[name].append(value.lower())
        elif name:
            (unwanted if minus else wanted).append(_facet_term(name, value))
        elif term := _text_term(value, whole=bool(phrase)):
            (unwanted if minus else wanted).append(term)
            if not minus:
                marks.append(value.lower())
                if phrase or re.search(r"\w[^\w\s]|[^\w\s]\w", value):
                    literals.append(" ".join(value.lower().split()))
    if unwanted and not wanted:
        raise UsageError("Add at least one word, or a filter such as role:, that is not excluded.")
    return Query(
        tuple(wanted),
        tuple(unwanted),
        tuple(literals),
        tuple(marks),
        tuple(chosen["agent"]),
        tuple(chosen["project"]),
        tuple(chosen["session"]),
        bounds["after"],
        bounds["before"],
        filters,
        tuple(dict.fromkeys(unknown)),
    )


def _spelt_out(term: str, longer: Longer) -> str:
    found = _BEGINNING.fullmatch(term)
    words = longer(found[2]) if found else []
    if found is None or not words:
        return term
    return "(" + " OR ".join(f'"{found[1] or ""}{word}"' for word in words) + ")"


def _text_term(value: str, *, whole: bool) -> str:
    """Words in their order; the last may continue, unless the person closed it with a quote."""
    words = words_of(value)
    if not words:
        return ""
    return f'"{" ".join(words)}"' + ("" if whole else _CONTINUED)


def _facet_term(name: str, value: str) -> str:
    if name == "has" and value not in ("error", "compaction"):
        raise UsageError(f"Expected has:error or has:compaction, got has:{value}.")
    return f'"{facet(_FACETS[name], value)}"' + (_CONTINUED if name in _BEGINNINGS else "")
