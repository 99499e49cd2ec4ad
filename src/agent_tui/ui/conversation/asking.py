"""Puts requests to the user: an action to approve, a question to answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_tui.core.modes import MODE_WORDS, next_mode
from agent_tui.core.text import first_line, reveal
from agent_tui.ui.widgets.bars.waiting_note import WaitingNote

if TYPE_CHECKING:
    from textual.screen import Screen

    from agent_tui.core.events import ApprovalAnswer, ApprovalRequest, Question
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.panes import Panes


_LONGEST_TOLD = 200
_HOLD_SECONDS = 0.02
"""Seconds after an answer without drawing, so that its effects appear in the same frame."""
_END_SECONDS = 0.08
"""The same for an answer that ends the turn, whose log is written first."""


class ConversationAbove:
    """The conversation, as what a question in the prompt's place is about."""

    def __init__(self, panes: Panes, session: LiveSession | None) -> None:
        self._panes = panes
        self._session = session

    @property
    def at_end(self) -> bool:
        return self._panes.timeline.at_end

    @property
    def side_width(self) -> int:
        return self._panes.side_width

    def scroll_rows(self, rows: int) -> None:
        self._panes.timeline.scroll_rows(rows)

    def page(self, step: int) -> None:
        self._panes.timeline.action_page(step)

    def give_way(self, rows: int) -> None:
        """Have the prompt take as many rows as the question over it, or its own again."""
        prompt_box = self._panes.prompt_box
        # The conversation keeps a row, though the question hides it: else it would take that of
        # the line of state.
        most = prompt_box.screen.size.height - 2
        prompt_box.styles.height = min(rows, most) or None
        prompt_box.screen.refresh(repaint=False, layout=True)  # with its next frame, not after it

    def change_mode(self) -> str:
        if self._session is None:
            return ""
        mode = next_mode(self._session.approvals.mode)
        self._session.approvals.set_mode(mode)
        return f"Mode “{MODE_WORDS[mode]}” begins after this answer"


class Requests:
    """Puts requests before the user one at a time, and none while another screen is open.

    The keys belong to what was opened by hand: a request waits until it is closed, and says so.

    Args:
        screen: the screen of the conversation.
        panes: its widgets.
        holder: knows the session that asks.
    """

    def __init__(self, screen: Screen[Any], panes: Panes, holder: SessionHolder) -> None:
        self._screen = screen
        self._panes = panes
        self._holder = holder
        self._waiting: deque[_Request] = deque()
        self._shown: _Request | None = None
        self._sheet: Screen[Any] | None = None
        self._turn_ended = asyncio.Event()
        self._queued = 0

    def follow_screens(self) -> None:
        """Check the waiting requests whenever a screen was opened or closed."""
        changed = self._screen.app.screen_change_signal
        changed.subscribe(self._screen, lambda _: self._take_turn())

    def approve(self, request: ApprovalRequest, *, is_own: bool) -> None:
        """Ask the user; who closes the question without an answer rejects the action.

        Args:
            request: the action.
            is_own: whether the turn itself wants it, not a subagent of it.
        """
        from agent_tui.ui.screens.dialogs.approval import question_about

        self._queued = 0
        holder, session = self._holder, self._holder.session
        self._put(
            _Request(
                question_about(request),
                lambda: self._open_approval(request, session, is_own=is_own),
                lambda: (
                    session is not None
                    and session is holder.session
                    and session.approvals.is_waiting(request.id)
                ),
            )
        )

    def ask(self, question: Question) -> None:
        """Ask, and give the answer to the session; Esc gives an empty one."""
        holder, session = self._holder, self._holder.session
        self._put(
            _Request(
                first_line(reveal(question.text), _LONGEST_TOLD),
                lambda: self._open_question(question, session),
                lambda: (
                    session is not None
                    and session is holder.session
                    and session.questions.is_waiting(question.id)
                ),
            )
        )

    def tell_queue(self, waiting: int) -> None:
        """Show in the open request, or the next one, how many more wait behind it."""
        from agent_tui.ui.screens.dialogs.approval import ApprovalScreen

        self._queued = waiting
        if isinstance(self._sheet, ApprovalScreen):
            self._sheet.queued = waiting

    def drop_stale(self) -> None:
        """Forget requests that nobody waits for any more."""
        self._waiting = deque(each for each in self._waiting if each.is_wanted())
        if self._out_of_view is None:
            self._tell("")

    def end_turn(self) -> None:
        """The turn ended, and nobody waits for what it asked: draw that now."""
        self.drop_stale()
        self._turn_ended.set()

    def _put(self, request: _Request) -> None:
        if self._has_room:
            self._show(request)
        else:
            self._waiting.append(request)
            self._take_turn()

    @property
    def _has_room(self) -> bool:
        return not self._waiting and self._screen.app.screen is self._screen

    def _take_turn(self) -> None:
        self.drop_stale()
        if self._waiting and self._screen.app.screen is self._screen:
            self._tell("")
            self._show(self._waiting.popleft())
        elif request := self._out_of_view:
            self._tell(request.question)

    def _show(self, request: _Request) -> None:
        self._shown, self._sheet = request, request.show()

    @property
    def _out_of_view(self) -> _Request | None:
        """What is asked next: it may be under a screen that was on its way when it was shown."""
        is_covered = self._sheet in self._screen.app.screen_stack[:-1]
        if is_covered and self._shown is not None and self._shown.is_wanted():
            return self._shown
        return self._waiting[0] if self._waiting else None

    def _tell(self, question: str) -> None:
        """Say in the open screen that a question waits, or no longer does."""
        for screen in self._screen.app.screen_stack[1:]:
            notes = [note for note in screen.query(WaitingNote) if note.display]  # not removed yet
            if not question:
                screen.remove_children(notes)
            elif notes:
                notes[0].show(question)
            elif screen is self._sheet:
                continue
            elif screen.is_running:
                screen.mount(WaitingNote(question))
            else:  # it was opened just now, or it is on its way out and hears nothing any more
                screen.call_later(self._take_turn)

    def _open_approval(
        self, request: ApprovalRequest, session: LiveSession | None, *, is_own: bool
    ) -> Screen[Any]:
        from agent_tui.core.events import ApprovalAnswer
        from agent_tui.ui.screens.dialogs.approval import ApprovalScreen

        above = ConversationAbove(self._panes, session)

        def answered(answer: ApprovalAnswer | None) -> None:
            given = answer or ApprovalAnswer("reject")
            above.give_way(0)
            self._turn_ended.clear()
            is_last = is_own and not self._queued and not self._waiting
            ends = is_last and given.decision == "reject" and not given.feedback
            hold = self._hold_frame(_END_SECONDS if ends else _HOLD_SECONDS)
            self._screen.run_worker(hold, group="frame", exit_on_error=False)
            if session is not None:
                session.approvals.answer(request.id, given)

        self._panes.timeline.action_last()
        sheet = ApprovalScreen(request, draft=self._panes.prompt_box, above=above)
        sheet.queued = self._queued
        self._screen.app.push_screen(sheet, answered)
        return sheet

    async def _hold_frame(self, seconds: float) -> None:
        """Draw once, and not the conversation without the question before a turn that ends."""
        with self._screen.app.batch_update(), suppress(TimeoutError):
            await asyncio.wait_for(self._turn_ended.wait(), seconds)
        for screen in (self._screen, self._screen.app.screen):  # what was to be drawn meanwhile
            screen.check_idle()

    def _open_question(self, question: Question, session: LiveSession | None) -> Screen[Any]:
        from agent_tui.ui.screens.dialogs.question import QuestionScreen

        above = ConversationAbove(self._panes, session)

        def answered(answer: str | None) -> None:
            above.give_way(0)
            if session is not None:
                session.questions.answer(question.id, answer or "")

        self._panes.timeline.action_last()
        sheet = QuestionScreen(question, draft=self._panes.prompt_box, above=above)
        self._screen.app.push_screen(sheet, answered)
        return sheet


@dataclass(frozen=True, slots=True)
class _Request:
    """What waits: how it is told, how it is shown, and whether it is still asked."""

    question: str
    show: Callable[[], Screen[Any]]
    is_wanted: Callable[[], bool]
