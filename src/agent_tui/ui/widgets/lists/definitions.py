"""Terms and what they mean, with a hanging indent at any width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static


@dataclass(frozen=True, slots=True)
class Definition:
    """One term; ``note`` is a short aside such as a key, ``meaning`` may be long.

    ``aside`` follows the meaning, quietly. A definition without a meaning is a heading.
    """

    term: str
    meaning: str = ""
    note: str = ""
    aside: str = ""


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
        self._columns = list(_columns_of(definitions))
        self._laid_out: tuple[int, list[Content]] = 0, []

    def rows_at(self, width: int) -> int:
        """How many rows it takes in ``width`` cells."""
        return len(self._lines_at(width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows it takes in ``width`` cells: layout and text must use the same width."""
        return self.rows_at(width)

    def render(self) -> Content:
        """All lines in the width that there is."""
        return Content("\n").join(self._lines_at(self.content_size.width))

    def _lines_at(self, width: int) -> list[Content]:
        if width != self._laid_out[0]:
            pairs = zip(self._definitions, self._columns, strict=True)
            lines = [line for each, columns in pairs for line in _lay_out(each, *columns, width)]
            self._laid_out = width, lines
        return self._laid_out[1]


def _columns_of(definitions: Sequence[Definition]) -> Iterator[tuple[int, int]]:
    """Cells for the term and the note of each: parts without notes keep no room for them.

    Terms take as much in every part, so that there are no more columns than there must be.
    """
    parts: list[list[Definition]] = [[]]
    for each in definitions:
        if not each.meaning:
            parts.append([])
        parts[-1].append(each)
    term = max((len(each.term) for each in definitions if each.meaning), default=0) + 2
    widest = max((len(each.note) + 2 for each in definitions if each.note), default=0)
    for part in parts:
        yield from [(term, widest if any(each.note for each in part) else 0)] * len(part)


def _lay_out(definition: Definition, term: int, note: int, width: int) -> Iterator[Content]:
    if not definition.meaning:
        yield Content.styled(definition.term, "bold $foreground")
    else:
        head = Content.assemble(
            (definition.term.ljust(term), "$user"), (definition.note.ljust(note), "$muted")
        )
        indent = term + note
        if width < indent + 24:
            yield head
            head, indent = Content("  "), 2
        meaning = Content.assemble(definition.meaning, (definition.aside, "$faint"))
        for place, line in enumerate(meaning.wrap(max(10, width - indent))):
            yield Content.assemble(head if place == 0 else " " * indent, line)
