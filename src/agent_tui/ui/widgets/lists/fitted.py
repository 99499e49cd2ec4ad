"""A text that is redrawn for whatever width it gets."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.widget import Widget


class Fitted(Widget):
    """Asks for its text with the cells there are; its height is the stylesheet's.

    Args:
        draw: gives the text for a width; ``refresh`` has it asked again.
    """

    def __init__(self, draw: Callable[[int], Content], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw = draw

    def render(self) -> Content:
        return self._draw(self.content_size.width)
