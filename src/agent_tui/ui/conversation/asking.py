"""Putting what waits for the user before them: an action to approve, a question to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.events import ApprovalAnswer, ApprovalRequest, Question
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.conversation.panes import Panes


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
        self._panes.prompt_box.styles.height = rows or None


def ask_approval(chat: Conversation, request: ApprovalRequest) -> None:
    """Ask the user; who closes the question without an answer rejects the action."""
    from agent_tui.core.events import ApprovalAnswer
    from agent_tui.ui.screens.dialogs.approval import ApprovalScreen

    above = ConversationAbove(chat.panes)

    def answered(answer: ApprovalAnswer | None) -> None:
        above.give_way(0)
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
