"""Terms and what they mean, with a hanging indent at any width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static


@dataclass(frozen=True, slots=True)
class Definition:
    """One term; ``note`` is a short aside such as a key, ``meaning`` may be long.

    A definition without a meaning is a heading.
    """

    term: str
    meaning: str = ""
    note: str = ""


class Definitions(Static):
    """A list of definitions that wraps each meaning in its own column."""

    def __init__(
        self,
        definitions: Sequence[Definition],
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._definitions = definitions
        self._laid_out = 0
        terms = [each for each in definitions if each.meaning]
        self._term_width = max((len(each.term) for each in terms), default=0) + 2
        self._note_width = max((len(each.note) + 2 for each in terms if each.note), default=0)

    def on_resize(self) -> None:
        width = self.content_size.width
        if width == self._laid_out:  # only its height is new: that of what was laid out
            return
        self._laid_out = width
        lines = [line for each in self._definitions for line in self._lay_out(each, width)]
        self.update(Content("\n").join(lines))

    def _lay_out(self, definition: Definition, width: int) -> Iterator[Content]:
        if not definition.meaning:
            yield Content.styled(definition.term, "bold $foreground")
            return
        head = Content.assemble(
            (definition.term.ljust(self._term_width), "$user"),
            (definition.note.ljust(self._note_width), "$muted"),
        )
        indent = self._term_width + self._note_width
        if width < indent + 24:
            yield head
            head, indent = Content("  "), 2
        for place, line in enumerate(Content(definition.meaning).wrap(max(10, width - indent))):
            yield Content.assemble(head if place == 0 else " " * indent, line)
