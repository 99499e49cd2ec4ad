"""The text field of the prompt: it asks its owner what a key or a paste means first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message

from agent_tui.core.text import late_pattern

if TYPE_CHECKING:
    from textual.css.types import CSSLocation
    from textual.widgets import TextArea

    from agent_tui.ui.widgets.prompt.vim import Vim, VimResult

_REST_SECONDS = 5.0
_PATH_START = late_pattern(r"(?:^|(?<=[\s(\"'`]))@([^\s@]*)\Z")
_COLOURS_CODE = "tree_sitter"


def _import_text_area() -> Any:
    """Textual's text field without the parsers that colour code: what is typed here is a text."""
    modules: dict[str, Any] = sys.modules
    is_loaded = _COLOURS_CODE in modules
    modules.setdefault(_COLOURS_CODE, None)  # which says that it is not installed
    try:
        from textual.widgets import TextArea
    finally:
        if not is_loaded:
            del modules[_COLOURS_CODE]
    return TextArea


if not TYPE_CHECKING:
    TextArea = _import_text_area()

_EDITING: list[BindingType] = [
    each for each in TextArea.BINDINGS if isinstance(each, Binding) and each.action != "undo"
]


_FOLDED = "[paste #"
_MOST_UNFOLDED = 200_000


class Prompt(TextArea, inherit_bindings=False):
    """A plain multi-line field.

    Args:
        take_key: called with each key before the field acts; True means it was dealt with.
        take_paste: called with what was pasted; the field inserts nothing by itself.
        unfold: gives a text with its folded pastes whole.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *_EDITING,
        Binding(
            "ctrl+j,shift+enter,alt+enter,ctrl+enter",
            "new_line",
            "New line",
            show=False,
            id="prompt-new-line",
        ),
        Binding("ctrl+o", "unfold", "Unfold pastes", show=False, id="prompt-unfold"),
        Binding("ctrl+underscore,super+z", "undo", "Undo typing", show=False, id="prompt-undo"),
    ]

    class ModeChanged(Message):
        """With Vim's keys: they are typed from now on, or are commands."""

    def __init__(
        self,
        take_key: Callable[[str], bool],
        take_paste: Callable[[str], None],
        unfold: Callable[[str], str] = str,
    ) -> None:
        super().__init__(soft_wrap=True, highlight_cursor_line=False, tab_behavior="focus")
        self.match_cursor_bracket = False
        self._take_key = take_key
        self._take_paste = take_paste
        self._unfold = unfold
        self._was_used = True
        self._rests = False
        self._vim: Vim | None = None

    def _get_default_css(self) -> list[tuple[CSSLocation, str, int, str]]:
        """All but Textual's for a TextArea: our sheet says what is seen of it in fewer rules."""
        return [each for each in super()._get_default_css() if each[1] != TextArea.DEFAULT_CSS]

    def on_mount(self) -> None:
        self.set_interval(_REST_SECONDS, self._rest_unless_used)

    def _rest_unless_used(self) -> None:
        """Stop the cursor blinking while nobody types: it is most of what an idle program costs."""
        if not self._was_used and self.cursor_blink:
            self._rests, self.cursor_blink = True, False
        self._was_used = False

    def _wake(self) -> None:
        self._was_used = True
        if self._rests:
            self._rests, self.cursor_blink = False, True

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Restyle nothing: only the frame looks different, and Textual handles that."""

    def on_focus(self) -> None:
        self._wake()

    async def on_key(self, event: events.Key) -> None:
        self._wake()
        if self._take(event.key):
            event.stop()
            event.prevent_default()
        elif event.key.startswith("alt+"):
            event.prevent_default()  # many terminals send the letter along: it is a command's key

    def _take(self, key: str) -> bool:
        """Offer a key to Vim where it commands, to the owner, and an Esc left over to Vim again."""
        if self.is_commanding and self._command(key):
            return True
        return self._take_key(key) or (key == "escape" and self._command(key))

    async def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._take_paste(event.text)

    def action_paste(self) -> None:
        self._take_paste(self.app.clipboard)

    def action_new_line(self) -> None:
        """Continue on another line."""
        if not self.read_only:
            self.insert("\n")

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Show the cursor; while an undo takes its line away, there is none for a moment.

        Textual asks for it then, where the scroll bar goes at the same time, and fails.
        """
        if self.cursor_location[0] >= self.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)

    def action_unfold(self) -> None:
        """Show folded pastes whole, to read and edit them; undoing it folds them again."""
        self.set_text(self._unfold(self.text))

    @property
    def can_unfold(self) -> bool:
        """Whether there is a folded paste, and not too much of it for the field."""
        text = self.text
        if self.read_only or _FOLDED not in text:
            return False
        return text != (whole := self._unfold(text)) and len(whole) <= _MOST_UNFOLDED

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "unfold":  # else the key is the conversation's
            return self.can_unfold
        return super().check_action(action, parameters)

    def use_vim(self) -> None:
        """Take Vim's keys; the field begins with what is typed."""
        from agent_tui.ui.widgets.prompt.vim import Vim

        self._vim = self._vim or Vim()

    @property
    def is_commanding(self) -> bool:
        """Whether keys are Vim's commands now."""
        return self._vim is not None and self._vim.mode == "normal"

    def takes_esc_before(self, key: str) -> bool:
        """With Vim's keys, while one types: but where nothing is typed, a command keeps its key."""
        if self._vim is None or self.is_commanding:
            return False
        return bool(self.text) or key not in self.screen.active_bindings

    def begin_typing(self) -> None:
        """Switch to insert mode if Vim's keys are in use."""
        if self._vim is not None and self.is_commanding:
            self._vim.mode = "insert"
            self.post_message(self.ModeChanged())

    def _command(self, key: str) -> bool:
        """Let Vim take a key; False where it is none of Vim's."""
        if self._vim is None or self.read_only:
            return False
        was_commanding = self.is_commanding
        row, column = self.cursor_location
        cursor = sum(len(line) + 1 for line in self.document.lines[:row]) + column
        result = self._vim.take(key, self.text, cursor)
        if result is not None:
            self._carry_out(result)
        if self.is_commanding != was_commanding:
            self.post_message(self.ModeChanged())
        return result is not None

    def _carry_out(self, result: VimResult) -> None:
        match result.pass_on:
            case "up" | "down":
                self._take_key(result.pass_on)
            case "undo":
                self.undo()
            case "redo":
                self.redo()
            case _:
                if result.text != self.text:
                    self.replace(result.text, (0, 0), self.document.end)
                before = result.text[: result.cursor]
                self.move_cursor((before.count("\n"), len(before) - before.rfind("\n") - 1))

    def set_text(self, text: str, *, at_end: bool = True) -> None:
        """Replace everything, as one step that can be undone."""
        if not text:
            self.begin_typing()
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end if at_end else (0, len(self.document.get_line(0))))

    def delete_token(self, token_before: Callable[[str, int], str]) -> bool:
        """Delete the token of a folded paste before the cursor; False if there is none.

        On the empty line that follows one, that line goes with it.
        """
        row, column = end = self.cursor_location
        if row and not self.document.get_line(row):
            row, column = row - 1, len(self.document.get_line(row - 1))
        token = token_before(self.document.get_line(row), column)
        if not token or self.selected_text:
            return False
        self.delete((row, column - len(token)), end)
        return True

    @property
    def line_before_cursor(self) -> str:
        """What stands before the cursor on its line."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    @property
    def path_prefix(self) -> str | None:
        """What is typed of a path behind an ``@``; None where the cursor is in no path."""
        match = _PATH_START.search(self.line_before_cursor)
        return match.group(1) if match else None

    def complete_path(self, path: str) -> bool:
        """Put a path in place of what is typed of it; whether it is a file, and so complete."""
        row, column = self.cursor_location
        start = column - len(self.path_prefix or "")
        is_file = not path.endswith("/")
        self.replace(f"{path} " if is_file else path, (row, start), (row, column))
        return is_file

    @property
    def is_on_first_line(self) -> bool:
        """Whether Up has nowhere to go, wrapped lines counted."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def is_on_last_line(self) -> bool:
        """Whether Down has nowhere to go, wrapped lines counted."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)
