"""What subagents do, as the last rows of the calls that started them."""

from __future__ import annotations

from collections import deque
from dataclasses import field

from agent_tui.core.arguments import show_arguments
from agent_tui.core.dataclass import dataclass
from agent_tui.core.events import (
    Failed,
    StepBegan,
    StepRetried,
    SubagentEvent,
    TextDelta,
    ToolStarted,
    TurnFinished,
)
from agent_tui.core.system_notes import SUBAGENT_SESSION
from agent_tui.core.text import first_line, format_count
from agent_tui.ui.blocks import ToolState

_MOST_LINES = 12
_LONGEST = 160


def tells_of_subagent(text: str) -> bool:
    """Whether the text of a block is a call whose subagent has a session to read."""
    return text.startswith("task ") and SUBAGENT_SESSION.search(text) is not None


@dataclass(slots=True)
class _Progress:
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_LINES))
    answer: str = ""

    def end_answer(self) -> None:
        """What was said stands above what is done next."""
        if said := first_line(self.answer.strip(), _LONGEST):
            self.lines.append(said)
        self.answer = ""

    def text(self) -> str:
        said = [first_line(self.answer, _LONGEST)] if self.answer.strip() else []
        return "\n".join([*self.lines, *said])


class SubagentLines:
    """Follows the subagents of a turn; each is known by the call that started it."""

    def __init__(self) -> None:
        self._progress: dict[str, _Progress] = {}

    def hear(self, nested: SubagentEvent) -> str:
        """What to show under the call now; empty where the event changes nothing."""
        progress = self._progress.setdefault(nested.source, _Progress())
        match nested.event:
            case TextDelta(text):
                progress.answer += text
            case StepBegan():
                progress.answer = ""
            case ToolStarted(call):
                progress.end_answer()
                said = " ".join(show_arguments(call.arguments).values())
                progress.lines.append(f"→ {call.name} {first_line(said, _LONGEST)}")
            case StepRetried(_, _, reason) | Failed(reason):
                progress.lines.append(first_line(reason, _LONGEST))
            case TurnFinished(_, end, steps):
                progress.lines.append(f"{nested.name}: {end} after {format_count(steps, 'step')}")
            case _:
                return ""
        return progress.text()

    def forget(self) -> None:
        """The turn is over."""
        self._progress.clear()


class SubagentWaits:
    """Which subagents wait for a person: the one that asks, and those queued behind a request."""

    def __init__(self) -> None:
        self._asking = ""
        self._queued: tuple[str, ...] = ()

    def ask(self, source: str) -> None:
        """The person is asked by this one now; empty for the agent itself."""
        self._asking = source

    def answer(self, source: str) -> ToolState:
        """What a subagent does after an answer: it may have asked for more than one thing."""
        self._asking = ""
        return "approval" if source in self._queued else "running"

    def queue(self, sources: tuple[str, ...]) -> dict[str, ToolState]:
        """Which subagents started or stopped waiting, by the calls that started them."""
        before, self._queued = self._queued, sources
        ceased: dict[str, ToolState] = dict.fromkeys(
            {*before} - {*sources, self._asking}, "running"
        )
        return ceased | dict.fromkeys({*sources} - {*before}, "approval")
