"""Statistics over every session: tokens, cost, tools, errors and compactions, from the index."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from agent_tui.core.cost import format_cost
from agent_tui.core.errors import UsageError

GroupBy: TypeAlias = Literal["day", "model", "project", "agent", "tool"]
GROUPS: tuple[GroupBy, ...] = get_args(GroupBy)
_KEYS: dict[GroupBy, str] = {
    "day": "days.day",
    "model": "coalesce(nullif(days.model, ''), 'unknown')",
    "project": "coalesce(nullif(files.cwd, ''), 'unknown')",
    "agent": "files.source",
}


@dataclass(frozen=True, slots=True)
class Statistic:
    """One row: a day, model, project, agent or tool, and what was counted there.

    ``cost`` is in dollars, without ``unpriced_tokens``: those of models whose price is not known.
    A tool has calls and errors only.
    """

    name: str
    sessions: int = 0
    prompts: int = 0
    replies: int = 0
    calls: int = 0
    errors: int = 0
    compactions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Everything that was sent and received."""
        return self.input_tokens + self.output_tokens


def cost_of(each: Statistic) -> str:
    """The cost for people; a plus where the price of some tokens is not known."""
    if each.unpriced_tokens and not each.cost:
        return "unknown"
    return format_cost(each.cost) + ("+" if each.unpriced_tokens else "")


def statistics(base: sqlite3.Connection, by: str, since: str = "") -> list[Statistic]:
    """Rows by day (oldest first), or by anything else (most tokens or calls first).

    Args:
        base: the index.
        by: one of GROUPS.
        since: an RFC 3339 day; empty for everything. Tools are counted over all days.

    Raises:
        UsageError: there is no such grouping.
    """
    if by == "tool":
        return [
            Statistic(name=row[0], sessions=row[1], calls=row[2], errors=row[3])
            for row in base.execute(_TOOLS)
        ]
    if by not in _KEYS:
        raise UsageError(f"Expected one of {', '.join(GROUPS)}, got {by!r}.")
    order = "1" if by == "day" else "sum(input) + sum(output) DESC, 4 DESC"
    statement = _DAYS.format(key=_KEYS[by], order=order)
    return [Statistic(*row) for row in base.execute(statement, (since,))]


_DAYS = """SELECT {key}, count(DISTINCT files.session), sum(prompts), sum(replies), sum(calls),
    sum(errors), sum(compactions), sum(input), sum(output), sum(cached), sum(cost),
    sum(unpriced)
    FROM days JOIN files ON files.id = days.file
    WHERE days.day >= ? GROUP BY 1
    HAVING total(prompts + replies + calls + compactions + input + output) > 0
    ORDER BY {order}"""
_TOOLS = """SELECT tool, count(DISTINCT files.session), sum(calls), sum(errors)
    FROM tools JOIN files ON files.id = tools.file GROUP BY 1 ORDER BY 3 DESC"""
