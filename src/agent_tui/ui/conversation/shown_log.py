"""What of the open session's log is in the timeline."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentTuiError

if TYPE_CHECKING:
    from agent_tui.core.records import Record
    from agent_tui.history.view import SessionView
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.runtime.starting.glimpse import Glimpse
    from agent_tui.ui.conversation.facts import SessionFacts
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.notices import Notices
    from agent_tui.ui.conversation.panes import Panes
    from agent_tui.ui.conversation.wire_view import WireView

_EARLIER_RECORDS = 2_000
"""How much of what a compaction took out stays on screen; the archive has all of it."""
_BEGINNING = 64
"""Records among which the compaction stands that a log begins with."""


class ShownLog:
    """Loads the log into the timeline, and loads it again when it was replaced.

    Attributes:
        shows_end: whether only the end of the session is there, which is being opened.
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
        self._to_come: Sequence[Record] = ()
        self._shown: Sequence[Record] = ()
        self.shows_end = False

    def show_end(self, glimpse: Glimpse) -> None:
        """Show the end of a session that is still to be opened; ``load`` adds what is above it."""
        if glimpse.records:
            self._panes.timeline.remember_folds(glimpse.folds)
            self._panes.timeline.load(glimpse.records)
            self._panes.show_conversation(shown=True)
            self.shows_end = True

    def load(self) -> None:
        """Show the session as its log is now; what its compactions took out of it comes later."""
        self._load(())

    def _load(self, earlier: Sequence[Record], *, is_compacted: bool = False) -> None:
        session = self._holder.session
        if session is None:
            return
        self._earlier, self._shown = earlier, session.view.records
        if self.shows_end:
            self._panes.timeline.load_whole(session.view.shown_records)
        else:
            timeline = self._panes.timeline
            load = timeline.load_compacted if is_compacted else timeline.load
            load(session.view.shown_records, earlier)
        self.shows_end = False
        if cut_off := session.cut_off:
            self._notices.notice(cut_off)
        self.view.forget()
        self._facts.show(session)
        self._panes.show_conversation(shown=not session.view.is_empty)
        self._to_come = ()
        if not earlier and not session.view.is_empty:
            self._panes.timeline.run_worker(
                self._read_earlier(session), group="earlier", exclusive=True, exit_on_error=False
            )

    async def _read_earlier(self, session: LiveSession) -> None:
        """Read what the newest compaction took out of the log, and show it, folded."""
        with suppress(AgentTuiError, OSError):
            taken = await _before_compactions(session.view)
            if session is self._holder.session and not self._earlier:
                self._to_come = taken
                self._show_earlier(session)

    def _show_earlier(self, session: LiveSession) -> None:
        if self._to_come and self._panes.timeline.load_earlier(
            session.view.shown_records, self._to_come
        ):
            self._earlier, self._to_come = self._to_come, ()

    def load_compacted(self, *, is_shorter: bool) -> None:
        """Show the log as it is after a compaction, below what it took out: folded, if anything."""
        if not is_shorter:
            self._load((), is_compacted=True)
            return
        session = self._holder.session
        now = session.view.records if session else ()
        latest = self._shown[-_EARLIER_RECORDS:]
        earlier = _until_common_end([*self._earlier, *latest][-_EARLIER_RECORDS:], now)
        self._load(earlier, is_compacted=True)

    def settle(self) -> None:
        """Show what was written meanwhile in place of the live blocks."""
        self._panes.timeline.settle()
        self.view.forget()
        if self._holder.session is not None:
            self._show_earlier(self._holder.session)


async def _before_compactions(view: SessionView) -> Sequence[Record]:
    """The last records that the compactions of a log archived, the newest last; each is told once.

    Raises UnknownArchive: one of those archives was deleted.
    """
    earlier: Sequence[Record] = ()
    now = await asyncio.to_thread(_beginning, view)
    read = {0}  # a log that was edited may lead in a circle
    while len(earlier) < _EARLIER_RECORDS and (archive := _newest_compaction(now)) not in read:
        read.add(archive)
        view = await view.open_archive(archive)
        older = await asyncio.to_thread(_end, view)
        earlier = [*_until_common_end(older, now), *earlier]
        now = await asyncio.to_thread(_beginning, view)
    return earlier[-_EARLIER_RECORDS:]


def _beginning(view: SessionView) -> Sequence[Record]:
    return list(view.records[:_EARLIER_RECORDS])


def _end(view: SessionView) -> Sequence[Record]:
    return list(view.records[-_EARLIER_RECORDS:])


def _newest_compaction(records: Sequence[Record]) -> int:
    """The archive of the compaction that a log begins with; 0 where it begins with none."""
    from agent_tui.core.records import CompactionRecord  # no first frame needs it

    made = [each.archive for each in records[:_BEGINNING] if isinstance(each, CompactionRecord)]
    return made[-1] if made else 0


def _until_common_end(earlier: Sequence[Record], now: Sequence[Record]) -> Sequence[Record]:
    """Earlier records without the messages at their end that the log still holds: seen once.

    The log holds them where it begins; more was said since.
    """
    from agent_tui.core.records import is_message  # no first frame needs it

    messages = [each for each in now[:_EARLIER_RECORDS] if is_message(each)]
    last = next((each for each in reversed(earlier) if is_message(each)), None)
    while messages and messages[-1] != last:
        messages.pop()
    stop = len(earlier)
    for index in range(len(earlier) - 1, -1, -1):
        if not is_message(earlier[index]):
            continue
        if not messages or earlier[index] != messages.pop():
            return earlier[:stop]
        stop = index
    return ()
