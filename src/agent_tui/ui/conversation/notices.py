"""What the program has to say to the user: failures, notices and hints, each in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.ui.blocks import Level
    from agent_tui.ui.conversation.panes import Panes

_HINT_SECONDS = 4
_WARNING_SECONDS = 12
"""A warning is long, and comes while the welcome is still new to the eye."""

SetTimer = Callable[[float, Callable[[], None]], object]


class Notices:
    """Shows the program's own messages to the user.

    Args:
        panes: where they are said.
        set_timer: calls a function after some seconds.
    """

    def __init__(self, panes: Panes, set_timer: SetTimer) -> None:
        self._panes = panes
        self._set_timer = set_timer
        self._hint = self._warning = ""
        self._hints = 0

    def failure(self, sentence: str) -> None:
        """Show what went wrong where it cannot be missed, in the conversation."""
        self._show(sentence, "error")
        if self._panes.has_timeline:
            self._panes.timeline.action_last()

    def mistake(self, sentence: str) -> None:
        """Show what is wrong with what was just asked for; it is kept only where it is long."""
        from agent_tui.ui.blocks import name_commands

        sentence = name_commands(sentence)
        if self._panes.prompt_box.frame.has_room_for(sentence):
            self.hint(sentence)
        else:
            self.failure(sentence)

    def notice(self, sentence: str) -> None:
        """Show a sentence of the program in the conversation."""
        self._show(sentence, "info")

    def warning(self, sentence: str) -> None:
        """Show what the user should know of; before anything was said, the welcome stays."""
        if self._panes.is_conversing:
            self._show(sentence, "warning")
            return
        self._warning = self._keep(sentence, "warning")
        self.hint(self._warning, _WARNING_SECONDS)

    def drop_warning(self) -> None:
        """Remove what was said beside the welcome: it stands in the conversation from here on."""
        self.drop(self._warning)

    def _show(self, sentence: str, level: Level) -> None:
        if self._panes.has_timeline:
            self._panes.show_conversation(shown=True)
            self._keep(sentence, level)
        else:
            self.hint(self._keep(sentence, level))

    def _keep(self, sentence: str, level: Level) -> str:
        """Put a sentence into the timeline, shown or not; returns it with the commands it means."""
        from agent_tui.ui.blocks import NoticeBlock, name_commands

        sentence = name_commands(sentence)
        if self._panes.has_timeline:
            self._panes.timeline.append(NoticeBlock(sentence, level))
        return sentence

    def hint(self, sentence: str, seconds: float = _HINT_SECONDS) -> None:
        """Show a sentence in the frame of the prompt for a few seconds."""
        self._panes.status.notice = self._hint = sentence
        self._hints += 1
        number = self._hints

        def drop() -> None:
            if number == self._hints:  # said again since, it stays its own seconds
                self.drop(sentence)

        self._set_timer(seconds, drop)

    def drop(self, sentence: str) -> None:
        """Remove a hint that is no longer true; any other stays."""
        if self._panes.status.notice == sentence:
            self._panes.status.notice = ""

    def drop_progress(self) -> None:
        """Clear the progress of what has finished; a hint stays for its few seconds."""
        if self._panes.status.notice != self._hint:
            self._panes.status.notice = ""
