"""The open session on the screen, and the objects that run, show and store things for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agent_tui.ui.conversation.drafts import DraftKeeper
from agent_tui.ui.conversation.facts import SessionFacts
from agent_tui.ui.conversation.holder import SessionHolder
from agent_tui.ui.conversation.notices import Notices
from agent_tui.ui.conversation.operation_runner import OperationRunner
from agent_tui.ui.conversation.prompts import Prompts
from agent_tui.ui.conversation.second_press import SecondPress
from agent_tui.ui.conversation.shown_log import ShownLog
from agent_tui.ui.conversation.wire_link import WireLink

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen
    from textual.worker import Worker

    from agent_tui.core.summary import CompactionReport
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.asking import Requests
    from agent_tui.ui.conversation.folds import FoldKeeper
    from agent_tui.ui.conversation.panes import Panes
    from agent_tui.ui.widgets.bars.gauge import TokenGauge
    from agent_tui.ui.widgets.bars.status_line import StatusLine
    from agent_tui.ui.widgets.panes.welcome import Welcome
    from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
    from agent_tui.ui.widgets.timeline.timeline import Timeline

_SECOND_ESCAPE_SECONDS = 1.0


class Conversation:
    """Puts sessions on the screen, one at a time; commands and keys act on it.

    Args:
        screen: where it is shown; its workers do the work.
        panes: the widgets.

    Attributes:
        holder: the engine and the open session.
        notices: say things to the user.
        facts: show what is known of the session around the conversation.
        log: what of the session is in the timeline.
        runner: runs turns and operations.
        drafts: keeps what is typed.
        prompts: send what was typed.
        requests: put before the user what waits for them.
        wire: what happens in the session comes this way.
        escape: tells a second Esc from the first.
        opening: the flow whose screen is on its way, or the first that it opened.
        flow: the last flow of a command that opens a screen, also after that was closed.
    """

    def __init__(self, screen: Screen[Any], panes: Panes) -> None:
        self.screen = screen
        self.panes = panes
        self.holder = SessionHolder()
        self.notices = Notices(panes, screen.set_timer)
        self.facts = SessionFacts(screen, panes, self.holder)
        self.log = ShownLog(panes, self.holder, self.notices, self.facts)
        self.drafts = DraftKeeper(screen, panes.prompt_box, self.holder)
        self.runner = OperationRunner(screen, self.holder, self.notices, self._come_to_rest)
        self.prompts = Prompts(panes, self.holder, self.notices, self.runner, self.drafts, self.log)
        self.wire = WireLink(self.notices)
        self.escape = SecondPress(_SECOND_ESCAPE_SECONDS)
        self.opening: Worker[None] | None = None
        self.flow: Worker[None] | None = None
        self._requests: Requests | None = None
        self._folds: FoldKeeper | None = None

    @property
    def requests(self) -> Requests:
        """What waits for the user: an action to approve, a question to answer."""
        if self._requests is None:
            from agent_tui.ui.conversation.asking import Requests  # not for the first answer

            self._requests = Requests(self.screen, self.panes, self.holder)
            self._requests.follow_screens()
        return self._requests

    @property
    def on_its_way(self) -> Worker[None] | None:
        """The flow that is about to open a screen, or does what was chosen there; else None."""
        return None if self.flow is None or self.flow.is_finished else self.flow

    @property
    def folds(self) -> FoldKeeper:
        """What is opened and folded, kept for another time."""
        if self._folds is None:
            from agent_tui.ui.conversation.folds import FoldKeeper  # not for the first answer

            self._folds = FoldKeeper(self.screen, self.panes, self.holder)
        return self._folds

    def end_requests(self) -> None:
        """The turn ended: forget requests that nobody waits for any more."""
        if self._requests is not None:
            self._requests.end_turn()

    async def show_session(self, session: LiveSession, *, asks_folder: bool = False) -> None:
        """Show a session in place of the current one, which is closed.

        Args:
            session: what is shown.
            asks_folder: whether its wide folder is asked about next, and not told of here.
        """
        if self._folds is not None or not session.view.is_empty:
            await self.folds.change_session(session, is_shown=self.log.shows_end)
        before, self.holder.session = self.session, session
        try:
            await self._show(before, session, asks_folder=asks_folder)
        finally:
            if before is not None and self.engine is not None:
                await self.engine.close_session(before)

    async def _show(
        self, before: LiveSession | None, session: LiveSession, *, asks_folder: bool = False
    ) -> None:
        self.panes.invite("")
        self.wire.listen(session, self.log.view)
        if self._folds is not None:
            self._folds.take_up()
        self.log.load()
        await self.drafts.take_up(before, session)
        self.welcome.instructions = session.instructions
        engine = self.engine
        asked = ""
        if asks_folder and engine is not None:
            from agent_tui.core.words import describe_wide_folder  # not for the first frame

            asked = describe_wide_folder(session.wide_folder, engine.workspace)
        for notice in session.notices:
            if notice != asked:
                self.notices.warning(notice)
        if engine is None:
            return
        if engine.settings.context.preview_auto:
            session.compacting.review_automatic(self._review_compaction)
        offering = self._offer_last(engine, session)
        self.screen.run_worker(offering, group="last", exclusive=True, exit_on_error=False)
        warming = self._warm(engine, session)
        self.screen.run_worker(warming, group="warm", exclusive=True, exit_on_error=False)

    async def _warm(self, engine: Engine, session: LiveSession) -> None:
        await engine.warm()
        if self.runner.is_busy:
            from agent_tui.ui.conversation.turn_pause import wait_for_pause

            await wait_for_pause(session)
        await session.warm()

    async def _offer_last(self, engine: Engine, session: LiveSession) -> None:
        """Offer to continue the last session of this folder, while nothing was said yet."""
        if self.welcome.display:
            from agent_tui.ui.conversation.last_session import find_last

            self.welcome.last = await find_last(engine, session)

    async def _review_compaction(self) -> CompactionReport | None:
        from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen

        screen = CompactionPreviewScreen(self.holder.require_session().compacting)
        return await self.app.push_screen_wait(screen)

    def _come_to_rest(self, session: LiveSession) -> None:
        """Nothing more is done to the session: what was not taken up goes back to be edited."""
        self.prompts.give_back(session.take_steers())
        self.panes.update_side()  # files alone may have been reverted: no event tells that
        if self.wire.is_broken and session is self.session:
            self.wire.listen(session, self.log.view)
            self.panes.show_work("")
            self.log.load()

    async def end(self) -> None:
        """Interrupt what runs, wait until the log is settled, and close the session."""
        await self.runner.interrupt()
        self.prompts.return_early()
        await self.drafts.keep_now()
        if self._folds is not None:
            await self._folds.keep_now()
        await asyncio.to_thread(_tidy, self.prompt_box.text)
        if self.session is not None and self.engine is not None:
            await self.engine.close_session(self.session)

    @property
    def app(self) -> App[Any]:
        return self.screen.app

    @property
    def engine(self) -> Engine | None:
        return self.holder.engine

    @property
    def session(self) -> LiveSession | None:
        return self.holder.session

    @property
    def timeline(self) -> Timeline:
        if not self.panes.has_timeline:
            self.holder.require_session()  # the one is there before the other
        return self.panes.timeline

    @property
    def prompt_box(self) -> PromptBox:
        return self.panes.prompt_box

    @property
    def status(self) -> StatusLine:
        return self.panes.status

    @property
    def gauge(self) -> TokenGauge:
        return self.panes.gauge

    @property
    def welcome(self) -> Welcome:
        return self.panes.welcome


def _tidy(draft: str) -> None:
    """Remove what was pasted and belongs to no session, unless a draft names it."""
    from agent_tui.runtime.machine.clipboard import remove_temporary_pictures

    remove_temporary_pictures(draft)
