"""Putting the agent's questions before the user, in the place of the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_tui.core.events import Question
    from agent_tui.ui.conversation.conversation import Conversation


def ask_question(chat: Conversation, question: Question) -> None:
    """Ask, and give the answer to the session; Esc gives an empty one."""
    from agent_tui.ui.screens.dialogs.question import QuestionScreen

    def answered(answer: str | None) -> None:
        if chat.session is not None:
            chat.session.answer_question(question.id, answer or "")

    chat.timeline.action_last()
    screen = QuestionScreen(
        question,
        typing=bool(chat.prompt_box.text),
        on_typed=chat.prompt_box.paste,
        on_scroll=chat.timeline.scroll_rows,
    )
    chat.app.push_screen(screen, answered)
