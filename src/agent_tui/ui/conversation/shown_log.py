"""What of the open session's log is in the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.records import Record
    from agent_tui.ui.conversation.facts import SessionFacts
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.notices import Notices
    from agent_tui.ui.conversation.panes import Panes
    from agent_tui.ui.conversation.wire_view import WireView

_EARLIER_RECORDS = 2_000
"""How much of what a compaction took out stays on screen; the archive has all of it."""


class ShownLog:
    """Loads the log into the timeline, and loads it again when it was replaced.

    Attributes:
        view: shows in the timeline what happens in between; set together with the timeline.
    """

    view: WireView

    def __init__(
        self, panes: Panes, holder: SessionHolder, notices: Notices, facts: SessionFacts
    ) -> None:
        self._panes = panes
        self._holder = holder
        self._notices = notices
        self._facts = facts
        self._earlier: Sequence[Record] = ()
        self._shown: Sequence[Record] = ()
        self._shows_end = False

    def show_end(self, records: Sequence[Record]) -> None:
        """Show the end of a session that is still to be opened; ``load`` adds what is above it."""
        if records:
            self._panes.timeline.load(records)
            self._panes.show_conversation(shown=True)
            self._shows_end = True

    def load(self, earlier: Sequence[Record] = ()) -> None:
        """Show the session as its log is now, below what a compaction just took out of it."""
        session = self._holder.session
        if session is None:
            return
        self._earlier, self._shown = earlier, session.view.records
        if self._shows_end:
            self._panes.timeline.load_whole(session.view.shown_records)
        else:
            self._panes.timeline.load(session.view.shown_records, earlier=earlier)
        self._shows_end = False
        if cut_off := session.cut_off:
            self._notices.notice(cut_off)
        self.view.forget()
        self._facts.show(session)
        self._panes.show_conversation(shown=not session.view.is_empty)

    def load_compacted(self) -> None:
        """Show the log as it is after a compaction, below what it took out."""
        session = self._holder.session
        now = session.view.records if session else ()
        self.load(_until_common_end([*self._earlier, *self._shown][-_EARLIER_RECORDS:], now))

    def settle(self) -> None:
        """Show what was written meanwhile in place of the live blocks."""
        self._panes.timeline.settle()
        self.view.forget()


def _until_common_end(earlier: Sequence[Record], now: Sequence[Record]) -> Sequence[Record]:
    """Earlier records without the messages at their end that the log still holds: seen once."""
    from agent_tui.core.records import is_message  # no first frame needs it

    held = filter(is_message, reversed(now))
    stop = len(earlier)
    for index in range(len(earlier) - 1, -1, -1):
        if not is_message(earlier[index]):
            continue
        if earlier[index] != next(held, None):
            return earlier[:stop]
        stop = index
    return ()
