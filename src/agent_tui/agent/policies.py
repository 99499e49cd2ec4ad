"""What may end a turn before its answer: small objects that the loop asks, one for each limit."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Protocol

from agent_tui.core.arguments import read_arguments
from agent_tui.core.cost import format_cost
from agent_tui.core.dataclass import dataclass
from agent_tui.core.dmail import DMail
from agent_tui.core.events import TurnEnd
from agent_tui.core.messages import ToolCall
from agent_tui.core.usage import Usage

_LONG_CHARS = 100_000
_CONTINUE = "Send “continue” to go on."

Price = Callable[[Usage], float]
"""What a usage costs in dollars; 0 where nobody knows."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends, with a sentence for people unless it ends with its answer."""

    end: TurnEnd
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """How far a turn has come: its steps, its time, and what its model calls took."""

    turn: int
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long the turn has been running."""
        return time.monotonic() - self.began


class Policy(Protocol):
    """Says before each step whether the turn must end instead."""

    def check(self, progress: Progress) -> Ending | None:
        """The end that the turn must come to now; None when it may continue."""
        ...


@dataclass(frozen=True, slots=True)
class StepLimit:
    """So many model calls in one turn."""

    most: int

    def check(self, progress: Progress) -> Ending | None:
        """Ends the turn after the last step that is allowed."""
        if progress.steps < self.most:
            return None
        return Ending("max_steps", f"Step limit reached ({self.most}). {_CONTINUE}")


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """So many seconds for one turn; a step that runs is not cut short."""

    seconds: float

    def check(self, progress: Progress) -> Ending | None:
        """Ends the turn at the first step that would begin after the limit."""
        if progress.seconds < self.seconds:
            return None
        return Ending("limit", f"Time limit reached ({self.seconds:g} s for one turn). {_CONTINUE}")


@dataclass(frozen=True, slots=True)
class TokenLimit:
    """So many tokens, read and written, in one turn."""

    tokens: int

    def check(self, progress: Progress) -> Ending | None:
        """Ends the turn once its calls have taken that much."""
        if progress.usage.total_tokens < self.tokens:
            return None
        return Ending("limit", f"Token limit reached ({self.tokens:,} for one turn). {_CONTINUE}")


@dataclass(frozen=True, slots=True)
class PriceLimit:
    """So many dollars for one turn."""

    dollars: float
    price: Price

    def check(self, progress: Progress) -> Ending | None:
        """Ends the turn once its calls have cost that much."""
        if self.price(progress.usage) < self.dollars:
            return None
        limit = format_cost(self.dollars)
        return Ending("limit", f"Cost limit reached ({limit} for one turn). {_CONTINUE}")


@dataclass(frozen=True, slots=True)
class ParentLimits:
    """The limits of the turn that a subagent works for; its own calls count towards them."""

    check_parent: Callable[[], Ending | None]

    def check(self, progress: Progress) -> Ending | None:
        """Ends the subagent's turn when its parent's must end."""
        return self.check_parent()


@dataclass(slots=True)
class Repetition:
    """Notices an agent that makes the same calls again and again: it is told, then stopped.

    Other calls in between, such as an edit between two test runs, are no repetition.
    """

    tell_at: int = 3
    stop_at: int = 5
    _last: tuple[object, ...] = ()
    _times: int = 0
    _mails: Counter[DMail] = field(default_factory=Counter)

    def watch_dmail(self, dmail: DMail) -> Ending | None:
        """Count a D-Mail before it is carried out; returns the end when it repeats too often.

        The agent that receives it has forgotten the first, so a warning would not reach it.
        """
        self._mails[dmail] += 1
        if (times := self._mails[dmail]) < self.tell_at:
            return None
        return Ending(
            "repetition", f"Stopped: the agent sent itself the same D-Mail {times} times in a turn."
        )

    def watch(self, calls: Sequence[ToolCall]) -> str | Ending | None:
        """Count the calls of a step; returns None, a warning for the agent, or the end."""
        made = tuple((call.name, _canonical(call.arguments)) for call in calls)
        self._times = self._times + 1 if made and made == self._last else 1
        self._last = made
        if not made or self._times < self.tell_at:
            return None
        names = ", ".join(dict.fromkeys(call.name for call in calls))
        if self._times >= self.stop_at:
            return Ending(
                "repetition",
                f"Stopped: the agent called {names} {self._times} times "
                "in a row with the same arguments.",
            )
        return (
            f"You have called {names} {self._times} times in a row with the same arguments. "
            "The result will not change. Do something else, or say what blocks you."
        )


def _canonical(arguments: str) -> str:
    if len(arguments) > _LONG_CHARS:  # too slow to parse, and a repeated call repeats the text
        return arguments
    fields = read_arguments(arguments)
    return repr(sorted(fields.items())) if fields else arguments
