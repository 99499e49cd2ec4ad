"""What the screens over the conversation share: a heading, key hints, and errors as sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import ExitStack
from typing import ClassVar, TypeVar

from textual import events
from textual.binding import Binding

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.text import clean
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import spell_key
from agent_tui.ui.commands.table import COMMANDS, name_keys_of_hint
from agent_tui.ui.screens.dismissed_once import DismissedOnce
from agent_tui.ui.screens.fitted_screen import FittedScreen
from agent_tui.ui.screens.remapping import Remappable
from agent_tui.ui.widgets.bars.heading import Heading
from agent_tui.ui.widgets.bars.key_hints import KeyHints
from agent_tui.ui.widgets.compositing import SparingScreen

Answer = TypeVar("Answer")
Result = TypeVar("Result")

PANEL_SHEETS = [
    stylesheet("widgets/rows.tcss"),
    stylesheet("widgets/line_input.tcss"),
    stylesheet("widgets/key_hints.tcss"),
    stylesheet("screens/panel.tcss"),
]
"""The stylesheets of everything a panel is made of; its own comes after them."""

NARROW = 90
"""Below this many cells two things no longer fit side by side."""

WITH_PREVIEW = [(0, "-narrow"), (110, "-wide")]
"""The breakpoints of lists that have a preview beside them."""

ONE_PAGE = "-page"
"""The class of panels of one column, which stands in the middle of a wide screen."""

_BREATH_SECONDS = 0.001


def tell_order(count: int) -> str:
    """How many rows a list has, and in which order: what the heading of a list of the past says."""
    return f"{count:,}, newest first" if count > 1 else f"{count:,}" if count else ""


class Panel(Remappable, DismissedOnce[Result], FittedScreen[Result], SparingScreen[Result]):
    """A full screen over the conversation; Esc leaves it without a result."""

    BINDINGS = [
        Binding("escape", "leave", "back", key_display="Esc"),
        Binding("question_mark,f1", "show_keys", "keys", key_display="?"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]
    ABOUT_ROWS: ClassVar[frozenset[str]] = frozenset()
    """Actions that need something in the list; they are not offered while ``has_rows`` is false."""

    def __init__(self) -> None:
        super().__init__()
        self._was_shown = False
        self._is_styled = False
        self._until_sized = ExitStack()
        self._holds_frame = False

    def on_compose(self) -> None:
        """Set the classes for this size before there are children, which would all be restyled.

        The screen itself was styled before its own stylesheets were read.
        """
        for points, size in zip(
            (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), self.app.size, strict=True
        ):
            name = next(name for least, name in reversed(points) if size >= least)
            self.add_class(name, update=False)
        sheets = self.app.stylesheet
        sheets.apply(self)
        self._is_styled = all(sheets.has_source(str(path)) for path in self.css_path)

    async def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Let keys through between mounting and drawing, which hold the loop for a while each."""
        # What was just mounted was just styled, unless it came before its stylesheets: from
        # Python 3.12 on tasks start at once, and a screen is composed while it is pushed.
        event.refresh_styles &= self._was_shown or not self._is_styled
        if not self._was_shown and self.outer_size != self.app.size:
            # Drawn once its widgets know their sizes: what is drawn before is drawn over at once.
            self._until_sized.enter_context(self.app.batch_update())
            self._holds_frame = True
        self._was_shown = True
        await asyncio.sleep(_BREATH_SECONDS)

    async def on_resize(self) -> None:
        """Let keys through before all is laid out, and the first time before all is drawn."""
        await asyncio.sleep(_BREATH_SECONDS)
        self.call_next(self._let_draw)

    async def _let_draw(self) -> None:
        await asyncio.sleep(_BREATH_SECONDS)
        if not self._holds_frame:
            return
        try:
            await self.draw_in_parts()
        finally:  # an error of one widget must not keep the app from drawing at all
            self._end_hold()

    def on_unmount(self) -> None:
        """Let the app draw, though this was left before it was laid out."""
        self._end_hold()

    def _end_hold(self) -> None:
        self._holds_frame = False
        self._until_sized.close()

    def heading(self) -> Heading:
        """The first line of the panel; fill it with ``show_heading``."""
        return Heading()

    def key_hints(self) -> KeyHints:
        """The last line of the panel."""
        return KeyHints()

    def show_heading(self, title: str, *notes: str) -> None:
        """Say what the panel shows, and how much of it; nothing where it is being closed."""
        for heading in self.query(Heading):
            heading.show(title, *notes)

    def draw_heads(self) -> None:
        """Draw the heads of the columns again; nothing where it is being closed."""
        for heads in self.query("#heads"):
            heads.refresh()

    async def attempt(self, act: Awaitable[Answer]) -> Answer | None:
        """Do something with the engine; a failure is shown, and None returned."""
        try:
            return await act
        except AgentTuiError as error:
            self.tell(str(error), is_error=True)
            return None

    def tell(self, sentence: str, *, is_error: bool = False) -> None:
        """Show a sentence for some seconds in place of the key hints; markup in it is not read."""
        for hints in self.query(KeyHints):
            hints.say(clean(sentence), is_error=is_error)

    async def on_key(self, event: events.Key) -> None:
        """Say where a key of the conversation works, instead of silently ignoring it here."""
        if event.key in self.active_bindings:
            return
        chosen = self.app._keymap
        keys = (chosen.get(each.binding_id, each.key).split(",") for each in COMMANDS)
        if any(event.key in some for some in keys):
            label = spell_key(event.key)
            back = name_keys_of_hint(self.app, "Press {panel-leave:Esc} to go back.")
            self.tell(f"{label} works in the conversation. {back}")

    def has_rows(self) -> bool:
        """Whether the list of the panel holds anything; each panel with a list says so."""
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in self.ABOUT_ROWS and not self.has_rows():
            return False
        return super().check_action(action, parameters)

    def action_show_keys(self) -> None:
        """Say what every key does here."""
        from agent_tui.ui.screens.dialogs.keys import KeysScreen

        self.app.push_screen(KeysScreen(self))

    def action_leave(self) -> None:
        self.dismiss(None)
