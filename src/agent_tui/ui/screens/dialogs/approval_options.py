"""The answers to an approval, one to a row, with their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content

from agent_tui.core.text import first_line, reveal
from agent_tui.ui.screens.dialogs.typed_answers import (
    ALLOW_HOLD_SECONDS,
    REJECT_HOLD_SECONDS,
    WIDE_HOLD_SECONDS,
)
from agent_tui.ui.widgets.lists.rows import Rows

AnswerName: TypeAlias = Literal["once", "session", "reject", "feedback", "edit", "always"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the letter that gives it, and for how long the letter is held back."""

    name: AnswerName
    letter: str
    hold_seconds: float
    style: str = "$ok"


_ONCE = Answer("once", "y", ALLOW_HOLD_SECONDS)
_SESSION = Answer("session", "a", WIDE_HOLD_SECONDS)
_REJECT = Answer("reject", "n", REJECT_HOLD_SECONDS, "$danger")
_FEEDBACK = Answer("feedback", "w", REJECT_HOLD_SECONDS, "$danger")
_EDIT = Answer("edit", "e", ALLOW_HOLD_SECONDS)
_ALWAYS = Answer("always", "p", WIDE_HOLD_SECONDS)
_PLAN_LABELS: dict[AnswerName, str] = {
    "once": "Approve, ask before each edit",
    "session": "Approve and accept edits",
    "reject": "Keep planning",
    "feedback": "Keep planning with feedback",
}


class Options(Rows):
    """The answers; those that allow more say what it is, which can be narrowed.

    Args:
        offers: the rules that would allow more than this one action.
        can_edit: whether the command can be edited before it runs.
        can_keep: whether a rule can be kept for this folder.
        is_plan: whether the action is a plan, which is approved rather than allowed.
    """

    def __init__(
        self,
        offers: Sequence[str],
        *,
        can_edit: bool,
        can_keep: bool = False,
        is_plan: bool = False,
    ) -> None:
        self.answers = (
            *(_ONCE, _SESSION, _REJECT, _FEEDBACK),
            *([_EDIT] if can_edit else []),
            *([_ALWAYS] if can_keep else []),
        )
        super().__init__(count=len(self.answers), choose_on_click=True)
        self._offers = tuple(offers)
        self._is_plan = is_plan
        self._chosen = 0
        self._narrow_from = 10_000
        self._held, self._shows_letters = False, True
        self.is_drawn = False

    @property
    def rule(self) -> str:
        """The rule that would be allowed for more than this one action."""
        return self._offers[self._chosen] if self._offers else ""

    def row_of(self, name: AnswerName) -> int:
        """Where an answer stands."""
        return [answer.name for answer in self.answers].index(name)

    def keys(self) -> dict[str, int]:
        """The rows of the answers by the digits and letters that give them."""
        rows = enumerate(self.answers)
        return {key: row for row, answer in rows for key in (str(row + 1), answer.letter)}

    def told_keys(self) -> list[tuple[str, str]]:
        """The keys of each answer that count now, and what it says."""
        return [
            (f"{row}, {answer.letter}" if self._shows_letters else f"{row}", self._label(answer))
            for row, answer in enumerate(self.answers, 1)
        ]

    def narrow(self) -> None:
        """Offer the next rule in place of this one."""
        if self._offers:
            self._chosen = (self._chosen + 1) % len(self._offers)
            self.redraw()

    def hold(self, row: int) -> None:
        """Select an answer that a key chose, and that is held for a moment."""
        self.cursor, self._held = row, True
        self.redraw()

    def release(self, row: int | None = None) -> None:
        """No answer is held any more; select another one."""
        self.cursor, self._held = self.cursor if row is None else row, False
        self.redraw()

    def show_letters(self, *, shown: bool) -> None:
        """Whether the letters of the answers count now."""
        self._shows_letters = shown
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        on_rule = offset is not None and offset.y + round(self.scroll_y) == self.row_of("session")
        if on_rule and offset is not None and offset.x >= self._narrow_from:
            event.stop()
            event.prevent_default()
            self.narrow()

    def draw_row(self, index: int, width: int) -> Content:
        self.is_drawn = True
        answer = self.answers[index]
        pointer = "\u276f " if index == self.cursor else "  "
        has_more = answer.name == "session" and len(self._offers) > 1
        label = self._label(answer)
        # What would be allowed comes before the words of a key.
        forms = ("  Tab other scope", "  Tab") if has_more else ("",)
        room = width - 7 - cell_len(label)
        narrow = next((each for each in forms if len(each) <= room), forms[-1])
        room = max(8, width - 7 - len(narrow))
        if cell_len(label) > room:
            label = set_cell_size(label, room - 1) + "…"
        row = Content.assemble(
            (pointer, "bold $user"),
            (f"{index + 1} ", answer.style),
            label,
            (self._end(index), "$faint"),
        )
        if has_more:
            self._narrow_from = row.cell_length
        return Content.assemble(row, (narrow, "$muted"))

    def _end(self, index: int) -> str:
        if self._held:
            return " …" if index == self.cursor else ""
        return f"  {self.answers[index].letter}" if self._shows_letters else ""

    def _label(self, answer: Answer) -> str:
        if self._is_plan:
            return _PLAN_LABELS[answer.name]
        match answer.name:
            case "once":
                return "Allow once"
            case "session":
                return f"Allow {_say_rule(self.rule)} for this session"
            case "reject":
                return "Reject"
            case "feedback":
                return "Reject with feedback"
            case "edit":
                return "Edit, then run once"
            case "always":
                return f"Always allow {_say_rule(self.rule)} in this folder"


def _say_rule(rule: str) -> str:
    """A rule as people say it."""
    tool, _, rest = rule.partition("(")
    pattern = reveal(rest.removesuffix(")"))
    match tool, pattern:
        case "edits", "":
            return "all edits"
        case "edits", _:
            return f"edits {'in' if pattern.endswith('/') else 'of'} {pattern}"
        case _, "":
            return reveal(tool) or "this"
        case "run_command", _ if pattern.endswith("*"):
            return f"“{pattern[:-1].strip()} …”"
        case _:
            return f"“{first_line(pattern, 200)}”"
