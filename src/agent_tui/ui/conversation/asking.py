"""Putting what waits for the user before them: an action to approve, a question to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.events import ApprovalAnswer, ApprovalRequest, Question
    from agent_tui.ui.conversation.conversation import Conversation


def ask_approval(chat: Conversation, request: ApprovalRequest) -> None:
    """Ask the user; who closes the question without an answer rejects the action."""
    from agent_tui.core.events import ApprovalAnswer
    from agent_tui.ui.screens.dialogs.approval import ApprovalScreen

    def answered(answer: ApprovalAnswer | None) -> None:
        if chat.session is not None:
            chat.session.approvals.answer(request.id, answer or ApprovalAnswer("reject"))

    chat.timeline.action_last()
    prompt, scroll = chat.prompt_box, chat.timeline.scroll_rows
    screen = ApprovalScreen(request, draft=prompt, on_scroll=scroll)
    screen.styles.padding = (0, chat.panes.side_width, 0, 0)  # it stands where the prompt does
    chat.app.push_screen(screen, answered)


def ask_question(chat: Conversation, question: Question) -> None:
    """Ask, and give the answer to the session; Esc gives an empty one."""
    from agent_tui.ui.screens.dialogs.question import QuestionScreen

    def answered(answer: str | None) -> None:
        if chat.session is not None:
            chat.session.answer_question(question.id, answer or "")

    chat.timeline.action_last()
    prompt, scroll = chat.prompt_box, chat.timeline.scroll_rows
    screen = QuestionScreen(question, draft=prompt, on_scroll=scroll)
    screen.styles.padding = (0, chat.panes.side_width, 0, 0)
    chat.app.push_screen(screen, answered)
