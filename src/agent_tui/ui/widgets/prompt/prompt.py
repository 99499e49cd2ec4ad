"""The text field of the prompt: it asks its owner what a key or a paste means first."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import TextArea

_REST_SECONDS = 5.0


class Prompt(TextArea):
    """A plain multi-line field.

    Args:
        take_key: called with each key before the field acts; True means it was dealt with.
        take_paste: called with what was pasted; the field inserts nothing by itself.
    """

    def __init__(self, take_key: Callable[[str], bool], take_paste: Callable[[str], None]) -> None:
        super().__init__(
            compact=True, soft_wrap=True, highlight_cursor_line=False, tab_behavior="focus"
        )
        self.match_cursor_bracket = False
        self._take_key = take_key
        self._take_paste = take_paste
        self._was_used = True
        self._rests = False

    def on_mount(self) -> None:
        self.set_interval(_REST_SECONDS, self._rest_unless_used)

    def _rest_unless_used(self) -> None:
        """Stop blinking where nobody types: it is most of what an idle program costs."""
        if not self._was_used and self.cursor_blink:
            self._rests, self.cursor_blink = True, False
        self._was_used = False

    def _wake(self) -> None:
        self._was_used = True
        if self._rests:
            self._rests, self.cursor_blink = False, True

    def on_focus(self) -> None:
        self._wake()

    async def on_key(self, event: events.Key) -> None:
        self._wake()
        if self._take_key(event.key):
            event.stop()
            event.prevent_default()
        elif event.key.startswith("alt+"):
            event.prevent_default()  # many terminals send the letter along: it is a command's key

    async def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._take_paste(event.text)

    def action_paste(self) -> None:
        self._take_paste(self.app.clipboard)

    def set_text(self, text: str, *, at_end: bool = True) -> None:
        """Replace everything, as one step that can be undone."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end if at_end else (0, len(self.document.get_line(0))))

    @property
    def line_before_cursor(self) -> str:
        """What stands before the cursor on its line."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    @property
    def is_on_first_line(self) -> bool:
        """Whether Up has nowhere to go, wrapped lines counted."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def is_on_last_line(self) -> bool:
        """Whether Down has nowhere to go, wrapped lines counted."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)
