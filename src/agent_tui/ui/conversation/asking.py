"""Putting what waits for the user before them: an action to approve, a question to answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.events import ApprovalAnswer, ApprovalRequest, Question
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.conversation.panes import Panes


_HOLD_SECONDS = 0.02
"""For so long after an answer nothing is drawn: what follows from it is drawn in the same frame."""


class ConversationAbove:
    """The conversation, as what a question in the prompt's place is about."""

    def __init__(self, panes: Panes) -> None:
        self._panes = panes

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
        """Have the prompt take the rows of the question that stands over it, or its own again."""
        prompt_box = self._panes.prompt_box
        prompt_box.styles.height = rows or None
        prompt_box.screen.refresh(repaint=False, layout=True)  # with its next frame, not after it


def ask_approval(chat: Conversation, request: ApprovalRequest) -> None:
    """Ask the user; who closes the question without an answer rejects the action."""
    from agent_tui.core.events import ApprovalAnswer
    from agent_tui.ui.screens.dialogs.approval import ApprovalScreen

    above = ConversationAbove(chat.panes)

    def answered(answer: ApprovalAnswer | None) -> None:
        above.give_way(0)
        chat.screen.run_worker(_hold_frame(chat), group="frame", exit_on_error=False)
        if chat.session is not None:
            chat.session.approvals.answer(request.id, answer or ApprovalAnswer("reject"))

    chat.timeline.action_last()
    chat.app.push_screen(ApprovalScreen(request, draft=chat.prompt_box, above=above), answered)


def ask_question(chat: Conversation, question: Question) -> None:
    """Ask, and give the answer to the session; Esc gives an empty one."""
    from agent_tui.ui.screens.dialogs.question import QuestionScreen

    above = ConversationAbove(chat.panes)

    def answered(answer: str | None) -> None:
        above.give_way(0)
        if chat.session is not None:
            chat.session.answer_question(question.id, answer or "")

    chat.timeline.action_last()
    chat.app.push_screen(QuestionScreen(question, draft=chat.prompt_box, above=above), answered)


async def _hold_frame(chat: Conversation) -> None:
    """Draw once, and not the conversation without the question before a turn that ends with it."""
    with chat.app.batch_update():
        await asyncio.sleep(_HOLD_SECONDS)
    chat.screen.check_idle()
