"""What an empty conversation shows: where it runs, with which model, and what to try."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from agent_tui.core.text import first_line

_KEYS = (
    ("F1", "keys and commands"),
    ("F2", "every session you ever had"),
    ("F3", "go back to a checkpoint"),
    ("F4", "compact the context, with a preview"),
)


class Welcome(Widget):
    """Fills the place of the timeline until the first message; a click on a suggestion takes it."""

    ALLOW_SELECT = False

    place: reactive[str] = reactive("", layout=True)
    model: reactive[str] = reactive("", layout=True)
    suggestions: reactive[tuple[str, ...]] = reactive((), layout=True)

    class Suggested(Message):
        """A suggestion was chosen."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def render(self) -> Content:
        lines = [Content.styled("agent-tui", "bold $assistant"), self._facts(), Content("")]
        if self.suggestions:
            lines.append(Content.styled("Try one of these, or ask anything:", "$muted"))
            lines += [_suggestion(number, text) for number, text in self._numbered()]
            lines.append(Content(""))
        if self.size.height >= len(lines) + len(_KEYS) or not self.suggestions:
            lines += [Content.assemble((f"  {k:<4}", "$user"), (w, "$muted")) for k, w in _KEYS]
        return Content("\n").join(lines)

    def _facts(self) -> Content:
        facts = [first_line(fact, 70) for fact in (self.model, self.place) if fact]
        return Content.styled(" · ".join(facts) or "starting …", "$muted")

    def _numbered(self) -> Sequence[tuple[int, str]]:
        return list(enumerate(self.suggestions, 1))

    def action_suggest(self, number: int) -> None:
        """Take suggestion ``number`` (from 1), where there is one."""
        if 0 < number <= len(self.suggestions):
            self.post_message(self.Suggested(self.suggestions[number - 1]))


def _suggestion(number: int, text: str) -> Content:
    line = Content.assemble(("  → ", "$faint"), first_line(text, 100))
    return line.stylize(f"@click=suggest({number})")
