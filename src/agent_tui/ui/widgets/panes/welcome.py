"""What an empty conversation shows: where it runs, with which model, and what to try."""

from __future__ import annotations

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

    place: reactive[str] = reactive("")
    model: reactive[str] = reactive("")
    instructions: reactive[str] = reactive("")
    suggestions: reactive[tuple[str, ...]] = reactive(())

    class Suggested(Message):
        """A suggestion was chosen."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def render(self) -> Content:
        height, width = self.content_size.height, self.content_size.width
        parts = [self._suggestion_lines(), self._name_lines(), _key_lines()]
        while len(parts) > 1 and sum(map(len, parts)) > height:
            parts.pop()
        order = [parts[1], parts[0], *parts[2:]] if len(parts) > 1 else parts
        lines = [line.truncate(width, ellipsis=True) for part in order for line in part]
        return Content("\n").join(lines)

    def _name_lines(self) -> list[Content]:
        facts = [
            first_line(fact, 200) for fact in (self.model, self.place, self.instructions) if fact
        ]
        return [
            Content.styled("agent-tui", "bold $assistant"),
            Content.styled(" · ".join(facts) or "starting …", "$muted"),
            Content(""),
        ]

    def _suggestion_lines(self) -> list[Content]:
        if not self.suggestions:
            return []
        return [
            Content.styled("Try one of these, or ask anything:", "$muted"),
            *(_suggestion(number, text) for number, text in enumerate(self.suggestions, 1)),
            Content(""),
        ]

    def action_suggest(self, number: int) -> None:
        """Take suggestion ``number`` (from 1), where there is one."""
        if 0 < number <= len(self.suggestions):
            self.post_message(self.Suggested(self.suggestions[number - 1]))


def _suggestion(number: int, text: str) -> Content:
    line = Content.assemble(("  → ", "$faint"), first_line(text, 100))
    return line.stylize(f"@click=suggest({number})")


def _key_lines() -> list[Content]:
    return [Content.assemble((f"  {key:<4}", "$user"), (what, "$muted")) for key, what in _KEYS]
