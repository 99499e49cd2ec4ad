"""Glob patterns in time that grows with the name, whatever the pattern: a model writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from agent_tui.core.errors import ToolError

LONGEST_PATTERN = 500
_MOST_CHOICES = 64
_BRACES = re.compile(r"\{([^{}]*)\}")
_TOKEN = re.compile(r"\*+|\?|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)


def matches(path: str, pattern: str) -> bool:
    """Whether a path fits a glob; a pattern without ``/`` is matched against the name alone.

    ``*`` and ``?`` stay within a folder, ``**/`` is any folders, ``[a-z]`` and ``{a,b}`` choose.

    Raises:
        ToolError: the pattern is too long or has too many choices.
    """
    if "/" not in pattern:
        path = path.rpartition("/")[2]
    names = path.split("/")
    return any(_fits(names, parts) for parts in _compile(pattern))


_Part = re.Pattern[str] | None
"""What one name must look like; None stands for any number of folders."""


@lru_cache(64)
def _compile(pattern: str) -> tuple[tuple[_Part, ...], ...]:
    if len(pattern) > LONGEST_PATTERN:
        raise ToolError(f"A glob may be {LONGEST_PATTERN} characters long; this one is longer.")
    pattern = pattern.removeprefix("./").removeprefix("/")
    if pattern == "**":
        pattern = "**/*"
    return tuple(tuple(_parts(choice)) for choice in _choices(pattern))


def _choices(pattern: str) -> list[str]:
    """The pattern once for each way to choose among its braces."""
    chosen = [pattern]
    while any(_BRACES.search(each) for each in chosen):
        chosen = [
            each[: found.start()] + choice + each[found.end() :] if found else each
            for each in chosen
            for found in [_BRACES.search(each)]
            for choice in (found[1].split(",") if found else [""])
        ]
        if len(chosen) > _MOST_CHOICES:
            raise ToolError(f"A glob may have {_MOST_CHOICES} choices; this one has more.")
    return chosen


def _parts(pattern: str) -> Iterator[_Part]:
    parts = pattern.split("/")
    for number, part in enumerate(parts):
        if part != "**":
            yield _compile_part(part)
            continue
        yield None
        if number == len(parts) - 1:
            yield _compile_part("*")


def _compile_part(part: str) -> re.Pattern[str]:
    """A name's pattern; each star takes the first place that fits, so nothing is tried twice."""
    pieces: list[str] = [""]
    for token in _TOKEN.findall(part):
        if token.startswith("*"):
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        else:
            pieces[-1] += _translate(token)
    first, *rest = pieces
    if not rest:
        return re.compile(f"{first}\\Z", re.DOTALL)
    *middle, last = rest
    atomic = "".join(f"(?>.*?{piece})" for piece in middle)
    return re.compile(f"{first}{atomic}.*{last}\\Z", re.DOTALL)


def _translate(token: str) -> str:
    if token == "?":
        return "."
    if token.startswith("[") and len(token) > 2:
        body = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
        negated = body[0] in "!^"
        try:
            re.compile(f"[{body}]")
        except re.error:
            return re.escape(token)
        return f"[^{body[1:]}]" if negated else f"[{body}]"
    return re.escape(token)


def _fits(names: list[str], parts: tuple[_Part, ...]) -> bool:
    """Whether names fit parts, by the set of parts that may come next."""
    states = _skip_folders({0}, parts)
    for name in names:
        after: set[int] = set()
        for state in states:
            part = parts[state] if state < len(parts) else _NOTHING
            if part is None:
                after.add(state)
            elif part.match(name):
                after.add(state + 1)
        states = _skip_folders(after, parts)
        if not states:
            return False
    return len(parts) in states


_NOTHING = re.compile(r"(?!)")


def _skip_folders(states: set[int], parts: tuple[_Part, ...]) -> set[int]:
    """The states with those behind a ``**``, which may stand for no folder at all."""
    for state in sorted(states):
        while state < len(parts) and parts[state] is None:
            state += 1
            states.add(state)
    return states
